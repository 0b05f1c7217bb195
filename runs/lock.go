package runs

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gantry-run/gantry/internal/fault"
)

// fileLock is an advisory lock on a file. It is gone when its holder is gone,
// however it went.
type fileLock struct{ f *os.File }

// tryLock takes the lock, shared or exclusive, if nobody holds one that excludes it.
// ok is false when somebody does.
func tryLock(path string, how int) (l fileLock, ok bool, err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fileLock{}, false, err
	}
	err = unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
	if err == nil {
		return fileLock{f}, true, nil
	}
	f.Close()
	if errors.Is(err, unix.EWOULDBLOCK) {
		return fileLock{}, false, nil
	}
	return fileLock{}, false, err
}

// waitLock takes the lock when it is free, or fails when ctx ends.
func (s *Store) waitLock(ctx context.Context, path string, how int) (fileLock, error) {
	for {
		l, ok, err := tryLock(path, how)
		if ok || err != nil {
			return l, err
		}
		if err := s.wait(ctx, nil); err != nil {
			return fileLock{}, err
		}
	}
}

// release unlocks before it closes: a child that is being started has a copy of the
// file until it executes its program, and would hold the lock on.
func (l fileLock) release() {
	_ = unix.Flock(int(l.f.Fd()), unix.LOCK_UN) // it can only fail on a file that is no file
	l.f.Close()
}

// TryDrive takes the drive lock of a run: whoever holds it executes the run. ok
// is false when somebody else does.
func (s *Store) TryDrive(id ID) (release func(), ok bool, err error) {
	if _, err := s.find(id); err != nil {
		return nil, false, err
	}
	for {
		l, ok, err := tryLock(s.driveLock(id), unix.LOCK_EX)
		if ok || err != nil || s.Driven(id) {
			return l.release, ok, err
		}
		time.Sleep(100 * time.Microsecond) // somebody only looked
	}
}

// Driven reports whether somebody drives the run now. It looks with a shared lock,
// so that a driver can tell who only looks.
func (s *Store) Driven(id ID) bool {
	if _, err := s.find(id); err != nil {
		return false
	}
	l, ok, err := tryLock(s.driveLock(id), unix.LOCK_SH)
	if ok {
		l.release()
	}
	return err == nil && !ok
}

func (s *Store) driveLock(id ID) string { return filepath.Join(s.Dir(id), "drive.lock") }

// callLocks serialises the calls of this process on one run, so that they queue
// instead of polling.
type callLocks struct {
	mu   sync.Mutex
	held map[ID]*callLock
}

type callLock struct {
	slot chan struct{} // one slot: full while held
	refs int
}

func (c *callLocks) init() { c.held = map[ID]*callLock{} }

func (c *callLocks) acquire(ctx context.Context, id ID) (release func(), err error) {
	c.mu.Lock()
	l, ok := c.held[id]
	if !ok {
		l = &callLock{slot: make(chan struct{}, 1)}
		c.held[id] = l
	}
	l.refs++
	c.mu.Unlock()
	drop := func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if l.refs--; l.refs == 0 {
			delete(c.held, id)
		}
	}
	select {
	case l.slot <- struct{}{}:
		return func() { <-l.slot; drop() }, nil
	case <-ctx.Done():
		drop()
		return nil, context.Cause(ctx)
	}
}

// LockCall takes the call lock of a run, which a mutating call holds across all
// processes while it works. It waits at most as long as told, then fails with
// RUN_LOCKED, retryable. An unknown run is RUN_NOT_FOUND.
func (s *Store) LockCall(ctx context.Context, id ID, wait time.Duration) (release func(), err error) {
	if _, err := s.find(id); err != nil {
		return nil, err
	}
	locked := fault.Retry(fault.RunLocked, "another call is working on run %s", id)
	ctx, cancel := context.WithTimeoutCause(ctx, wait, locked)
	defer cancel()
	mine, err := s.calls.acquire(ctx, id)
	if err != nil {
		return nil, err
	}
	l, err := s.waitLock(ctx, filepath.Join(s.Dir(id), "call.lock"), unix.LOCK_EX)
	if err != nil {
		mine()
		return nil, err
	}
	return func() { l.release(); mine() }, nil
}
