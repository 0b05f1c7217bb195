package proc

import (
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// The named pipes between the process and its shim. They have names so that the next
// shim can read on when one is killed, and the process holds their reading ends too, so
// that it waits for the next shim instead of dying of SIGPIPE.
const (
	outputPipe = "output.pipe"
	errorsPipe = "errors.pipe"
)

// sink takes one stream of the process: it reads the pipe into the row of files.
type sink struct {
	pipe    *os.File // the shim's end
	spool   *spool
	drained chan struct{}
}

// openSink opens the shim's end of a pipe in dir, and returns the process's.
func openSink(dir, pipe, folder string, keep int64) (k *sink, theirs *os.File, err error) {
	path := filepath.Join(dir, pipe)
	if err := unix.Mkfifo(path, 0o600); err != nil && err != unix.EEXIST {
		return nil, nil, err
	}
	k = &sink{drained: make(chan struct{})}
	if k.spool, err = openSpool(filepath.Join(dir, folder), keep); err != nil {
		return nil, nil, err
	}
	if k.pipe, err = os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0); err != nil {
		return nil, nil, err
	}
	growPipe(k.pipe)
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_CLOEXEC, 0) // blocking, for the process
	if err != nil {
		return nil, nil, err
	}
	return k, os.NewFile(uintptr(fd), pipe), nil
}

// theirStreams are the process's ends of its streams.
type theirStreams struct{ in, out, errs *os.File }

func (t theirStreams) close() {
	if t.errs == t.out {
		t.errs = nil
	}
	closeAll(t.in, t.out, t.errs)
}

// openOutput opens the shim's ends of the output and returns the process's.
func (s *shim) openOutput() (theirs theirStreams, err error) {
	k, out, err := openSink(s.dir, outputPipe, spoolFolder, s.rec.Output.Bytes)
	if err != nil {
		return theirs, err
	}
	s.sinks, theirs = append(s.sinks, k), theirStreams{out: out, errs: out}
	if !s.rec.ErrorsApart {
		return theirs, nil
	}
	if k, theirs.errs, err = openSink(s.dir, errorsPipe, errorsFolder, s.rec.Output.Bytes); err != nil {
		out.Close()
		return theirs, err
	}
	s.sinks = append(s.sinks, k)
	return theirs, nil
}

// drainOutput reads all output in the background.
func (s *shim) drainOutput() {
	for _, k := range s.sinks {
		go k.drain()
	}
}

// drain reads the pipe to its end.
func (k *sink) drain() {
	defer close(k.drained)
	buf := make([]byte, 64<<10)
	for {
		n, err := k.pipe.Read(buf)
		k.spool.Write(buf[:n])
		if err != nil && err != io.ErrNoProgress {
			return
		}
	}
}

// endOutput waits for the end of the output. Somebody who survived may hold it
// open, so it does not wait long.
func (s *shim) endOutput() {
	deadline := time.Now().Add(drainDelay)
	for _, k := range s.sinks {
		k.pipe.SetReadDeadline(deadline)
	}
	for _, k := range s.sinks {
		<-k.drained
		k.spool.Close()
	}
}
