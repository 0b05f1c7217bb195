package proc

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Reconcile finds out what became of every process, and gives each orphan a new
// shim, which stops it at once if its server is gone and it does not keep. Every
// server and worker calls it when it starts.
//
// It returns the status of each process, sorted by key. It returns the same again
// when called again: whoever records an outcome in a journal looks there first.
// Processes whose shim lives are not touched. Those that cannot be looked at are in
// the error, and do not hold up the others.
func (s *Supervisor) Reconcile(ctx context.Context) ([]Status, error) {
	dirs, err := s.folders()
	if err != nil {
		return nil, err
	}
	var all []Status
	var failed []error
	for _, dir := range dirs {
		if err := ctx.Err(); err != nil {
			return all, err
		}
		st, err := s.reconcile(ctx, dir)
		switch {
		case err != nil:
			failed = append(failed, err)
		case st.State != "":
			all = append(all, st)
		}
	}
	failed = append(failed, s.forgetOwners(), s.finishRemovals())
	slices.SortFunc(all, func(a, b Status) int { return cmp.Compare(a.Key, b.Key) })
	return all, errors.Join(failed...)
}

func (s *Supervisor) reconcile(ctx context.Context, dir string) (Status, error) {
	path := filepath.Join(dir, lockFile)
	for tick := newBackoff(); ; {
		lock, err := tryLock(path)
		if err != nil {
			return Status{}, err
		}
		if lock != nil {
			defer lock.Close()
			r, err := readRecord(dir)
			if err != nil || r.State == "" {
				return Status{}, err
			}
			return s.adopt(ctx, lock, dir)
		}
		supervised, err := held(path)
		if err == nil && !supervised { // somebody only looked
			err = tick.wait(ctx)
		}
		if supervised || err != nil {
			r, readErr := readRecord(dir)
			return r.Status, errors.Join(err, readErr)
		}
	}
}

// Collect removes ended processes and their output, of those whose keys are mine: all but
// the keep newest, and of those the ones that ended more than age before now. It returns
// their keys, sorted. A key that was removed can be started again.
func (s *Supervisor) Collect(mine func(key string) bool, keep int, age time.Duration, now time.Time) ([]string, error) {
	all, err := s.List()
	if err != nil {
		return nil, err
	}
	ended := slices.DeleteFunc(all, func(st Status) bool { return !st.State.Ended() || !mine(st.Key) })
	slices.SortStableFunc(ended, func(a, b Status) int { return b.Ended.Compare(a.Ended) })
	var removed []string
	var failed []error
	for i, st := range ended {
		if i < keep && now.Sub(st.Ended) <= age {
			continue
		}
		ok, err := s.remove(st.Key)
		if ok {
			removed = append(removed, st.Key)
		}
		failed = append(failed, err)
	}
	slices.Sort(removed)
	return removed, errors.Join(failed...)
}

// Remove removes an ended process and its output. One that runs, or that is not there, is
// left alone.
func (s *Supervisor) Remove(key string) error {
	_, err := s.remove(key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// remove removes the folder of an ended process, unless somebody works on it. The
// folder is moved away first, so that nobody sees half of it.
func (s *Supervisor) remove(key string) (bool, error) {
	dir, err := s.folder(key)
	if err != nil {
		return false, err
	}
	lock, err := lockEnded(dir)
	if err != nil || lock == nil {
		return false, err
	}
	defer lock.Close()
	aside := filepath.Join(s.dir, removedPrefix+filepath.Base(dir))
	if err := os.RemoveAll(aside); err != nil {
		return false, err
	}
	if err := os.Rename(dir, aside); err != nil {
		return false, err
	}
	return true, os.RemoveAll(aside)
}

// lastWords is how long a shim may live that has written how its process ended.
const lastWords = 2 * time.Second

// lockEnded locks the folder of an ended process, nil if it has not ended. Its shim may be
// about to go.
func lockEnded(dir string) (*os.File, error) {
	ctx, cancel := context.WithTimeout(context.Background(), lastWords)
	defer cancel()
	for tick := newBackoff(); ; {
		lock, err := tryLock(filepath.Join(dir, lockFile))
		if err != nil {
			return nil, err
		}
		r, err := readRecord(dir)
		switch {
		case err != nil || !r.State.Ended():
			if lock != nil {
				err = errors.Join(err, lock.Close())
			}
			return nil, err
		case lock != nil:
			return lock, nil
		case tick.wait(ctx) != nil:
			return nil, nil
		}
	}
}

// removedPrefix begins the names of folders that are being removed.
const removedPrefix = ".removed-"

// finishRemovals removes what a crash left of removals.
func (s *Supervisor) finishRemovals() error {
	entries, err := os.ReadDir(s.dir)
	if os.IsNotExist(err) {
		return nil
	}
	failed := []error{err}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), removedPrefix) {
			failed = append(failed, os.RemoveAll(filepath.Join(s.dir, e.Name())))
		}
	}
	return errors.Join(failed...)
}
