package proc

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
)

// ProcSpec says what a supervised process is and within which bounds it runs. Its
// standard output and error are kept together, in order, unless ErrorsApart is set.
type ProcSpec struct {
	Name string   `json:"name"` // a path, relative to Dir if not absolute, or a name to look up in the PATH of Env
	Args []string `json:"args"` // without the program itself
	Dir  string   `json:"dir"`  // working directory; empty for this process's own
	Env  []string `json:"-"`    // the complete environment as NAME=value; never written to disk

	// Stdin is the path of a file that is the process's input, empty for /dev/null.
	// It is opened when the process starts.
	Stdin string `json:"stdin,omitempty"`
	// ErrorsApart keeps the standard error apart: Output bounds each of the two, and
	// the errors are read with [Supervisor.ReadErrors].
	ErrorsApart bool `json:"errors_apart,omitempty"`

	Keep    bool          `json:"keep"`              // goes on when the server that started it ends
	Grace   time.Duration `json:"grace,omitempty"`   // from the request to stop to the kill, where a caller names none; 5 s when 0
	Timeout time.Duration `json:"timeout,omitempty"` // stopped after this; never when 0
	Output  Limits        `json:"output"`
	// Nice is the niceness that it takes on when it lasts longer than a moment, with all
	// that it starts: [Nice] when 0, 19 at most.
	Nice int `json:"nice,omitempty"`

	// MaxProcesses bounds how many processes it may have at once, 0 for no bound.
	// It is exact where a cgroup can be made with the pids controller. Elsewhere it
	// is RLIMIT_NPROC at the processes of the machine plus this, which does not
	// bind root.
	MaxProcesses int `json:"max_processes,omitempty"`

	// Sandbox is empty, or "landlock": it may write only in Dir, /tmp and Writable,
	// and read neither the home folder, apart from Readable and the usual folders
	// of toolchains, nor what other processes left in the supervisor's folder. A
	// system that cannot do so refuses to start it.
	Sandbox            string   `json:"sandbox,omitempty"`
	Writable, Readable []string `json:",omitempty"`
}

// Limits bound the output that is kept of a process. All of it is read, so that it
// never blocks.
type Limits struct {
	Bytes int64 `json:"bytes"` // the last bytes kept on disk, at least; a quarter more at most. 5 MiB when 0, all when negative
	Lines int   `json:"lines"` // the most lines that Tail returns, 1,000 when 0
}

const (
	defaultKept      = 5 << 20
	defaultLines     = 1000
	defaultProcGrace = 5 * time.Second
	sandboxLandlock  = "landlock"
)

// completed returns s with its defaults and absolute paths, or what is wrong with it.
func (s ProcSpec) completed() (ProcSpec, error) {
	dir, err := filepath.Abs(s.Dir)
	if err != nil {
		return s, err
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return s, fault.New(fault.InvalidInput, "the working directory is not there").Because(err)
	}
	s.Dir = dir
	for _, part := range append(append([]string{s.Name}, s.Args...), s.Env...) {
		if strings.ContainsRune(part, 0) {
			return s, fault.New(fault.InvalidInput, "a NUL byte is in the command or its environment")
		}
	}
	if s.Sandbox != "" && s.Sandbox != sandboxLandlock {
		return s, fault.New(fault.InvalidInput, "the sandbox %q is not known", s.Sandbox)
	}
	if s.Grace <= 0 {
		s.Grace = defaultProcGrace
	}
	if s.Nice == 0 {
		s.Nice = Nice
	}
	switch {
	case s.Output.Bytes == 0:
		s.Output.Bytes = defaultKept
	case s.Output.Bytes < 0:
		s.Output.Bytes = math.MaxInt64
	}
	if s.Stdin != "" {
		if s.Stdin, err = filepath.Abs(s.Stdin); err != nil {
			return s, err
		}
	}
	if s.Output.Lines <= 0 {
		s.Output.Lines = defaultLines
	}
	return s, nil
}

// spec returns what starts the program, with the token that its descendants can be
// known by.
func (s ProcSpec) spec(token string) Spec {
	return Spec{Name: s.Name, Args: s.Args, Dir: s.Dir, Env: append(s.Env[:len(s.Env):len(s.Env)], tokenVariable+"="+token)}
}

// tokenVariable marks the environment of a supervised process and of all that it
// starts.
const tokenVariable = "GANTRY_PROCESS"
