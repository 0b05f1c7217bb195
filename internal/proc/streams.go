package proc

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// drainDelay is how long output is awaited from a process that left the group
	// and still holds the pipe.
	drainDelay = time.Second
	// pipeCapacity is the most that a pipe can hold, unless root made it larger.
	pipeCapacity = 1 << 20
)

// streams are our ends of a process's standard streams.
type streams struct {
	in             *os.File // nil when there is no input
	out, errs      *os.File
	theirs         []*os.File // the process's ends
	stdout, stderr keeper
	ended          atomic.Bool   // the process is over
	done           chan struct{} // one element for each stream read to its end
}

func openStreams(cmd *exec.Cmd, s Spec) (*streams, error) {
	limit := s.MaxOutput
	if limit == 0 {
		limit = defaultOutput
	}
	st := &streams{done: make(chan struct{}, 2)}
	st.stdout = keeper{limit: limit, to: s.Stdout}
	st.stderr = keeper{limit: limit}
	var err error
	pipe := func() (r, w *os.File) {
		if err == nil {
			r, w, err = os.Pipe()
		}
		return r, w
	}
	var in, out, errs *os.File
	if len(s.Stdin) > 0 {
		in, st.in = pipe()
		cmd.Stdin = in
	}
	st.out, out = pipe()
	st.errs, errs = pipe()
	cmd.Stdout, cmd.Stderr = out, errs
	st.theirs = []*os.File{in, out, errs}
	if err != nil {
		st.close()
	}
	return st, err
}

// serve writes the input and reads the output in the background.
func (st *streams) serve(input []byte) {
	closeAll(st.theirs...)
	if st.in != nil {
		go func() {
			st.in.Write(input) // a process need not read all of it
			st.in.Close()
		}()
	}
	go st.read(st.out, &st.stdout)
	go st.read(st.errs, &st.stderr)
}

// read reads to the end of the pipe. A process that left the group may hold the pipe
// open, so after the end only what can be in it is read, and not waited for long.
func (st *streams) read(from *os.File, to *keeper) {
	defer func() { st.done <- struct{}{} }()
	buf := make([]byte, 32<<10)
	for left := pipeCapacity; left > 0; {
		ended := st.ended.Load()
		if ended {
			from.SetReadDeadline(time.Now().Add(drainDelay))
		}
		n, err := from.Read(buf)
		to.Write(buf[:n])
		if err != nil && !(errors.Is(err, os.ErrDeadlineExceeded) && !ended) {
			return
		}
		if ended {
			left -= n
		}
	}
}

// drain reads what the process has left in the pipes and returns the error of the
// caller's writer.
func (st *streams) drain() error {
	for _, f := range []*os.File{st.out, st.errs} {
		f.SetReadDeadline(time.Now()) // wakes the reader
	}
	st.ended.Store(true) // from here on the reader sets the deadline
	<-st.done
	<-st.done
	return st.stdout.failed
}

func (st *streams) result(state *os.ProcessState) Result {
	r := Result{
		Exit:   state.ExitCode(),
		Stdout: st.stdout.kept.Bytes(), StdoutTruncated: st.stdout.truncated,
		Stderr: st.stderr.kept.Bytes(), StderrTruncated: st.stderr.truncated,
	}
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		r.Signal = unix.SignalName(ws.Signal())
	}
	return r
}

func (st *streams) close() {
	closeAll(st.theirs...)
	closeAll(st.in, st.out, st.errs)
}

// closeAll closes files that may be nil or closed already.
func closeAll(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
}

// keeper takes everything that is written: the first bytes are kept, or all are
// passed on.
type keeper struct {
	limit     int
	kept      bytes.Buffer
	truncated bool
	to        io.Writer
	failed    error // of to
}

func (k *keeper) Write(b []byte) (int, error) {
	if k.to != nil {
		if k.failed == nil {
			_, k.failed = k.to.Write(b)
		}
		return len(b), nil
	}
	room := k.limit - k.kept.Len()
	if len(b) > room {
		k.truncated = true
	}
	k.kept.Write(b[:min(room, len(b))])
	return len(b), nil
}
