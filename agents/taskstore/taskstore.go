// Package taskstore keeps conversations with agents in the layout that codex-tasks uses,
// so that its command line and Gantry see the same ones:
//
//	<root>/<id>/task.json     what is known of the task
//	            task.log      what happened, as lines of JSON
//	            task.result   the last that the agent said
//	            task.pid      the agent's process, while one runs
//	<root>/archive/YYYY/MM/DD/<id>/   the same of an archived task, without the process
//
// Of the sessions that Gantry keeps, this is a view: their journals are the truth, and what
// is here is written from them. Tasks that somebody else put here are read as they are.
//
// An id is the name of a folder and comes from outside, so only one that is a plain name is
// a task's.
package taskstore

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/journal"
	"github.com/gantry-run/gantry/internal/lazyregexp"
	"github.com/gantry-run/gantry/internal/proc"
)

// Store is the tasks of one folder. It may be used from many goroutines and processes.
type Store struct{ root string }

// Open returns the store in a folder, which is made with its first task.
func Open(root string) Store { return Store{root} }

// State is how a task is.
type State string

// The states of a task.
const (
	Running  State = "RUNNING"
	Stopped  State = "STOPPED" // idle: it can be gone on with
	Died     State = "DIED"    // its last turn failed
	Archived State = "ARCHIVED"
)

// Task is what task.json holds.
type Task struct {
	ID            string    `json:"id"` // the name of its folder
	Title         string    `json:"title,omitempty"`
	State         State     `json:"state"`
	CreatedAt     time.Time `json:"created_at"`
	UpdatedAt     time.Time `json:"updated_at"`
	LastResult    string    `json:"last_result,omitempty"`
	InitialPrompt string    `json:"initial_prompt,omitempty"`
	LastPrompt    string    `json:"last_prompt,omitempty"`
	ConfigPath    string    `json:"config_path,omitempty"`
	WorkingDir    string    `json:"working_dir,omitempty"`
}

const (
	metaName   = "task.json"
	logName    = "task.log"
	resultName = "task.result"
	pidName    = "task.pid"
	pipeName   = "task.pipe" // older versions had one
	archiveDir = "archive"
)

var idForm = lazyregexp.New(`^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$`)

// Named reports whether a task may be called so.
func Named(id string) bool { return idForm.MatchString(id) && id != archiveDir }

// folder returns the folder of a task, and refuses a link in its place.
func (s Store) folder(id string) (string, error) {
	if !Named(id) {
		return "", fault.New(fault.InvalidInput, "%.64q is not the id of a task", id)
	}
	dir := filepath.Join(s.root, id)
	if info, err := os.Lstat(dir); err == nil && !info.IsDir() {
		return "", fault.New(fault.InvalidInput, "what is called %s in the store is no task", id)
	}
	return dir, nil
}

// Write replaces task.json, and makes the folder when it is missing.
func (s Store) Write(t Task) error {
	dir, err := s.folder(t.ID)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	raw, err := json.MarshalIndent(t, "", "  ")
	if err != nil {
		return err
	}
	return replace(filepath.Join(dir, metaName), append(raw, '\n'))
}

// SetResult replaces task.result.
func (s Store) SetResult(id, text string) error {
	dir, err := s.folder(id)
	if err != nil {
		return err
	}
	return replace(filepath.Join(dir, resultName), []byte(text))
}

// SetPID says which process the agent is, 0 for none.
func (s Store) SetPID(id string, pid int) error {
	dir, err := s.folder(id)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, pidName)
	if pid > 0 {
		return replace(path, []byte(strconv.Itoa(pid)+"\n"))
	}
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func replace(path string, data []byte) error {
	if old, err := os.ReadFile(path); err == nil && string(old) == string(data) {
		return nil
	}
	return journal.WriteFileAtomic(journal.Disk{}, path, data)
}

// Found is a task that is there.
type Found struct {
	Task
	PID    int    // of the agent, when it lives
	Folder string // relative to the root of the store
}

// Find returns a task, archived or not, as it is now: one whose process is gone is not
// running. There may be none: SESSION_NOT_FOUND.
func (s Store) Find(id string) (Found, error) {
	dir, err := s.folder(id)
	if err != nil {
		return Found{}, notFound(id)
	}
	f, err := s.read(dir)
	if !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	places, err := filepath.Glob(filepath.Join(escape(s.root), archiveDir, "[0-9]*", "[0-9]*", "[0-9]*", id))
	if err != nil || len(places) == 0 {
		return Found{}, notFound(id)
	}
	f, err = s.read(places[len(places)-1])
	if errors.Is(err, fs.ErrNotExist) {
		return Found{}, notFound(id)
	}
	return f, err
}

// escape makes a path one that a pattern means literally.
func escape(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

func notFound(id string) error {
	return fault.New(fault.SessionNotFound, "there is no task %.64q", id)
}

// maxMeta is how long task.json may be, in bytes.
const maxMeta = 8 << 20

// read returns the task of a folder. A folder that is none is fs.ErrNotExist.
func (s Store) read(dir string) (Found, error) {
	info, err := os.Lstat(filepath.Join(dir, metaName))
	if err != nil {
		return Found{}, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxMeta {
		return Found{}, fs.ErrNotExist
	}
	raw, err := os.ReadFile(filepath.Join(dir, metaName))
	if err != nil {
		return Found{}, err
	}
	var f Found
	if err := json.Unmarshal(raw, &f.Task); err != nil || f.ID != filepath.Base(dir) {
		return Found{}, fmt.Errorf("task.json of %.64q is not right: %w", filepath.Base(dir), fs.ErrNotExist)
	}
	if f.Folder, err = filepath.Rel(s.root, dir); err != nil {
		return Found{}, err
	}
	if strings.HasPrefix(f.Folder, archiveDir+string(filepath.Separator)) {
		f.State = Archived
		return f, nil
	}
	text, _ := os.ReadFile(filepath.Join(dir, pidName)) // there may be none
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	alive := err == nil && pid > 0 && proc.Alive(pid)
	switch {
	case alive && (f.State == Running || f.State == Died):
		f.State, f.PID = Running, pid
	case f.State == Running:
		f.State = Died
	}
	if result, err := os.ReadFile(filepath.Join(dir, resultName)); err == nil && f.LastResult == "" {
		f.LastResult = string(result)
	}
	return f, nil
}
