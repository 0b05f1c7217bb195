package proc

import (
	"crypto/rand"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// ownersFolder holds a locked file for each supervisor that processes depend on.
const ownersFolder = ".owners"

// owner is a supervisor's sign of life: a lock on a file of its own.
type owner struct {
	path string
	file *os.File
}

func newOwner(dir string) (*owner, error) {
	dir = filepath.Join(dir, ownersFolder)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	for {
		path := filepath.Join(dir, rand.Text())
		f, err := tryLock(path)
		if err != nil {
			return nil, err
		}
		if f != nil {
			return &owner{path, f}, nil
		}
	}
}

func (o *owner) release() {
	os.Remove(o.path)
	o.file.Close()
}

// ownerGone returns a channel that is closed when the owner is gone, which the
// kernel tells at once: whoever waits for its lock gets it.
func ownerGone(path string) <-chan struct{} {
	gone := make(chan struct{})
	f, err := os.Open(path)
	if err != nil {
		close(gone)
		return gone
	}
	go func() {
		defer close(gone)
		flock(f, unix.LOCK_SH)
		f.Close()
	}()
	return gone
}

// forgetOwners removes what dead owners left.
func (s *Supervisor) forgetOwners() error {
	dir := filepath.Join(s.dir, ownersFolder)
	entries, err := os.ReadDir(dir)
	if os.IsNotExist(err) {
		return nil
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if f, lockErr := tryLock(path); f != nil && lockErr == nil {
			os.Remove(path)
			f.Close()
		}
	}
	return err
}
