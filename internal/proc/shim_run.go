package proc

import (
	"bufio"
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// ownerGrace is the grace when the owner is gone: the process is over within
	// two seconds of it.
	ownerGrace = time.Second
	// remainGrace is the grace for what a process leaves behind when it ends.
	remainGrace = time.Second
	// sweepPause is how often what is left is counted: of a process that is not the
	// shim's child no event tells the end.
	sweepPause = 5 * time.Millisecond
)

// supervise returns when the process itself is over, or cannot be killed.
func (s *shim) supervise() {
	var timeout <-chan time.Time
	if s.rec.Timeout > 0 {
		timeout = time.After(time.Until(s.rec.Started.Add(time.Duration(s.rec.Timeout))))
	}
	lasts := time.NewTicker(yieldAfter)
	defer lasts.Stop()
	for !s.exited {
		var kill <-chan time.Time
		if !s.killAt.IsZero() {
			kill = time.After(time.Until(s.killAt.Add(time.Duration(s.retried) * 100 * time.Millisecond)))
		}
		select {
		case <-s.child:
			s.reap()
		case <-s.gone:
			s.rec.lose("its supervisor was killed while it ran")
			s.exited = true
		case <-s.owner:
			s.owner = nil
			s.stop(ownerGrace, ByOwner)
		case grace := <-s.asked:
			s.stop(grace, ByRequest)
		case <-s.breaks:
			s.signalGroup(unix.SIGINT)
		case <-timeout:
			s.stop(time.Duration(s.rec.Grace), ByTimeout)
		case <-s.system:
			s.stop(ownerGrace, BySystem)
		case <-lasts.C:
			if s.yield() {
				lasts.Stop()
			}
		case <-kill:
			s.rec.Stopped = Killed
			s.signalAll(unix.SIGKILL)
			s.retried++
		}
	}
}

// stop asks the process to end, and sets the time of the kill if none is earlier.
func (s *shim) stop(grace time.Duration, why string) {
	at := time.Now().Add(grace)
	if s.killAt.IsZero() {
		s.rec.Stopped, s.rec.StoppedBy = Graceful, why
		s.signalGroup(unix.SIGTERM)
	}
	if s.killAt.IsZero() || at.Before(s.killAt) {
		s.killAt, s.retried = at, 0
	}
}

// reap takes the ends of all children: the process, and the descendants whose
// parents are gone.
func (s *shim) reap() {
	for {
		var ws unix.WaitStatus
		pid, err := unix.Wait4(-1, &ws, unix.WNOHANG, nil)
		switch {
		case err == unix.EINTR:
		case err != nil || pid <= 0:
			return
		case pid == s.rec.PID && s.gone == nil:
			s.rec.setExit(ws)
			s.exited = true
		}
	}
}

// finish ends what the process left behind and completes the record.
func (s *shim) finish() {
	left := s.tree()
	s.rec.Swept = len(left)
	if len(left) > 0 && s.killAt.IsZero() {
		s.killAt = time.Now().Add(remainGrace)
		s.signalAll(unix.SIGTERM)
	}
	tick := time.NewTicker(sweepPause)
	defer tick.Stop()
	for len(left) > 0 {
		select {
		case <-s.breaks: // what is left ends anyway
		case grace := <-s.asked:
			s.killAt = earlier(s.killAt, time.Now().Add(grace))
		case <-s.owner:
			s.owner = nil
			s.killAt = earlier(s.killAt, time.Now().Add(ownerGrace))
		case <-tick.C:
		}
		if now := time.Now(); now.After(s.killAt.Add(killPatience)) {
			s.rec.Stopped = Unkilled
			break
		} else if now.After(s.killAt) {
			s.signalAll(unix.SIGKILL)
		}
		s.reap()
		left = s.tree()
	}
	s.endOutput()
	removeCgroup(s.rec.Cgroup)
	s.removePipes()
}

// removePipes removes the named pipes: nobody who copies the folder should wait for
// them.
func (s *shim) removePipes() {
	for _, pipe := range []string{outputPipe, errorsPipe, controlFile} {
		os.Remove(filepath.Join(s.dir, pipe))
	}
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// awaitOrphan waits for the end of a process that is not the shim's child.
func (s *shim) awaitOrphan() {
	awaitEnd(context.Background(), s.rec.Process)
	close(s.gone)
}

// readControl passes on the requests to stop.
func (s *shim) readControl(control *os.File) {
	lines := bufio.NewScanner(control)
	for lines.Scan() {
		if grace, ok := graceOf(lines.Text()); ok {
			s.asked <- grace
		} else if lines.Text()+"\n" == interruptLine {
			s.breaks <- struct{}{}
		}
	}
}

// signalGroup signals the process's group. Somebody stopped by SIGSTOP must go on to
// hear it.
func (s *shim) signalGroup(sig unix.Signal) {
	if s.gone != nil && !s.rec.Process.alive() {
		return
	}
	unix.Kill(-s.rec.PID, sig)
	unix.Kill(-s.rec.PID, unix.SIGCONT)
}

// signalAll signals the process and all its descendants, by their groups: a group
// cannot outrun a signal by forking.
func (s *shim) signalAll(sig unix.Signal) {
	if sig == unix.SIGKILL {
		killCgroup(s.rec.Cgroup)
	}
	if !s.exited {
		s.signalGroup(sig)
	}
	own, done := unix.Getpgrp(), map[int]bool{}
	for _, m := range s.tree() {
		switch {
		case m.group == own || m.group <= 1:
			unix.Kill(m.pid, sig)
		case !done[m.group]:
			done[m.group] = true
			unix.Kill(-m.group, sig)
			unix.Kill(-m.group, unix.SIGCONT)
		}
	}
}

// rootCause returns the innermost error: without paths.
func rootCause(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}
