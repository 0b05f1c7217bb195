package journal

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
)

// storage is how the simulated run writes its files, so that a barrier inside a
// function of this package can be left out, too.
type storage struct {
	publish func(FS, string, string) error
	replace func(FS, string, []byte) error
}

var sound = storage{
	publish: func(fsys FS, tmp, final string) error { return PublishDir(fsys, tmp, final, true) },
	replace: WriteFileAtomic,
}

// life is a run that is created, written, handed to a next process without a flush,
// and snapshotted, with the power cut in all places.
type life struct {
	t       testing.TB
	disk    *powerFS
	rng     *rand.Rand
	exists  bool            // creating was acknowledged
	acked   map[int64]Head  // lines acknowledged, or acted on, by number
	snaps   map[string]Head // what was ever put into the snapshot
	snapped Head            // the newest snapshot acknowledged
	losses  []string
	images  int
}

func live(t testing.TB, seed uint64, with storage, skips func(op, name string, f *powerFile) bool) *life {
	l := &life{t: t, rng: rand.New(rand.NewPCG(seed, 7)), acked: map[int64]Head{}, snaps: map[string]Head{}}
	l.disk = newPowerFS("runs", "runs/.new")
	if skips != nil {
		l.disk.skips = skips
	}
	l.disk.after = l.crash
	j, err := Create(l.disk, "runs/.new/events")
	l.must(err)
	first, _, err := j.Append(true, body(0))
	l.must(err)
	l.must(with.publish(l.disk, "runs/.new", "runs/r"))
	l.exists, l.acked[first.Seq] = true, first
	for i := range 12 {
		switch l.rng.IntN(4) {
		case 0: // the process is killed; the next one acts on what it reads
			j, _, err = Open(l.disk, "runs/r/events", nil)
			l.must(err)
			l.acked[j.Head().Seq] = j.Head()
		case 1:
			text := fmt.Sprintf("%d %d %s", j.Head().Seq, j.Head().Size, j.Head().Hash)
			head, _, err := j.Append(true)
			l.must(err)
			l.snaps[text] = head
			l.must(with.replace(l.disk, "runs/r/snapshot", []byte(text)))
			l.snapped = head
		default:
			durable := l.rng.IntN(3) > 0
			head, _, err := j.Append(durable, body(i), body(i))
			l.must(err)
			if durable {
				l.acked[head.Seq] = head
			}
		}
		l.crash()
	}
	return l
}

func (l *life) must(err error) {
	if err != nil {
		l.t.Helper()
		l.t.Fatal(err)
	}
}

// crash cuts the power and lets a next process look.
func (l *life) crash() {
	l.images++
	if why := l.recover(l.disk.cut(l.rng)); why != "" {
		l.losses = append(l.losses, why)
	}
}

// recover returns what was lost, empty when nothing was.
func (l *life) recover(disk *powerFS) string {
	entry := disk.dirs["runs"].now["r"]
	if entry == nil && !l.exists {
		return ""
	}
	if entry == nil {
		return "the run"
	}
	disk.dirs["runs/r"] = disk.dirs[string(entry.data)]
	known := []Head{}
	if snap := disk.dirs["runs/r"].now["snapshot"]; snap != nil {
		head, whole := l.snaps[string(snap.data)]
		if !whole {
			return "the snapshot's content"
		}
		if head.Seq < l.snapped.Seq {
			return "the newest snapshot"
		}
		known = append(known, head)
	} else if l.snapped.Seq > 0 {
		return "the snapshot"
	}
	for _, head := range l.acked {
		known = append(known, head)
	}
	j, _, err := Open(disk, "runs/r/events", nil, known...)
	if err != nil {
		return err.Error()
	}
	if j.Head().Seq == 0 {
		return "the first event"
	}
	if _, _, err := j.Append(true, body(1)); err != nil {
		return err.Error()
	}
	if r, err := Verify(disk, "runs/r/events", j.Head()); err != nil || !r.OK {
		return "the repaired journal " + r.Reason
	}
	return ""
}

const lives = 100

func TestNoAcknowledgedEventIsLostWithThePower(t *testing.T) {
	images := 0
	for seed := range uint64(lives) {
		l := live(t, seed, sound, nil)
		images += l.images
		if len(l.losses) > 0 {
			t.Fatalf("seed %d lost %s", seed, l.losses[0])
		}
	}
	t.Logf("%d power cuts", images)
	if images < 3000 {
		t.Errorf("only %d power cuts", images)
	}
}

func TestEveryBarrierIsNeeded(t *testing.T) {
	skip := func(op, name string) func(string, string, *powerFile) bool {
		return func(o, n string, _ *powerFile) bool { return o == op && n == name }
	}
	for name, broken := range map[string]struct {
		with  storage
		skips func(op, name string, f *powerFile) bool
	}{
		"flush of the journal":          {with: sound, skips: skip("file", "events")},
		"flush of the folder aside":     {with: sound, skips: skip("dir", "runs/.new")},
		"flush of the parent folder":    {with: sound, skips: skip("dir", "runs")},
		"flush of the run's folder":     {with: sound, skips: skip("dir", "runs/r")},
		"flush when the journal opens":  {with: sound, skips: func(_, n string, f *powerFile) bool { return n == "events" && !f.created && !f.flushed }},
		"flush of the temporary file":   {with: sound, skips: func(op, n string, _ *powerFile) bool { return op == "file" && n != "events" }},
		"temporary file for a snapshot": {with: storage{publish: sound.publish, replace: overwrite}},
		"publishing durably":            {with: storage{publish: func(fsys FS, tmp, final string) error { return PublishDir(fsys, tmp, final, false) }, replace: sound.replace}},
	} {
		t.Run(name, func(t *testing.T) {
			losses := 0
			for seed := range uint64(lives) {
				losses += len(live(t, seed, broken.with, broken.skips).losses)
			}
			if losses == 0 {
				t.Error("nothing was lost without it: the simulation cannot see this barrier")
			}
		})
	}
}

// overwrite is what WriteFileAtomic is there to avoid.
func overwrite(fsys FS, path string, data []byte) error {
	f, err := fsys.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if err := f.Truncate(0); err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return fsys.SyncDir("runs/r")
}
