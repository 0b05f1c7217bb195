package proc

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
)

// Ensure returns the process of the key, and starts it if there never was one. It
// returns when the process runs, or has ended already.
//
// However often it is called, from whatever processes, and whatever of them is
// killed at whatever moment, no second process is started for a key, until
// [Supervisor.Collect] forgets it. The spec counts only when the process is
// started. A process that could not be started never ran: that is an error, and
// the next call tries again. A program that is not installed is a TOOLCHAIN_MISSING
// fault.
//
// An orphan is adopted: it gets a new shim. When ctx ends early, the process may
// be there or not; call again to know.
func (s *Supervisor) Ensure(ctx context.Context, key string, spec ProcSpec) (Status, error) {
	dir, err := s.folder(key)
	if err != nil {
		return Status{}, err
	}
	for tick := newBackoff(); ; {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return Status{}, err
		}
		lock, err := tryLock(filepath.Join(dir, lockFile))
		if err != nil && !os.IsNotExist(err) { // collected at this moment
			return Status{}, err
		}
		if lock != nil {
			return s.settle(ctx, lock, dir, key, spec)
		}
		r, err := readRecord(dir)
		if err != nil || r.State != "" && r.State != Starting && r.State != Failed {
			return r.Status, err
		}
		if err := tick.wait(ctx); err != nil {
			return r.Status, err
		}
	}
}

// settle decides about a process whose lock this process holds: nobody else starts,
// adopts or removes it meanwhile. The lock is closed, or passed on to a shim.
func (s *Supervisor) settle(ctx context.Context, lock *os.File, dir, key string, spec ProcSpec) (Status, error) {
	defer lock.Close()
	r, err := readRecord(dir)
	if err != nil {
		return Status{}, err
	}
	if r.State == "" || r.State == Failed {
		return s.begin(ctx, lock, dir, key, spec)
	}
	return s.adopt(ctx, lock, dir)
}

// begin starts a shim that starts the process.
func (s *Supervisor) begin(ctx context.Context, lock *os.File, dir, key string, spec ProcSpec) (Status, error) {
	spec, err := spec.completed()
	if err != nil {
		return Status{}, err
	}
	token := rand.Text()
	if _, err := spec.spec(token).command(); err != nil {
		return Status{}, err
	}
	owner := ""
	if !spec.Keep {
		if owner, err = s.ownerLock(); err != nil {
			return Status{}, err
		}
	}
	q := request{Key: key, Spec: spec, Env: spec.Env, Owner: owner, Token: token, Home: s.home, State: s.dir}
	if err := startShim(ctx, lock, dir, q); err != nil {
		return Status{}, err
	}
	r, err := look(dir)
	switch {
	case err != nil:
		return Status{}, err
	case r.State == "":
		return Status{}, shimFailed(dir)
	case r.State == Failed:
		return r.Status, fault.New(fault.Code(r.Code), "%s", r.Reason)
	}
	return r.Status, nil
}

// adopt gives an orphan a new shim; what is not an orphan is recorded as it is.
func (s *Supervisor) adopt(ctx context.Context, lock *os.File, dir string) (Status, error) {
	r, err := readRecord(dir)
	if err != nil {
		return Status{}, err
	}
	before := r.State
	r.judge()
	if r.State != before {
		if err := r.write(dir); err != nil {
			return r.Status, err
		}
	}
	if r.State != Orphan {
		removeCgroup(r.Cgroup)
		return r.Status, nil
	}
	if err := startShim(ctx, lock, dir, request{Adopt: true}); err != nil {
		return r.Status, err
	}
	r, err = look(dir)
	return r.Status, err
}

// shimFailed says why a shim ended before it wrote anything.
func shimFailed(dir string) error {
	said, err := os.ReadFile(filepath.Join(dir, shimLog))
	if err == nil {
		err = &shimError{string(said[max(0, len(said)-4096):])}
	}
	return fault.Retry(fault.ProcessFailed, "the process's supervisor did not come up").Because(err)
}

type shimError struct{ said string }

func (e *shimError) Error() string { return "shim: " + e.said }

// startShim starts a shim that inherits the lock, hands it the request and waits
// until it has written a status.
func startShim(ctx context.Context, lock *os.File, dir string, q request) error {
	self, err := ownProgram()
	if err != nil {
		return err
	}
	log, err := os.OpenFile(filepath.Join(dir, shimLog), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	theirIn, in, err := os.Pipe()
	if err != nil {
		return err
	}
	defer closeAll(theirIn, in)
	ready, theirReady, err := os.Pipe()
	if err != nil {
		return err
	}
	defer closeAll(ready, theirReady)
	cmd := &exec.Cmd{
		Path: self, Args: []string{"gantry", ShimCommand, dir}, Dir: "/", Env: []string{},
		Stdin: theirIn, Stdout: theirReady, Stderr: log, ExtraFiles: []*os.File{lock},
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	if err := cmd.Start(); err != nil {
		return fault.Retry(fault.ProcessFailed, "the process's supervisor cannot be started").Because(err)
	}
	go reap(cmd)
	closeAll(theirIn, theirReady)
	return handOver(ctx, in, ready, q)
}

// handOver writes the request and waits for the end of the reply. A shim that is
// gone meanwhile is no error here: its status tells.
func handOver(ctx context.Context, in, ready *os.File, q request) error {
	stop := context.AfterFunc(ctx, func() {
		in.SetDeadline(time.Now())
		ready.SetDeadline(time.Now())
	})
	defer stop()
	b, err := json.Marshal(q)
	if err != nil {
		return err
	}
	in.Write(b)
	in.Close()
	io.Copy(io.Discard, ready)
	return ctx.Err()
}

// reap takes note of the end of a shim that this process started, without a
// thread that waits.
func reap(cmd *exec.Cmd) {
	awaitEnd(context.Background(), identify(cmd.Process.Pid))
	cmd.Process.Wait()
}
