package proc

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"
)

// ErrNoProcess says that there is no process of a key, or none any more.
var ErrNoProcess = errors.New("no such process")

// Status returns what is known of a process now, or ErrNoProcess.
func (s *Supervisor) Status(key string) (Status, error) {
	dir, err := s.folder(key)
	if err != nil {
		return Status{}, err
	}
	r, err := look(dir)
	if err == nil && r.State == "" {
		err = ErrNoProcess
	}
	return r.Status, err
}

// List returns all processes, those that started first first, then by key.
func (s *Supervisor) List() ([]Status, error) {
	dirs, err := s.folders()
	if err != nil {
		return nil, err
	}
	var all []Status
	for _, dir := range dirs {
		r, err := look(dir)
		if err != nil {
			return nil, err
		}
		if r.State != "" {
			all = append(all, r.Status)
		}
	}
	slices.SortFunc(all, func(a, b Status) int {
		return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.Key, b.Key))
	})
	return all, nil
}

// look returns the record of a process, corrected by what is true now. The shim
// lives as long as its lock is held; what it wrote before it let go is final.
func look(dir string) (record, error) {
	supervised, err := held(filepath.Join(dir, lockFile))
	if err != nil {
		return record{}, err
	}
	r, err := readRecord(dir)
	if err == nil && !supervised {
		r.judge()
	}
	return r, err
}

// judge says what became of a process whose shim is dead.
func (r *record) judge() {
	switch {
	case r.State == "" || r.State.Ended():
	case r.State == Starting && r.findStarted(), r.Process.alive():
		r.State = Orphan
	case r.Shim.Boot != bootID():
		r.lose("the machine restarted while it ran")
	default:
		r.lose("it ended after its supervisor was killed")
	}
}

// Wait returns when the process has ended, or with ctx's error and the last status.
// Of an orphan that nobody has adopted it sees the end all the same.
func (s *Supervisor) Wait(ctx context.Context, key string) (Status, error) {
	dir, err := s.folder(key)
	if err != nil {
		return Status{}, err
	}
	for tick := newBackoff(); ; {
		r, err := look(dir)
		switch {
		case err != nil:
			return r.Status, err
		case r.State == "":
			return r.Status, ErrNoProcess
		case r.State.Ended():
			return r.Status, nil
		}
		whom := r.Shim
		if !whom.alive() {
			whom = r.Process
		}
		if whom.alive() {
			err = awaitEnd(ctx, whom)
		} else {
			err = tick.wait(ctx)
		}
		if err != nil {
			return r.Status, err
		}
	}
}

// backoff waits a little, then longer, for what no event tells of: that another
// process let go of a lock or wrote its first status.
type backoff struct{ next time.Duration }

func newBackoff() *backoff { return &backoff{500 * time.Microsecond} }

func (b *backoff) wait(ctx context.Context) error {
	d := b.next
	b.next = min(d*3/2, 20*time.Millisecond)
	return wait(ctx, d)
}
