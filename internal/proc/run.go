package proc

import (
	"context"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
)

// Spec says what to run and within which bounds.
type Spec struct {
	Name string   // a path, relative to Dir if not absolute, or a name to look up in the PATH of Env
	Args []string // without the program itself
	Dir  string   // working directory; empty for this process's own
	Env  []string // the complete environment as NAME=value

	Stdin     []byte        // empty: /dev/null
	Stdout    io.Writer     // if set, standard output goes here as it comes and is not kept
	MaxOutput int           // bytes kept of each stream, 8 MiB when 0
	Timeout   time.Duration // none when 0
	Grace     time.Duration // from the request to stop to the kill, 2 s when 0

	Lease *Lease // if set, the program shares it
}

// Result is how a process ended.
type Result struct {
	Exit            int    // exit code, -1 when a signal ended it
	Signal          string // such as SIGKILL, empty when it exited
	Stdout          []byte // the first bytes, up to MaxOutput
	Stderr          []byte
	StdoutTruncated bool // there was more
	StderrTruncated bool
	Duration        time.Duration
}

const (
	defaultOutput = 8 << 20
	defaultGrace  = 2 * time.Second
)

// OK reports whether the process exited with code 0.
func (r Result) OK() bool { return r.Exit == 0 && r.Signal == "" }

// Err returns nil when the process exited with code 0, else a PROCESS_FAILED fault
// that calls the process name.
func (r Result) Err(name string) error {
	switch {
	case r.OK():
		return nil
	case r.Signal != "":
		return fault.New(fault.ProcessFailed, "%s was ended by %s", name, r.Signal)
	}
	return fault.New(fault.ProcessFailed, "%s exited with code %d", name, r.Exit)
}

// Run runs a program in a process group of its own and returns when it and its
// output are over. An exit code other than 0 is a result, not an error.
//
// When ctx ends or the timeout passes, the group is asked to stop (SIGTERM) and
// killed after the grace; the error is then ctx.Err(), or context.DeadlineExceeded
// for the timeout, and the result holds what there was until then. When the program
// is over, what is left of the group is killed. A program that is not installed is a
// TOOLCHAIN_MISSING fault.
func Run(ctx context.Context, s Spec) (Result, error) {
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	cmd, err := s.command()
	if err != nil {
		return Result{}, err
	}
	cmd.SysProcAttr.Setpgid = true
	if s.Lease != nil {
		cmd.ExtraFiles = []*os.File{s.Lease.file}
	}
	st, err := openStreams(cmd, s)
	if err != nil {
		return Result{}, err
	}
	defer st.close()
	began := time.Now()
	if err := start(cmd); err != nil {
		return Result{}, err
	}
	st.serve(s.Stdin)
	state, stopped, err := await(ctx, cmd, s)
	// The group may be empty by now, but its number cannot belong to others yet:
	// the kernel gives numbers out in turn.
	syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	outputErr := st.drain()
	if err != nil {
		return Result{}, err
	}
	result := st.result(state)
	result.Duration = time.Since(began)
	if stopped != nil {
		return result, stopped
	}
	return result, outputErr
}

// await returns how the process ended, and in stopped why it was made to end.
func await(ctx context.Context, cmd *exec.Cmd, s Spec) (state *os.ProcessState, stopped, err error) {
	if s.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.Timeout)
		defer cancel()
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		state, err = cmd.Process.Wait()
	}()
	select {
	case <-ended:
		return state, nil, err
	case <-ctx.Done():
	}
	grace := s.Grace
	if grace == 0 {
		grace = defaultGrace
	}
	syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		<-ended
	}
	return state, ctx.Err(), err
}
