package proc

import (
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/gantry-run/gantry/internal/fault"
)

// SupervisorOptions says where a supervisor works.
type SupervisorOptions struct {
	// Dir is the folder of all supervised processes, made when it is first needed.
	// Every server and worker on one state directory uses the same.
	Dir string
	// Home is the folder whose secrets a sandbox hides: the user's home.
	Home string
}

// Supervisor starts processes that outlive a crash of this one, and finds them
// again. It may be used from many goroutines, and any number of supervisors, in any
// number of processes, may work on one folder.
//
// The processes that it starts without [ProcSpec.Keep] end with it: when Close is
// called, or this process ends in whatever way.
type Supervisor struct {
	dir, home string

	mu    sync.Mutex
	owner *owner // nil until a process needs one
}

// NewSupervisor returns a supervisor on the folder. It touches nothing: see
// [Supervisor.Reconcile].
func NewSupervisor(o SupervisorOptions) (*Supervisor, error) {
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, err
	}
	return &Supervisor{dir: dir, home: o.Home}, nil
}

// Close lets go of the processes: those without Keep are stopped by their shims,
// which it does not wait for. It may be called twice.
func (s *Supervisor) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.owner == nil {
		return nil
	}
	s.owner.release()
	s.owner = nil
	return nil
}

// ownerLock returns the path of the lock that this supervisor holds while it lives.
func (s *Supervisor) ownerLock() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.owner == nil {
		o, err := newOwner(s.dir)
		if err != nil {
			return "", err
		}
		s.owner = o
	}
	return s.owner.path, nil
}

// maxFolder is the longest name of a process's folder.
const maxFolder = 200

// folder returns where the process of a key lives. Letters, digits, '_', '-' and
// inner dots stand for themselves, all else is written as %XX.
func (s *Supervisor) folder(key string) (string, error) {
	var b strings.Builder
	for i := range len(key) {
		c := key[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-', c == '.' && i > 0:
			b.WriteByte(c)
		default:
			const hex = "0123456789ABCDEF"
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
		}
	}
	if key == "" || b.Len() > maxFolder {
		return "", fault.New(fault.InvalidInput, "a process key has 1 to %d bytes", maxFolder)
	}
	return filepath.Join(s.dir, b.String()), nil
}

// folders returns the folders of all processes, sorted by name.
func (s *Supervisor) folders() ([]string, error) {
	entries, err := os.ReadDir(s.dir)
	if os.IsNotExist(err) {
		return nil, nil
	}
	var dirs []string
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			dirs = append(dirs, filepath.Join(s.dir, e.Name()))
		}
	}
	return dirs, err
}
