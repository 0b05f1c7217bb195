package proc

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

var errTaken = errors.New("it is taken")

// taken reports whether the lease is somebody else's.
func taken(t *testing.T, path string, shared bool) bool {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), 30*time.Millisecond, errTaken)
	defer cancel()
	l, err := TakeLease(ctx, path, shared)
	if errors.Is(err, errTaken) {
		return true
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Release(); err != nil {
		t.Error(err)
	}
	return false
}

func TestALeaseLastsAsLongAsTheProgramsThatShareIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lease")
	lease, err := TakeLease(t.Context(), path, false)
	if err != nil {
		t.Fatal(err)
	}
	if !taken(t, path, false) || !taken(t, path, true) {
		t.Error("two have the lease")
	}
	fifo := filepath.Join(t.TempDir(), "go-on")
	ended := make(chan error, 1)
	running := make(chan struct{})
	go func() {
		_, err := Run(t.Context(), Spec{Name: "/bin/sh", Args: []string{"-c", "mkfifo " + fifo + " && echo x && read x <" + fifo},
			Env: os.Environ(), Lease: lease, Stdout: signalling{running}})
		ended <- err
	}()
	<-running
	lease.file.Close() // as death does
	if !taken(t, path, false) {
		t.Error("the lease is free while a program shares it")
	}
	if err := os.WriteFile(fifo, []byte("x\n"), 0); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if taken(t, path, false) {
		t.Error("the lease is not free, and nobody is there")
	}
}

// signalling is closed by the first write.
type signalling struct{ c chan struct{} }

func (s signalling) Write(p []byte) (int, error) {
	if len(p) > 0 {
		close(s.c)
	}
	return len(p), nil
}

func TestALeaseCanBeShared(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lease")
	lease, err := TakeLease(t.Context(), path, true)
	if err != nil {
		t.Fatal(err)
	}
	if taken(t, path, true) {
		t.Error("it is not shared")
	}
	if !taken(t, path, false) {
		t.Error("somebody has it alone although it is shared")
	}
	if err := lease.Release(); err != nil {
		t.Error(err)
	}
	if taken(t, path, false) {
		t.Error("it was given back and is not free")
	}
}
