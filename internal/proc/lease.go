package proc

import (
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Lease is the right to start programs on something, such as a folder: a lock on a
// file that the programs share ([Spec.Lease]). When this process dies, it is not free
// before they are gone too.
type Lease struct{ file *os.File }

// leasePoll is how often a lease that is taken is asked for: no event tells when it
// becomes free.
const leasePoll = 10 * time.Millisecond

// TakeLease takes the lease that the file at path stands for, and makes the file if
// need be. With shared, others may have it too who said the same. It waits until the
// lease is free or ctx ends.
func TakeLease(ctx context.Context, path string, shared bool) (*Lease, error) {
	how := unix.LOCK_EX
	if shared {
		how = unix.LOCK_SH
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
		if err == nil {
			return &Lease{f}, nil
		}
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = wait(ctx, leasePoll)
		}
		if err != nil {
			f.Close()
			return nil, err
		}
	}
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Release gives the lease back, whoever of its programs is still there.
func (l *Lease) Release() error {
	return errors.Join(unix.Flock(int(l.file.Fd()), unix.LOCK_UN), l.file.Close())
}
