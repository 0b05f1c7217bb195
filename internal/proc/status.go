package proc

import (
	"encoding/json"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// State is what is known of a supervised process.
type State string

const (
	// Starting is the moment before the process runs.
	Starting State = "starting"
	// Running has its shim.
	Running State = "running"
	// Exited ended with an exit code or a signal.
	Exited State = "exited"
	// Failed could not be started: nothing ran, and Ensure tries again.
	Failed State = "failed"
	// Orphan runs, but its shim was killed. Its exit code will not be known.
	Orphan State = "orphan"
	// Lost ended, and nobody knows how: its shim was killed, or the machine restarted.
	Lost State = "lost"
)

// Ended reports whether the process is over for good.
func (s State) Ended() bool { return s == Exited || s == Failed || s == Lost }

// How a process was stopped.
const (
	Graceful = "graceful" // it ended within the grace
	Killed   = "killed"   // it was killed
	Unkilled = "failed"   // it, or something that it started, survived the kill
)

// Why a process was stopped.
const (
	ByRequest = "request" // Stop
	ByOwner   = "owner"   // the server that started it ended
	ByTimeout = "timeout" // ProcSpec.Timeout
	BySystem  = "system"  // somebody asked its shim to end
)

// Status is a supervised process at one moment.
type Status struct {
	Key     string   `json:"key"`
	State   State    `json:"state"`
	PID     int      `json:"pid,omitempty"` // of the process, not of its shim
	Command []string `json:"command"`       // the argv
	Dir     string   `json:"dir"`
	Keep    bool     `json:"keep"`

	Exit   int    `json:"exit"`             // exit code; -1 while it runs, when a signal ended it and when unknown
	Signal string `json:"signal,omitempty"` // such as SIGKILL
	Reason string `json:"reason,omitempty"` // why it failed or was lost, a sentence

	Stopped   string `json:"stopped,omitempty"`    // how it was stopped: Graceful, Killed or Unkilled; empty if it was not
	StoppedBy string `json:"stopped_by,omitempty"` // why it was stopped
	Swept     int    `json:"swept,omitempty"`      // descendants that were left and ended with it

	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended,omitzero"` // of a lost one: when that was found out
	Output  Limits    `json:"output"`
}

// record is what status.json holds: a status and how to find the process again.
type record struct {
	Status
	Code     string   `json:"code,omitempty"`    // the fault's, when failed
	Shim     identity `json:"shim"`              // who writes this file
	Process  identity `json:"process"`           // the process itself
	Sessions []int    `json:"sessions"`          // session of the shim that started it
	Token    string   `json:"token"`             // in the environment of all its descendants
	Owner    string   `json:"owner,omitempty"`   // path of the lock it depends on
	Cgroup   string   `json:"cgroup,omitempty"`  // path of its cgroup
	Grace    int64    `json:"grace,omitempty"`   // nanoseconds
	Timeout  int64    `json:"timeout,omitempty"` // nanoseconds
	Nice     int      `json:"nice,omitempty"`    // once it has lasted a moment

	ErrorsApart bool `json:"errors_apart,omitempty"` // the spec's
}

// identity tells a process from a later one of the same number.
type identity struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"` // in the system's own unit, since the boot or the epoch
	Boot  string `json:"boot"`
}

// identify returns the identity of a living process.
func identify(pid int) identity {
	start, _ := startTime(pid)
	return identity{pid, start, bootID()}
}

// alive reports whether the process runs: the same one, not a zombie.
func (i identity) alive() bool {
	start, ok := startTime(i.PID)
	return i.PID > 0 && ok && start == i.Start && i.Boot == bootID()
}

const (
	statusFile = "status.json"
	lockFile   = "shim.lock"
)

// readRecord returns what the shim wrote last; State is empty if it wrote nothing.
// A file that a crash of the machine cut short reads as lost.
func readRecord(dir string) (record, error) {
	b, err := os.ReadFile(filepath.Join(dir, statusFile))
	if errors.Is(err, fs.ErrNotExist) {
		return record{}, nil
	}
	if err != nil {
		return record{}, err
	}
	var r record
	if err := json.Unmarshal(b, &r); err != nil {
		key, _ := url.PathUnescape(filepath.Base(dir))
		return record{Status: Status{Key: key, State: Lost, Exit: -1, Reason: "its status file is damaged"}}, nil
	}
	return r, nil
}

// write replaces the status file: a reader sees the old one or the new one. It
// is not synced: a process and its shim do not survive what would undo it.
func (r record) write(dir string) error { return writeFile(dir, statusFile, r) }

func writeFile(dir, name string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path+".new", b, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// lose marks the process as ended in an unknown way.
func (r *record) lose(reason string) {
	r.State, r.Exit, r.Signal, r.Reason, r.Ended = Lost, -1, "", reason, time.Now().UTC()
}

// setExit records how the process ended.
func (r *record) setExit(ws unix.WaitStatus) {
	r.State, r.Exit, r.Ended = Exited, ws.ExitStatus(), time.Now().UTC()
	if ws.Signaled() {
		r.Exit, r.Signal = -1, unix.SignalName(ws.Signal())
	}
}
