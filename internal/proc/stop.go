package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// controlFile is the pipe on which a shim is asked to stop its process.
const controlFile = "control"

// killPatience is how long a kill may take. After it, what still lives is reported.
const killPatience = 3 * time.Second

// Stop ends the process and all that it started: SIGTERM to its group, SIGKILL to
// all of its descendants when the grace has passed, 0 for the spec's own. It
// returns when nothing is left, and how it went in [Status.Stopped]: Graceful,
// Killed, or Unkilled if something survives. That is empty when the process had
// ended by itself. It works from any process, and may be called again, also
// meanwhile: the shorter grace counts.
func (s *Supervisor) Stop(ctx context.Context, key string, grace time.Duration) (Status, error) {
	dir, err := s.folder(key)
	if err != nil {
		return Status{}, err
	}
	r, err := look(dir)
	if err != nil {
		return r.Status, err
	}
	if grace <= 0 {
		grace = time.Duration(r.Grace)
	}
	bound, cancel := context.WithTimeout(ctx, grace+2*killPatience) // longer than a kill takes
	defer cancel()
	for tick := newBackoff(); err == nil; r, err = look(dir) {
		switch {
		case r.State == "":
			return r.Status, ErrNoProcess
		case r.State.Ended():
			return r.Status, nil
		}
		err := s.stopOnce(bound, dir, r, grace, tick)
		switch {
		case err == nil:
		case bound.Err() != nil && ctx.Err() == nil:
			r.Stopped = Unkilled
			return r.Status, nil
		default:
			return r.Status, err
		}
	}
	return r.Status, err
}

// Interrupt asks the process to break off what it does: SIGINT to its group, and nothing
// more. It does not wait, and is no error for a process that has ended or is an orphan.
// It works from any process.
func (s *Supervisor) Interrupt(key string) error {
	dir, err := s.folder(key)
	if err != nil {
		return err
	}
	_, err = tell(dir, interruptLine)
	return err
}

// stopOnce asks the shim to stop its process, and returns when the shim is gone: the
// process is over, or it is an orphan, to be tried again.
func (s *Supervisor) stopOnce(ctx context.Context, dir string, r record, grace time.Duration, tick *backoff) error {
	if r.State == Orphan {
		if err := s.takeOver(ctx, dir); err != nil {
			return err
		}
	}
	heard, err := ask(dir, grace)
	if err != nil {
		return err
	}
	if now, err := readRecord(dir); heard && err == nil && now.Shim.alive() {
		return awaitEnd(ctx, now.Shim)
	}
	return tick.wait(ctx)
}

// takeOver gives an orphan a shim, unless it got one meanwhile.
func (s *Supervisor) takeOver(ctx context.Context, dir string) error {
	lock, err := tryLock(filepath.Join(dir, lockFile))
	if err != nil || lock == nil {
		return err
	}
	defer lock.Close()
	_, err = s.adopt(ctx, lock, dir)
	return err
}

// ask tells the shim to stop its process. It returns false when no shim listens.
func ask(dir string, grace time.Duration) (bool, error) {
	return tell(dir, fmt.Sprintf("stop %d\n", grace.Nanoseconds()))
}

// interruptLine asks a shim for an interrupt.
const interruptLine = "interrupt\n"

// tell writes a line that a shim reads. It returns false when no shim listens.
func tell(dir, line string) (bool, error) {
	f, err := os.OpenFile(filepath.Join(dir, controlFile), os.O_WRONLY|unix.O_NONBLOCK, 0)
	if errors.Is(err, unix.ENXIO) || errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	_, err = f.WriteString(line)
	if errors.Is(err, unix.EPIPE) {
		return false, nil
	}
	return err == nil, err
}

// graceOf reads what [ask] wrote.
func graceOf(line string) (time.Duration, bool) {
	var ns int64
	n, err := fmt.Sscanf(strings.TrimSpace(line), "stop %d", &ns)
	return time.Duration(ns), n == 1 && err == nil && ns >= 0
}
