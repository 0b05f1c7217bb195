package proc

import (
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// outputPipe is the named pipe between the process and its shim. It has a name so
// that the next shim can read on when one is killed, and the process holds its
// reading end too, so that it waits for the next shim instead of dying of SIGPIPE.
const outputPipe = "output.pipe"

// openOutput opens the shim's end of the output and returns the process's.
func (s *shim) openOutput() (theirs *os.File, err error) {
	path := filepath.Join(s.dir, outputPipe)
	if err := unix.Mkfifo(path, 0o600); err != nil && err != unix.EEXIST {
		return nil, err
	}
	if s.spool, err = openSpool(filepath.Join(s.dir, spoolFolder), s.rec.Output.Bytes); err != nil {
		return nil, err
	}
	if s.output, err = os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0); err != nil {
		return nil, err
	}
	growPipe(s.output)
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_CLOEXEC, 0) // blocking, for the process
	if err != nil {
		return nil, err
	}
	s.drained = make(chan struct{})
	return os.NewFile(uintptr(fd), outputPipe), nil
}

// drain reads the output to its end.
func (s *shim) drain() {
	defer close(s.drained)
	buf := make([]byte, 64<<10)
	for {
		n, err := s.output.Read(buf)
		s.spool.Write(buf[:n])
		if err != nil && err != io.ErrNoProgress {
			return
		}
	}
}

// endOutput waits for the end of the output. Somebody who survived may hold it
// open, so it does not wait long.
func (s *shim) endOutput() {
	s.output.SetReadDeadline(time.Now().Add(drainDelay))
	<-s.drained
	s.spool.Close()
}
