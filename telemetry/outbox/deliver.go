package outbox

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

const (
	claimEvery = 100 * time.Millisecond // how often a process asks whether it may deliver now
	saveEvery  = 200                    // delivered lines after which they are taken from the file
	maxRefused = 8                      // refusals in a row after which the API is thought to refuse all
)

// loop delivers until Close. While the API fails, only time, a flush or the end wakes it.
func (o *Outbox) loop() {
	defer close(o.stopped)
	o.find()
	for well := true; ; {
		if o.isDue() {
			was := well
			if well = o.deliverAll(); well != was {
				o.tell(well)
			}
		}
		var fresh <-chan struct{}
		var rested <-chan time.Time
		if well {
			fresh = o.fresh
		} else {
			rested = o.o.After(restTime)
		}
		select {
		case <-fresh:
		case <-rested:
		case <-o.flush:
			o.again()
		case <-o.closing:
			if well && o.isDue() {
				o.deliverAll()
			}
			return
		}
	}
}

// find makes the outboxes due that earlier processes left.
func (o *Outbox) find() {
	left := []string{filepath.Join(o.o.StateDir, Name)}
	entries, err := os.ReadDir(o.o.RunsDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		o.o.Log.Warn("outboxes of earlier runs were not looked for", "error", err.Error())
	}
	for _, e := range entries {
		if e.IsDir() {
			left = append(left, filepath.Join(o.o.RunsDir, e.Name(), Name))
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, path := range left {
		if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
			o.due[path] = true
		}
	}
}

// again makes due what was not taken.
func (o *Outbox) again() {
	o.mu.Lock()
	defer o.mu.Unlock()
	maps.Copy(o.due, o.kept)
	clear(o.kept)
}

func (o *Outbox) isDue() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.due) > 0
}

// take takes the outboxes that are due, in order.
func (o *Outbox) take() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := slices.Sorted(maps.Keys(o.due))
	clear(o.due)
	return all
}

// keep remembers outboxes with lines that were not taken: for the next flush, or for
// the next round.
func (o *Outbox) keep(in map[string]bool, paths ...string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, path := range paths {
		in[path] = true
	}
}

// deliverAll empties the outboxes that are due. It reports whether the API is well; if
// not, they stay due.
func (o *Outbox) deliverAll() (well bool) {
	release, ok := o.claim()
	if !ok {
		return true // this process ends; another one delivers, or the next
	}
	defer release()
	for round := o.take(); len(round) > 0; round = o.take() { // in rounds: a busy run holds up no other
		for i, path := range round {
			kept, well := o.deliver(box(path))
			switch {
			case !well:
				o.keep(o.due, round[i:]...)
				return false
			case kept:
				o.keep(o.kept, path)
			}
		}
	}
	return true
}

// deliver sends the lines of an outbox in order. kept says that some are left, which the
// API refused; well that it could go through all of them.
func (o *Outbox) deliver(b box) (kept, well bool) {
	lines, err := b.lines()
	if err != nil {
		o.o.Log.Warn("an outbox cannot be read", "error", err.Error())
		return true, true
	}
	done := map[string]bool{}
	save := func() {
		if err := b.remove(done); err != nil { // the API will be told again, and know
			o.o.Log.Warn("an outbox cannot be written", "error", err.Error())
		}
		clear(done)
	}
	defer save()
	refused := 0
	for _, raw := range lines {
		l, ok := parseLine(raw)
		if !ok {
			o.drop(1, errors.New("a line of an outbox is damaged"))
			done[string(raw)] = true
			continue
		}
		switch o.send(l) {
		case taken:
			done[string(raw)] = true
			refused = 0
		case refusedIt:
			kept = true
			if refused++; refused >= maxRefused {
				return true, false
			}
		case failed:
			return true, false
		}
		if len(done) >= saveEvery {
			save()
		}
	}
	return kept, true
}

// claim takes the lock of who delivers, waiting for it. ok is false when the time that
// Close gives has passed first.
func (o *Outbox) claim() (release func(), ok bool) {
	for {
		f, err := os.OpenFile(filepath.Join(o.o.StateDir, LockName), os.O_CREATE|os.O_RDWR, 0o600)
		if err == nil {
			if flock(f, unix.LOCK_EX|unix.LOCK_NB) == nil {
				return func() { unlock(f) }, true
			}
			f.Close()
		}
		select {
		case <-o.o.After(claimEvery):
		case <-o.ctx.Done():
			return nil, false
		}
	}
}

// pause waits, and returns false when the outbox is closed meanwhile.
func (o *Outbox) pause(d time.Duration) bool {
	select {
	case <-o.closing:
		return false
	default:
	}
	select {
	case <-o.o.After(d):
		return true
	case <-o.closing:
		return false
	case <-o.ctx.Done():
		return false
	}
}

// tell says once that the API has failed, and once that it is back.
func (o *Outbox) tell(well bool) {
	if well {
		o.o.Log.Info("the telemetry API takes records again")
		return
	}
	o.o.Log.Warn("the telemetry API does not take records; they are kept", "dropped", o.Dropped())
}
