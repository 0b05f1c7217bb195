package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/gantry-run/gantry/internal/fault"
)

func body(i int) []byte {
	return fmt.Appendf(nil, `{"event_id":"e%d","payload":{"seq":%d,"text":"ünï }\"{"}}`, i, i)
}

// sample writes a journal of n lines and returns its path, lines and bytes.
func sample(t testing.TB, n int) (string, []Line, []byte) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "events.ndjson")
	j, err := Create(hastyDisk{}, path)
	if err != nil {
		t.Fatal(err)
	}
	var lines []Line
	for i := range n {
		_, ls, err := j.Append(i%3 == 0, body(i))
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, ls...)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, lines, data
}

func brokenAt(err error) int64 {
	var f *fault.Fault
	if !errors.As(err, &f) || f.Code != fault.EventChainBroken {
		return 0
	}
	return f.Details.(Break).Seq
}

func rewrite(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestLineIsTheDocumentedFormat(t *testing.T) {
	_, _, data := sample(t, 2)
	want := `{"seq":1,"event_id":"e0","payload":{"seq":0,"text":"ünï }\"{"},"prev_hash":"`
	if got := string(data[:len(want)]); got != want {
		t.Errorf("line starts %s\nwant        %s", got, want)
	}
	first, rest, _ := bytes.Cut(data, []byte("\n"))
	covered, hash, _ := strings.Cut(string(first), `,"event_hash":"`)
	if hash != digest([]byte(covered))+`"}` {
		t.Errorf("event_hash is %s", hash)
	}
	if !strings.HasSuffix(covered, `,"prev_hash":""`) {
		t.Errorf("the first line ends %s", covered)
	}
	if want := `,"prev_hash":"` + digest([]byte(covered)) + `"`; !strings.Contains(string(rest), want) {
		t.Errorf("second line %s lacks %s", rest, want)
	}
}

func TestAppendRefusesWhatIsNoSoundBody(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	j, err := Create(Disk{}, path)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	for _, bad := range []string{
		``, `{}`, `null`, `[1]`, `{"a":1`, `{"a":1}}`, "{\"a\":\n1}", `{"a":1,}`, `{"seq":1}`, `{"a":1,"prev_hash":""}`, `{"event_hash":"x","a":1}`,
		` {"a":1}`, `{ "a":1}`, `{"a":"` + strings.Repeat("x", MaxLine) + `"}`,
	} {
		if _, _, err := j.Append(true, []byte(`{"a":1}`), []byte(bad)); !fault.Is(err, fault.InvalidInput) {
			t.Errorf("body %.30q: %v", bad, err)
		}
	}
	if got := j.Head(); got != (Head{}) {
		t.Errorf("something was written: %+v", got)
	}
	if _, _, err := j.Append(true, []byte(`{"a":{"seq":1,"prev_hash":2}}`)); err != nil {
		t.Errorf("members of members are the caller's: %v", err)
	}
	longest := []byte(`{"a":"` + strings.Repeat("x", MaxLine-frame-len(`{"a":""}`)) + `"}`)
	if _, _, err := j.Append(true, longest); err != nil {
		t.Errorf("the longest body: %v", err)
	}
	if r, err := Verify(Disk{}, path); err != nil || !r.OK || r.Head != j.Head() {
		t.Errorf("Verify: %+v %v", r, err)
	}
}

func TestCreateRefusesAnExistingFile(t *testing.T) {
	path, _, _ := sample(t, 1)
	if _, err := Create(Disk{}, path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Create: %v", err)
	}
	if _, _, err := Open(Disk{}, path+"x", nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Open of nothing: %v", err)
	}
}

func TestEveryCutLeavesExactlyTheCompleteLines(t *testing.T) {
	path, lines, data := sample(t, 5)
	for cut := 0; cut <= len(data); cut++ {
		rewrite(t, path, data[:cut])
		whole := bytes.Count(data[:cut], []byte("\n"))
		var head Head
		if whole > 0 {
			head = lines[whole-1].Head()
		}
		if got := readAll(t, path); len(got) != whole {
			t.Fatalf("cut at %d: Read gives %d lines, want %d", cut, len(got), whole)
		}
		if r, err := Verify(hastyDisk{}, path); err != nil || !r.OK || r.Head != head || r.TornBytes != int64(cut)-head.Size {
			t.Fatalf("cut at %d: Verify %+v %v", cut, r, err)
		}
		seen := 0
		j, repair, err := Open(hastyDisk{}, path, func(Line) error { seen++; return nil })
		if err != nil || seen != whole {
			t.Fatalf("cut at %d: Open saw %d lines, want %d: %v", cut, seen, whole, err)
		}
		if want := (Repair{CutBytes: int64(cut) - head.Size, AfterSeq: head.Seq}); repair != want {
			t.Fatalf("cut at %d: %+v, want %+v", cut, repair, want)
		}
		if _, _, err := j.Append(true, body(9)); err != nil {
			t.Fatal(err)
		}
		j.Close()
		if got := readAll(t, path); len(got) != whole+1 {
			t.Fatalf("cut at %d: %d lines after an append, want %d", cut, len(got), whole+1)
		}
	}
}

func TestZerosBehindATornLineAreCut(t *testing.T) {
	path, lines, data := sample(t, 2)
	for cut := int(lines[0].End); cut < len(data); cut++ {
		rewrite(t, path, append(bytes.Clone(data[:cut]), make([]byte, 7)...))
		j, repair, err := Open(hastyDisk{}, path, nil)
		if err != nil || repair.AfterSeq != 1 {
			t.Fatalf("cut at %d: %+v %v", cut, repair, err)
		}
		j.Close()
	}
}

func TestEveryFlippedBitIsFoundAndNothingIsChanged(t *testing.T) {
	path, lines, data := sample(t, 4)
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	put := func(at int, b byte) {
		if _, err := f.WriteAt([]byte{b}, int64(at)); err != nil {
			t.Fatal(err)
		}
	}
	for at := range data {
		seq := int64(1)
		for lines[seq-1].End <= int64(at) {
			seq++
		}
		for bit := range 8 {
			bad := bytes.Clone(data)
			bad[at] ^= 1 << bit
			put(at, bad[at])
			if r, err := Verify(Disk{}, path); err != nil || r.OK || r.FirstBad != seq || r.Reason == "" || r.Head.Seq != seq-1 {
				t.Fatalf("bit %d of byte %d: Verify %+v %v, want seq %d", bit, at, r, err, seq)
			}
			if _, _, err := Open(Disk{}, path, nil); brokenAt(err) != seq {
				t.Fatalf("bit %d of byte %d: Open: %v, want seq %d", bit, at, err, seq)
			}
			if after, _ := os.ReadFile(path); !bytes.Equal(after, bad) {
				t.Fatalf("bit %d of byte %d: the damaged file was changed", bit, at)
			}
		}
		put(at, data[at])
	}
}

func TestLinesLeftOutRepeatedOrSwappedAreFound(t *testing.T) {
	path, lines, _ := sample(t, 4)
	for _, order := range [][]int{{1, 2, 3}, {0, 2, 3}, {0, 1, 1, 2, 3}, {0, 2, 1, 3}, {0, 1, 3}} {
		var data []byte
		first := int64(0)
		for i, n := range order {
			data = append(append(data, lines[n].Raw...), '\n')
			if first == 0 && n != i {
				first = int64(i) + 1
			}
		}
		rewrite(t, path, data)
		if r, err := Verify(Disk{}, path); err != nil || r.OK || r.FirstBad != first {
			t.Errorf("order %v: %+v %v, want %d", order, r, err, first)
		}
	}
}

func TestKnownHeadsMustLieOnTheChain(t *testing.T) {
	path, lines, data := sample(t, 4)
	heads := []Head{{}, lines[0].Head(), lines[3].Head()}
	if r, err := Verify(Disk{}, path, heads...); err != nil || !r.OK {
		t.Fatalf("true heads: %+v %v", r, err)
	}
	wrong := lines[1].Head()
	wrong.Hash = lines[2].Hash
	if r, _ := Verify(Disk{}, path, wrong); r.OK || r.FirstBad != 2 {
		t.Errorf("another hash: %+v", r)
	}
	rewrite(t, path, data[:lines[1].End])
	if r, _ := Verify(Disk{}, path); !r.OK {
		t.Errorf("whole lines cut off are invisible to the chain: %+v", r)
	}
	if r, _ := Verify(Disk{}, path, heads...); r.OK || r.FirstBad != 3 {
		t.Errorf("whole lines cut off: %+v", r)
	}
	if _, _, err := Open(Disk{}, path, nil, heads...); brokenAt(err) != 3 {
		t.Errorf("Open: %v", err)
	}
}

func TestReadGoesOnWhereItStopped(t *testing.T) {
	path, lines, data := sample(t, 5)
	rewrite(t, path, data[:lines[1].End+3])
	got := readAll(t, path)
	if len(got) != 2 {
		t.Fatalf("%d lines", len(got))
	}
	rewrite(t, path, data)
	for line, err := range Read(Disk{}, path, got[1].Head()) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, line)
	}
	for i := range lines {
		if got[i].Head() != lines[i].Head() || !bytes.Equal(got[i].Raw, lines[i].Raw) || got[i].Offset != lines[i].Offset || got[i].PrevHash != lines[i].PrevHash {
			t.Errorf("line %d: %+v, want %+v", i, got[i], lines[i])
		}
	}
	wrong := lines[1].Head()
	wrong.Hash = lines[0].Hash
	for _, from := range []Head{wrong, {Seq: 9, Size: 1 << 20}} {
		var last error
		for _, err := range Read(Disk{}, path, from) {
			last = err
		}
		if !fault.Is(last, fault.EventChainBroken) {
			t.Errorf("from %+v: %v", from, last)
		}
	}
}

func TestALineWithoutEndIsBrokenAtBoundedMemory(t *testing.T) {
	path, _, _ := sample(t, 1)
	if err := os.Truncate(path, 1<<30); err != nil {
		t.Fatal(err)
	}
	if r, err := Verify(Disk{}, path); err != nil || r.OK || r.FirstBad != 2 {
		t.Errorf("%+v %v", r, err)
	}
}

func TestVisitStopsOpen(t *testing.T) {
	path, _, _ := sample(t, 3)
	stop := errors.New("stop")
	if _, _, err := Open(Disk{}, path, func(Line) error { return stop }); err != stop {
		t.Errorf("%v", err)
	}
}

func TestConcurrentAppendsMakeOneChainAndShareFlushes(t *testing.T) {
	disk := newCountingDisk()
	path := filepath.Join(t.TempDir(), "j")
	j, err := Create(disk, path)
	if err != nil {
		t.Fatal(err)
	}
	const writers = 16
	disk.gate = make(chan struct{})
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() {
			head, lines, err := j.Append(true, body(i), body(i))
			if err != nil || len(lines) != 2 || lines[1].Head() != head {
				t.Errorf("Append: %v %v %v", head, lines, err)
			}
		})
	}
	for disk.writes.Load() < writers { // the first one flushes; all others have written and wait
		<-disk.wrote
	}
	close(disk.gate)
	all.Wait()
	if n := disk.syncs.Load(); n > 2 {
		t.Errorf("%d flushes for %d concurrent appends, want at most 2", n, writers)
	}
	if r, err := Verify(Disk{}, path, j.Head()); err != nil || !r.OK || r.Head.Seq != 2*writers {
		t.Errorf("Verify: %+v %v", r, err)
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
	if _, _, err := j.Append(false, body(1)); !fault.Is(err, fault.JournalPoisoned) {
		t.Errorf("after Close: %v", err)
	}
}

func TestAFailedFlushOrWritePoisons(t *testing.T) {
	for _, fails := range []string{"sync", "write"} {
		t.Run(fails, func(t *testing.T) {
			disk := newCountingDisk()
			path := filepath.Join(t.TempDir(), "j")
			j, err := Create(disk, path)
			if err != nil {
				t.Fatal(err)
			}
			good, _, err := j.Append(true, body(0))
			if err != nil {
				t.Fatal(err)
			}
			disk.fail(fails)
			if _, _, err := j.Append(true, body(1)); !fault.Is(err, fault.JournalPoisoned) || !errors.Is(err, errDisk) {
				t.Fatalf("failed %s: %v", fails, err)
			}
			disk.fail("")
			writes, syncs := disk.writes.Load(), disk.syncs.Load()
			for _, durable := range []bool{true, false} {
				if _, _, err := j.Append(durable, body(2)); !fault.Is(err, fault.JournalPoisoned) {
					t.Errorf("after the failure: %v", err)
				}
			}
			if disk.writes.Load() != writes || disk.syncs.Load() != syncs {
				t.Error("a poisoned journal touched the disk")
			}
			j.Close()
			again, _, err := Open(Disk{}, path, nil, good)
			if err != nil {
				t.Fatal(err)
			}
			defer again.Close()
			if _, _, err := again.Append(true, body(3)); err != nil {
				t.Errorf("opened again: %v", err)
			}
		})
	}
}

func TestAFailedFlushFailsAllThatWaitForIt(t *testing.T) {
	disk := newCountingDisk()
	j, err := Create(disk, filepath.Join(t.TempDir(), "j"))
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	const writers = 4
	disk.gate = make(chan struct{})
	disk.failNext.Store(true) // the disk says no once and yes afterwards, as disks do
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() {
			if _, _, err := j.Append(true, body(i)); !fault.Is(err, fault.JournalPoisoned) {
				t.Errorf("Append: %v", err)
			}
		})
	}
	for disk.writes.Load() < writers {
		<-disk.wrote
	}
	close(disk.gate)
	all.Wait()
	if n := disk.syncs.Load(); n != 1 {
		t.Errorf("%d flushes, want 1", n)
	}
}

func readAll(t testing.TB, path string) []Line {
	t.Helper()
	var lines []Line
	for line, err := range Read(Disk{}, path, Head{}) {
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
	}
	return lines
}
