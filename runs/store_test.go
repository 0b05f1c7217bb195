package runs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/journal"
	"github.com/gantry-run/gantry/runs"
)

// request returns a start of a launch that opens its pull request by itself.
func request(id runs.ID) runs.StartRequest {
	return runs.StartRequest{ID: id, Kind: runs.Launch, Workflow: launch(), Input: json.RawMessage(`{}`), Flags: map[string]bool{"open_pr": true}}
}

var launch = sync.OnceValue(func() (w runs.Workflow) {
	raw, err := os.ReadFile("../specs/workflows/launch.json")
	if err == nil {
		err = json.Unmarshal(raw, &w)
	}
	if err != nil {
		panic(err)
	}
	return w
})

// clock is a time that moves only when told.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

func open(t testing.TB, dir string, o runs.StoreOptions) *runs.Store {
	t.Helper()
	s, err := runs.OpenStore(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func create(t testing.TB, s *runs.Store, r runs.StartRequest) runs.ID {
	t.Helper()
	id, created, err := s.Create(t.Context(), r)
	if err != nil || !created {
		t.Fatalf("create: %v, %v", created, err)
	}
	return id
}

// drive does n steps of a run, all when n is negative, and lets it go.
func drive(t testing.TB, s *runs.Store, id runs.ID, n int) {
	t.Helper()
	d, ok, err := s.Drive(t.Context(), id)
	if err != nil || !ok {
		t.Fatalf("drive: %v, %v", ok, err)
	}
	for ; n != 0 && d.View().Busy(); n-- {
		if err := advance(d); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func list(t testing.TB, s *runs.Store, f runs.Filter) []runs.Summary {
	t.Helper()
	var out []runs.Summary
	for {
		page, err := s.List(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, page.Runs...)
		if f.Cursor = page.NextCursor; f.Cursor == "" {
			return out
		}
	}
}

func names(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestARunIsCreatedWholeOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	if err := other(t, "die-publishing", dir).Wait(); err == nil || err.Error() != "signal: killed" {
		t.Fatal(err)
	}
	now := &clock{at: time.Now()}
	s := open(t, dir, runs.StoreOptions{Now: now.now})
	if got := list(t, s, runs.Filter{}); len(got) != 0 {
		t.Errorf("listed: %v", got)
	}
	if left := names(t, filepath.Join(dir, "runs")); len(left) != 1 || !strings.HasPrefix(left[0], ".new-") {
		t.Fatalf("left behind: %v", left)
	}
	r := request("")
	r.Once = &runs.Once{Key: "key", Hash: "2"} // the call that died has freed its key
	id := create(t, s, r)
	s.Close()

	now.pass(2 * time.Hour)
	s = open(t, dir, runs.StoreOptions{Now: now.now})
	list(t, s, runs.Filter{})
	if left := names(t, filepath.Join(dir, "runs")); !slices.Equal(left, []string{string(id)}) {
		t.Errorf("after two hours there are %v", left)
	}
}

func TestAKeyIsKeptForAWeek(t *testing.T) {
	now := &clock{at: time.Now()}
	s := open(t, t.TempDir(), runs.StoreOptions{Now: now.now})
	r := request("")
	r.Once = &runs.Once{Key: "key", Hash: "1"}
	id := create(t, s, r)
	r.Owner = "somebody else"
	create(t, s, r) // keys of others are others
	r.Owner = ""
	now.pass(runs.KeyLife - time.Minute)
	if again, created, err := s.Create(t.Context(), r); again != id || created || err != nil {
		t.Errorf("%s, %v, %v", again, created, err)
	}
	r.Once = &runs.Once{Key: "key", Hash: "2"}
	if _, _, err := s.Create(t.Context(), r); !fault.Is(err, fault.IdempotencyConflict) {
		t.Error(err)
	}
	now.pass(2 * time.Minute)
	if next := create(t, s, r); next == id {
		t.Error("the key has outlived its week")
	}
}

func TestTenProcessesOpenANewStoreAtOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	var all []*child
	for range 10 {
		all = append(all, other(t, "open", dir))
	}
	for _, c := range all {
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	}
	if got := list(t, open(t, dir, runs.StoreOptions{}), runs.Filter{Limit: 3}); len(got) != 10 {
		t.Errorf("%d runs of 10 processes", len(got))
	}
}

func TestAStoreOfANewerFormatIsRefused(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "format"), []byte("2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := runs.OpenStore(dir, runs.StoreOptions{}); !fault.Is(err, fault.StoreUnsupported) {
		t.Error(err)
	}
	if left := names(t, dir); len(left) != 1 {
		t.Errorf("something was written: %v", left)
	}
}

func TestOddNamesAmongTheRunsDoNoHarm(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, runs.StoreOptions{})
	id := create(t, s, request(""))
	s.Close()
	folder := filepath.Join(dir, "runs")
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	foreign := open(t, elsewhere, runs.StoreOptions{})
	outside := create(t, foreign, request("run_elsewhere"))
	for _, err := range []error{
		os.Symlink(foreign.Dir(outside), filepath.Join(folder, string(outside))),
		os.Mkdir(filepath.Join(folder, "has space in it"), 0o700),
		os.Mkdir(filepath.Join(folder, "empty_folder"), 0o700),
		os.WriteFile(filepath.Join(folder, "just_a_file"), []byte("x"), 0o600),
		os.Mkdir(filepath.Join(folder, ".hidden"), 0o700),
		os.WriteFile(filepath.Join(folder, string(id), "commands", "stray.json"), []byte("{"), 0o600),
		os.Mkdir(filepath.Join(folder, string(id), "commands", "folder.json"), 0o700),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.RemoveAll(filepath.Join(dir, "index.db")); err != nil {
		t.Fatal(err)
	}
	before := names(t, foreign.Dir(outside))
	s = open(t, dir, runs.StoreOptions{})
	if got := list(t, s, runs.Filter{}); len(got) != 1 || got[0].ID != id {
		t.Errorf("listed: %v", got)
	}
	for _, odd := range []runs.ID{outside, "has space in it", "empty_folder", "just_a_file", ".hidden", "..", "../x", "", "nowhere_at_all", runs.ID(strings.Repeat("x", 300))} {
		_, viewErr := s.View(odd)
		_, _, driveErr := s.Drive(t.Context(), odd)
		_, lockErr := s.LockCall(t.Context(), odd, time.Second)
		errs := map[string]error{"view": viewErr, "drive": driveErr, "lock": lockErr, "post": s.Post(t.Context(), odd, runs.Command{ID: "c", Type: "cancel"})}
		_, errs["verify"] = s.Verify(t.Context(), odd)
		for _, errs["events"] = range s.Events(odd, 0) {
		}
		for _, errs["watch"] = range s.Watch(t.Context(), odd, 0) {
		}
		for what, err := range errs {
			if !fault.Is(err, fault.RunNotFound) {
				t.Errorf("%s of %.20q: %v", what, odd, err)
			}
		}
	}
	if after := names(t, foreign.Dir(outside)); !slices.Equal(before, after) {
		t.Errorf("the folder that a link leads to was written to: %v", after)
	}
	drive(t, s, id, -1)
	if v, err := s.View(id); err != nil || v.State != runs.StateDone {
		t.Errorf("%v", err)
	}
}

func TestAViewIsTheFoldOfTheJournalHoweverItWasReached(t *testing.T) {
	s := open(t, t.TempDir(), runs.StoreOptions{})
	rapid.Check(t, func(rt *rapid.T) {
		id := create(t, s, request(""))
		d, _, err := s.Drive(t.Context(), id)
		if err != nil {
			rt.Fatal(err)
		}
		defer d.Close(context.Background())
		for range rapid.IntRange(1, 4).Draw(rt, "steps") {
			for range rapid.IntRange(0, 8).Draw(rt, "at once") {
				if err := advance(d); err != nil {
					rt.Fatal(err)
				}
			}
			kept, err := s.View(id)
			if err != nil {
				rt.Fatal(err)
			}
			whole, err := runs.Fold(s.Events(id, 0))
			if err != nil {
				rt.Fatal(err)
			}
			want, _ := whole.Snapshot()
			for who, v := range map[string]*runs.View{"the reader's": kept, "the driver's": d.View()} {
				if got, _ := v.Snapshot(); !bytes.Equal(got, want) {
					rt.Fatal(who, cmp.Diff(string(want), string(got)))
				}
			}
			if e := kept.Created.Workflow; len(e.Nodes) == 0 {
				rt.Fatal("the view has lost its workflow")
			}
		}
	})
}

func TestWatchSeesWhatAnotherProcessWrites(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, runs.StoreOptions{})
	id := create(t, s, request(""))
	driver := other(t, "advance", dir, string(id))
	driver.line(t)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	driver.in.Write([]byte("\n"))
	var seen []int64
	for e, err := range s.Watch(ctx, id, 1) {
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, e.Seq)
		if e.Type == runs.RunStateChanged && strings.Contains(string(e.Payload), `"DONE"`) {
			break // the loop ends by itself, too: the run is over
		}
		driver.in.Write([]byte("\n"))
		if e.Seq == 2 { // events and steps do not match one to one
			driver.in.Write(bytes.Repeat([]byte("\n"), 40))
		}
	}
	if ctx.Err() != nil || len(seen) < 20 {
		t.Errorf("%d events, %v", len(seen), ctx.Err())
	}
	for i, seq := range seen {
		if seq != int64(i)+2 {
			t.Fatalf("events %v", seen)
		}
	}
}

func TestACallLockExcludesOtherProcessesUntilItsHolderIsGone(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, runs.StoreOptions{})
	id := create(t, s, request(""))
	holder := other(t, "hold", dir, string(id))
	holder.line(t)
	_, err := s.LockCall(t.Context(), id, 60*time.Millisecond)
	if f := fault.From(err); f == nil || f.Code != fault.RunLocked || !f.Retryable {
		t.Errorf("held by another process: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.LockCall(ended, id, time.Minute); !fault.Is(fault.From(err), fault.Cancelled) {
		t.Errorf("the caller has given up: %v", err)
	}
	holder.Process.Kill()
	release, err := s.LockCall(t.Context(), id, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.LockCall(t.Context(), id, 20*time.Millisecond); !fault.Is(err, fault.RunLocked) {
		t.Errorf("held by this process: %v", err)
	}
	waiting := other(t, "hold", dir, string(id))
	release()
	waiting.line(t)
	waiting.in.Close()
	if err := waiting.Wait(); err != nil {
		t.Error(err)
	}

	// Inside one process nobody works at the same time as another.
	var all sync.WaitGroup
	working := 0
	for range 20 {
		all.Go(func() {
			release, err := s.LockCall(t.Context(), id, 20*time.Second)
			if err != nil {
				t.Error(err)
				return
			}
			defer release()
			working++ // the race detector, and the count, tell
			if working != 1 {
				t.Errorf("%d at once", working)
			}
			working--
		})
	}
	all.Wait()
}

// powerDisk remembers how much of a journal was flushed.
type powerDisk struct {
	journal.Disk
	mu      sync.Mutex
	flushed map[string]int64
}

type powerFile struct {
	journal.File
	path string
	disk *powerDisk
}

func (d *powerDisk) OpenFile(path string, flag int, perm os.FileMode) (journal.File, error) {
	f, err := d.Disk.OpenFile(path, flag, perm)
	return powerFile{f, filepath.Base(path), d}, err
}

func (f powerFile) Sync() error {
	size, err := f.Size()
	if err != nil {
		return err
	}
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	f.disk.flushed[f.path] = size
	return f.File.Sync()
}

// cut takes from a journal what was not flushed, as a power cut may.
func (d *powerDisk) cut(t *testing.T, s *runs.Store, id runs.ID) {
	t.Helper()
	if err := os.Truncate(filepath.Join(s.Dir(id), "events.ndjson"), d.flushed["events.ndjson"]); err != nil {
		t.Fatal(err)
	}
}

// What was not flushed may be lost with the power, and then the index or the
// snapshot must not call the journal damaged.
func TestNothingRemembersWhatThePowerCanTake(t *testing.T) {
	progress := runs.Draft{Type: runs.GateRunStarted, Payload: runs.GateRun{Gate: "links"}}
	for name, remember := range map[string]func(t *testing.T, dir string, s *runs.Store, d *runs.Drive){
		"index":    func(t *testing.T, _ string, _ *runs.Store, d *runs.Drive) { d.Index(t.Context()) },
		"snapshot": func(t *testing.T, _ string, _ *runs.Store, d *runs.Drive) { d.Close(t.Context()) },
		"a new index of another process": func(t *testing.T, dir string, s *runs.Store, _ *runs.Drive) {
			os.Remove(filepath.Join(dir, "index.db"))
			list(t, s, runs.Filter{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			disk := &powerDisk{flushed: map[string]int64{}}
			dir := t.TempDir()
			s := open(t, dir, runs.StoreOptions{Disk: disk})
			id := create(t, s, request(""))
			d, _, err := s.Drive(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			if err := advance(d); err != nil {
				t.Fatal(err)
			}
			if err := d.Append(progress); err != nil {
				t.Fatal(err)
			}
			remember(t, dir, s, d)
			disk.cut(t, s, id)
			again := open(t, dir, runs.StoreOptions{})
			if r, err := again.Verify(t.Context(), id); err != nil || !r.OK {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
}

func TestDamageLeavesTheRunAlone(t *testing.T) {
	for name, c := range map[string]struct {
		damage func([]byte) []byte
		seq    int64
	}{
		"whole last lines are missing": {func(b []byte) []byte { return b[:bytes.LastIndexByte(b[:len(b)-1], '\n')+1] }, 0},
		"everything is missing":        {func([]byte) []byte { return nil }, 1},
		"the first line is torn":       {func(b []byte) []byte { return b[:20] }, 1},
		"a byte has changed":           {func(b []byte) []byte { b[len(b)/2] ^= 1; return b }, 0},
	} {
		for _, indexed := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				dir := t.TempDir()
				s := open(t, dir, runs.StoreOptions{})
				id := create(t, s, request(""))
				drive(t, s, id, 5)
				s.Close()
				path := filepath.Join(s.Dir(id), "events.ndjson")
				raw, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, c.damage(raw), 0o600); err != nil {
					t.Fatal(err)
				}
				if !indexed {
					os.Remove(filepath.Join(dir, "index.db"))
					if c.seq == 1 {
						os.Remove(filepath.Join(s.Dir(id), "snapshot.json"))
					}
				}
				s = open(t, dir, runs.StoreOptions{})
				err = s.Post(t.Context(), id, runs.Command{ID: "c1", Type: runs.Cancel})
				if !fault.Is(err, fault.EventChainBroken) && !(c.seq == 1 && fault.Is(err, fault.RunNotFound)) {
					t.Errorf("a command is taken that nobody will answer: %v", err)
				}
				_, ok, err := s.Drive(t.Context(), id)
				if ok || !fault.Is(err, fault.EventChainBroken) && !(c.seq == 1 && fault.Is(err, fault.RunNotFound)) {
					t.Errorf("drive: %v, %v", ok, err)
				}
				if busy, err := s.Unfinished(t.Context()); err != nil || len(busy) > 0 {
					t.Errorf("it is still offered to drivers: %v, %v", busy, err)
				}
				if s.Driven(id) {
					t.Error("its lock is still held")
				}
			})
		}
	}
}

func TestACommandLeftWhileADriverLetsGoIsFound(t *testing.T) {
	s := open(t, t.TempDir(), runs.StoreOptions{})
	r := request("")
	r.Flags = nil
	id := create(t, s, r)
	drive(t, s, id, -1)
	if busy, err := s.Unfinished(t.Context()); err != nil || len(busy) > 0 {
		t.Fatalf("%v, %v", busy, err)
	}
	d, _, err := s.Drive(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Post(t.Context(), id, runs.Command{ID: "c1", Type: runs.Cancel}); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(t.Context()); err != nil { // and the process dies here
		t.Fatal(err)
	}
	if busy, err := s.Unfinished(t.Context()); err != nil || len(busy) != 1 {
		t.Errorf("%v, %v", busy, err)
	}
	for _, settled := range []bool{false, true} {
		d, _, err = s.Drive(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.Collect(); err != nil {
			t.Fatal(err)
		}
		if settled {
			if _, err := d.Settle(); err != nil {
				t.Fatal(err)
			}
		}
		if err := d.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if busy, err := s.Unfinished(t.Context()); err != nil || (len(busy) == 0) != settled {
			t.Errorf("settled %v: unfinished %v, %v", settled, busy, err)
		}
	}
}
