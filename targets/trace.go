package targets

import (
	"io/fs"
	"os"
	"time"

	"github.com/gantry-run/gantry/internal/proc"
)

// racy is how young a file may be and still be changed without its time telling: clocks
// of file systems are coarse. A listing made from such a file is not kept.
const racy = 2 * time.Second

// trace is what a listing was made from: files and folders as they were, also those that
// were not there, and which programs were installed.
type trace struct {
	began    time.Time
	stamps   map[string]fs.FileInfo // by path from the root; nil: could not be had
	programs map[string]bool
	newest   time.Time
	env      []string
}

func newTrace(env []string) *trace {
	return &trace{began: time.Now(), stamps: map[string]fs.FileInfo{}, programs: map[string]bool{}, env: env}
}

// saw records a path, before it is read.
func (t *trace) saw(root *os.Root, path string) {
	if _, known := t.stamps[path]; known {
		return
	}
	info := stamp(root, path)
	t.stamps[path] = info
	if info != nil && info.ModTime().After(t.newest) {
		t.newest = info.ModTime()
	}
}

// installed reports whether a program is in PATH, and records the answer.
func (t *trace) installed(program string) bool {
	_, err := proc.LookPath(program, t.env)
	t.programs[program] = err == nil
	return err == nil
}

// settled reports whether a change of what was seen is sure to show.
func (t *trace) settled() bool { return t.newest.Before(t.began.Add(-racy)) }

// holds reports whether everything is as it was seen.
func (t *trace) holds(root *os.Root) bool {
	for path, was := range t.stamps {
		if is := stamp(root, path); !same(was, is) {
			return false
		}
	}
	for program, was := range t.programs {
		if _, err := proc.LookPath(program, t.env); (err == nil) != was {
			return false
		}
	}
	return true
}

func stamp(root *os.Root, path string) fs.FileInfo {
	info, err := root.Stat(path)
	if err != nil {
		return nil
	}
	return info
}

func same(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.Mode() == b.Mode() && a.ModTime().Equal(b.ModTime())
}
