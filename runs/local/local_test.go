package local_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/journal"
	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/runs/local"
	"github.com/gantry-run/gantry/runs/runstest"
)

var script = runstest.Script{Items: []string{"a", "b", "c", "d", "e", "f", "g", "h"}}

func storeAt(t *testing.T, dir string, disk journal.FS) *runs.Store {
	t.Helper()
	s, err := runs.OpenStore(dir, runs.StoreOptions{Disk: disk})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// engineOn returns an engine on a store of its own, as another process would have it:
// locks are held by open files, so one process can play several.
func engineOn(t *testing.T, dir string, o local.Options) (*local.Engine, *runs.Store) {
	t.Helper()
	if o.Store == nil {
		o.Store = storeAt(t, dir, nil)
	}
	if o.Workers == nil {
		o.Workers = runstest.Workers(filepath.Join(t.TempDir(), "executions"))
	}
	o.Backoff = func(int) time.Duration { return time.Millisecond }
	e := local.New(o)
	t.Cleanup(func() { e.Close(context.Background()) })
	return e, o.Store
}

func started(t *testing.T, e *local.Engine, r runs.StartRequest) runs.ID {
	t.Helper()
	id, _, err := e.Start(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func until(t *testing.T, s *runs.Store, id runs.ID, enough func(*runs.View) bool) *runs.View {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	v, err := s.Until(ctx, id, enough)
	if err != nil {
		now, _ := s.View(id)
		t.Fatalf("%v; the run is %s at %s", err, now.State, now.Node)
	}
	return v
}

func paused(v *runs.View) bool { return v.Paused != nil }
func over(v *runs.View) bool   { return v.State.Terminal() }

// within waits for a fact that nothing tells of.
func within(t *testing.T, what string, fact func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !fact(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("never: " + what)
		}
	}
}

func TestAPausedRunIsLetGoAndTakenByAnother(t *testing.T) {
	dir := t.TempDir()
	a, store := engineOn(t, dir, local.Options{})
	id := started(t, a, runstest.Request(script))
	until(t, store, id, paused)
	within(t, "the paused run is let go", func() bool { return a.Driving() == 0 && !store.Driven(id) })

	b, other := engineOn(t, dir, local.Options{})
	c, err := b.Command(t.Context(), id, runs.Command{Type: "publish"})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := b.Await(t.Context(), id, c); err != nil || r.State != runs.StateDone {
		t.Errorf("%+v, %v", r, err)
	}
	if v, _ := other.View(id); v.State != runs.StateDone {
		t.Errorf("the run is %s", v.State)
	}
}

func TestARunIsAdoptedWhenItsDriverIsGone(t *testing.T) {
	dir := t.TempDir()
	store := storeAt(t, dir, nil)
	id, _, err := store.Create(t.Context(), runstest.Request(script, "publish"))
	if err != nil {
		t.Fatal(err)
	}
	release, ok, err := store.TryDrive(id)
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	e, _ := engineOn(t, dir, local.Options{})
	if n, err := e.AdoptNow(t.Context()); n != 1 || err != nil {
		t.Errorf("%d unfinished, %v", n, err)
	}
	within(t, "the engine gives up", func() bool { return e.Driving() == 0 })
	if v, _ := store.View(id); v.Seq != 1 {
		t.Errorf("a run that somebody drives was driven to event %d", v.Seq)
	}
	release()
	if _, err := e.AdoptNow(t.Context()); err != nil {
		t.Error(err)
	}
	until(t, store, id, over)
	within(t, "nothing is unfinished", func() bool { n, err := e.AdoptNow(t.Context()); return n == 0 && err == nil })
}

func TestAtMostParallelItemsAreExecutedAtOnce(t *testing.T) {
	var now, most atomic.Int32
	full := make(chan struct{})
	var once sync.Once
	base := runstest.Workers(filepath.Join(t.TempDir(), "executions"))
	workers := map[string]runs.Activity{"scripted": func(ctx context.Context, w runs.Work, try runs.Try) (runs.Result, error) {
		if w.Item != "" {
			n := now.Add(1)
			defer now.Add(-1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			if n == 3 {
				once.Do(func() { close(full) })
			}
			select {
			case <-full:
			case <-ctx.Done():
			}
		}
		return base["scripted"](ctx, w, try)
	}}
	e, store := engineOn(t, t.TempDir(), local.Options{Workers: workers, Parallel: 3})
	until(t, store, started(t, e, runstest.Request(script, "publish")), over)
	if most.Load() != 3 {
		t.Errorf("%d items at once, want 3", most.Load())
	}
}

func TestProgressIsSeenWhileItHappens(t *testing.T) {
	s := script
	s.Ruin = map[string]string{"link.1": runstest.Hang}
	e, store := engineOn(t, t.TempDir(), local.Options{})
	r := runstest.Request(s, "publish")
	id := started(t, e, r)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for event, err := range e.Watch(ctx, id, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if event.Type == runs.GateRunStarted && strings.Contains(string(event.Payload), "link.1") {
			if event.SpanID != id.SpanID(runs.WorkKey(id, "link", 1, "")) {
				t.Error("progress does not belong to its work item")
			}
			if v, _ := store.View(id); v.Node != "link" {
				t.Errorf("the run is at %s", v.Node)
			}
			return
		}
	}
	t.Error("the progress was not seen")
}

func TestResultsThatCannotBeRecordedFailTheItem(t *testing.T) {
	for name, r := range map[string]runs.Result{
		"no JSON":          {Data: make(chan int)},
		"too long":         {Data: strings.Repeat("x", journal.MaxLine)},
		"a foreign event":  {Events: []runs.Draft{{Type: runs.NodeEntered, Payload: runs.Entered{Node: "nowhere"}}}},
		"a wrong payload":  {Events: []runs.Draft{{Type: runs.ArtifactWritten, Payload: "artifact"}}},
		"payload not JSON": {Events: []runs.Draft{{Type: runs.ArtifactWritten, Payload: make(chan int)}}},
	} {
		t.Run(name, func(t *testing.T) {
			e, store := engineOn(t, t.TempDir(), local.Options{Workers: map[string]runs.Activity{
				"scripted": func(context.Context, runs.Work, runs.Try) (runs.Result, error) { return r, nil },
			}})
			id := started(t, e, runstest.Request(script))
			if v := until(t, store, id, over); v.State != runs.StateFailed || v.Failure.Code != string(fault.Internal) {
				t.Errorf("the run is %s, %+v", v.State, v.Failure)
			}
			if r, err := store.Verify(t.Context(), id); err != nil || !r.OK {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
}

func TestCloseEndsWithItsContextThoughWorkDoesNotStop(t *testing.T) {
	stuck := make(chan struct{})
	begun := make(chan struct{})
	store := storeAt(t, t.TempDir(), nil)
	e := local.New(local.Options{Store: store, Workers: map[string]runs.Activity{
		"scripted": func(context.Context, runs.Work, runs.Try) (runs.Result, error) {
			close(begun)
			<-stuck
			return runs.Result{}, errors.New("late")
		},
	}})
	id := started(t, e, runstest.Request(script))
	<-begun
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := e.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("close: %v", err)
	}
	if !store.Driven(id) {
		t.Error("the run was let go while it is executed")
	}
	if _, _, err := e.Start(t.Context(), runstest.Request(script)); err != nil {
		t.Errorf("a closed engine still creates runs, for others: %v", err)
	}
	close(stuck)
	if err := e.Close(t.Context()); err != nil || store.Driven(id) {
		t.Errorf("close when the work has stopped: %v, driven %v", err, store.Driven(id))
	}
}

// A command that comes just when the driver lets go, while others keep looking who
// drives, is not left lying.
func TestNoCommandIsStrandedWhenADriverLetsGo(t *testing.T) {
	dir := t.TempDir()
	a, store := engineOn(t, dir, local.Options{})
	b, _ := engineOn(t, dir, local.Options{})
	id := started(t, a, runstest.Request(script))
	until(t, store, id, paused)

	looking, stop := context.WithCancel(t.Context())
	var onlookers sync.WaitGroup
	defer onlookers.Wait()
	defer stop()
	onlookers.Go(func() {
		for looking.Err() == nil {
			store.Driven(id)
		}
	})
	for i := range 60 {
		e := []*local.Engine{a, b, b}[i%3]
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		c, err := e.Command(ctx, id, runs.Command{Type: "fix"}) // refused at once: the drive is short
		if err == nil {
			_, err = e.Await(ctx, id, c)
		}
		cancel()
		if err != nil {
			t.Fatalf("command %d was not settled: %v", i, err)
		}
	}
}

// failingDisk fails to flush journals while told to.
type failingDisk struct {
	journal.Disk
	broken atomic.Bool
}

type failingFile struct {
	journal.File
	disk *failingDisk
}

func (d *failingDisk) OpenFile(path string, flag int, perm os.FileMode) (journal.File, error) {
	f, err := d.Disk.OpenFile(path, flag, perm)
	if err != nil || filepath.Base(path) != "events.ndjson" {
		return f, err
	}
	return failingFile{f, d}, nil
}

func (f failingFile) Sync() error {
	if f.disk.broken.Load() {
		return errors.New("input/output error")
	}
	return f.File.Sync()
}

// When the journal can no longer be written, what is executed is stopped before
// anybody else may take the run, and the run goes on once the disk works again.
func TestAFailingDiskStopsTheDriveAndNotTheRun(t *testing.T) {
	disk := new(failingDisk)
	dir := t.TempDir()
	store := storeAt(t, dir, disk)
	var executing atomic.Int32
	var first sync.Once
	begun := make(chan struct{})
	e, _ := engineOn(t, dir, local.Options{Store: store, Workers: map[string]runs.Activity{
		"scripted": func(ctx context.Context, w runs.Work, _ runs.Try) (runs.Result, error) {
			switch {
			case w.Node.Name == "plan":
				return runs.Result{Items: []string{"quick", "slow"}}, nil
			case w.Item == "quick" && w.Tries == 0:
				<-begun
				disk.broken.Store(true)
			case w.Item == "slow" && w.Tries == 0:
				executing.Add(1)
				defer executing.Add(-1)
				first.Do(func() { close(begun) })
				<-ctx.Done()
				<-time.After(30 * time.Millisecond) // work that takes its time to stop
				if !store.Driven(w.Run) {
					t.Error("the run was let go while an item is executed")
				}
				return runs.Result{}, ctx.Err()
			case w.Node.Name == "validate":
				return runs.Result{Outcome: "ok"}, nil
			}
			return runs.Result{}, nil
		},
	}})
	id := started(t, e, runstest.Request(script, "publish"))
	within(t, "the drive ends", func() bool { return disk.broken.Load() && e.Driving() == 0 })
	if executing.Load() != 0 {
		t.Error("an item is still executed after the run was let go")
	}
	disk.broken.Store(false)
	if _, err := e.AdoptNow(t.Context()); err != nil {
		t.Fatal(err)
	}
	if v := until(t, store, id, over); v.State != runs.StateDone {
		t.Errorf("the run is %s, %+v", v.State, v.Failure)
	}
	if r, err := store.Verify(t.Context(), id); err != nil || !r.OK {
		t.Errorf("%+v, %v", r, err)
	}
}
