package launch

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gantry-run/gantry/internal/git"
	"github.com/gantry-run/gantry/internal/proc"
	"github.com/gantry-run/gantry/runs"
)

// leaseFile stands for the right to have git work on a run's repositories. Whoever
// holds the drive lock is the only one who starts anything, but git outlives a driver
// that is killed.
const leaseFile = "work.lock"

// leaseWait is how long git of a dead driver is waited for. What takes longer is a
// transfer into a clone that is made anew anyway, or a helper of git that stays.
const leaseWait = 10 * time.Second

var errStillThere = errors.New("git of a driver that is gone is still at work")

// claim makes the job the only one that has git at work on the run, and removes what
// git that was killed has locked. Items of one fan-out share the claim.
func (j *job) claim(ctx context.Context) (release func(), err error) {
	path := filepath.Join(j.try.Dir, leaseFile)
	soon, cancel := context.WithTimeoutCause(ctx, leaseWait, errStillThere)
	defer cancel()
	lease, err := proc.TakeLease(soon, path, j.work.Item != "")
	if errors.Is(err, errStillThere) {
		if err = os.Remove(path); err == nil || errors.Is(err, fs.ErrNotExist) {
			lease, err = proc.TakeLease(ctx, path, j.work.Item != "")
		}
	}
	if err != nil {
		return nil, err
	}
	if j.interrupted() {
		for _, dir := range []string{j.repo(), j.site()} {
			err = errors.Join(err, git.Unlock(dir))
		}
	}
	if err != nil {
		return nil, errors.Join(err, lease.Release())
	}
	own := *j.workers
	own.git = own.git.Leasing(lease)
	j.workers = &own
	return func() { lease.Release() }, nil
}

// interrupted reports whether an attempt at this work or at other work of the run was
// never finished. Its git may have been killed as well.
func (j *job) interrupted() bool {
	if j.try.Attempt > 1 {
		return true
	}
	for _, w := range j.view.WorkItems {
		if w.Status == runs.Running && (w.Node != j.work.Node.Name || w.Visit != j.work.Visit) {
			return true
		}
	}
	return false
}
