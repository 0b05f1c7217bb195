package proc

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gantry-run/gantry/internal/proc/proctest"
)

// TestMain lets the test binary be what the program is in life: a shim, or a server
// that starts a process and can be killed.
func TestMain(m *testing.M) {
	if IsShim(os.Args) {
		os.Exit(Shim(os.Args))
	}
	if len(os.Args) > 1 && os.Args[1] == "__server" {
		os.Exit(serve())
	}
	// Whatever of these tests survives them has the mark in its environment.
	mark := "GANTRY_TEST=" + strconv.Itoa(os.Getpid())
	testEnv = append(testEnv, mark)
	code := m.Run()
	if left := proctest.Marked(mark); len(left) > 0 {
		fmt.Fprintln(os.Stderr, "processes survive the tests:", left)
		code = 1
	}
	os.Exit(code)
}

// order is what a test server reads: the process to ensure.
type order struct {
	Dir, Key string
	Spec     ProcSpec
	Env      []string
}

// serve is the test server: it ensures a process, prints its status and waits to be
// killed.
func serve() int {
	var o order
	if err := json.NewDecoder(os.Stdin).Decode(&o); err != nil {
		return 1
	}
	o.Spec.Env = o.Env
	s, _ := NewSupervisor(SupervisorOptions{Dir: o.Dir})
	st, err := s.Ensure(context.Background(), o.Key, o.Spec)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	json.NewEncoder(os.Stdout).Encode(st)
	<-time.After(time.Hour) // it is killed before
	return 1
}

// server starts a test server in its own process and returns how to kill it, and
// the status that it gave.
func server(t *testing.T, dir, key string, spec ProcSpec) (kill func(), st Status) {
	t.Helper()
	cmd, out := startServer(t, dir, key, spec)
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &st)
	}
	if err != nil {
		t.Fatal("the server: ", err)
	}
	return func() { cmd.Process.Kill(); cmd.Wait() }, st
}

func startServer(t testing.TB, dir, key string, spec ProcSpec) (*exec.Cmd, *os.File) {
	t.Helper()
	b, err := json.Marshal(order{dir, key, spec, spec.Env})
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "__server")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(string(b)), w, os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	t.Cleanup(func() { r.Close(); cmd.Process.Kill(); cmd.Wait() })
	return cmd, r
}

// supervisor returns a supervisor on a new folder. After the test nothing that it
// or another one on the folder started may live.
func supervisor(t testing.TB) *Supervisor {
	t.Helper()
	return supervisorAt(t, filepath.Join(t.TempDir(), "procs"))
}

func supervisorAt(t testing.TB, dir string) *Supervisor {
	t.Helper()
	s, err := NewSupervisor(SupervisorOptions{Dir: dir, Home: "/nonexistent"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		all, _ := s.List()
		for _, st := range all {
			if _, err := s.Stop(context.Background(), st.Key, time.Nanosecond); err != nil {
				t.Error(err)
			}
		}
		s.Close()
		shimsGone(t, dir)
	})
	return s
}

// shimsGone waits until no shim of the folder lives.
func shimsGone(t testing.TB, dir string) {
	until(t, "shims live in "+dir, func() bool {
		lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, path := range lines {
			if b, _ := os.ReadFile(path); strings.Contains(string(b), ShimCommand+"\x00"+dir) {
				return false
			}
		}
		return true
	})
}

// until waits for a fact that no event tells of.
func until(t testing.TB, complaint string, fact func() bool) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !fact() {
		if <-tick.C; time.Now().After(deadline) {
			t.Fatal(complaint)
		}
	}
}

func script(text string) ProcSpec {
	return ProcSpec{Name: "sh", Args: []string{"-c", text}, Env: testEnv, Dir: "/"}
}

func ensure(t testing.TB, s *Supervisor, key string, spec ProcSpec) Status {
	t.Helper()
	st, err := s.Ensure(t.Context(), key, spec)
	if err != nil {
		t.Fatalf("ensure %s: %v %v", key, err, errors.Unwrap(err))
	}
	return st
}

func ended(t testing.TB, s *Supervisor, key string) Status {
	t.Helper()
	st, err := s.Wait(t.Context(), key)
	if err != nil {
		t.Fatalf("wait %s: %v", key, err)
	}
	return st
}

// shimOf returns the pid of a process's shim.
func shimOf(t testing.TB, s *Supervisor, key string) int {
	t.Helper()
	dir, err := s.folder(key)
	if err != nil {
		t.Fatal(err)
	}
	r, err := readRecord(dir)
	if err != nil || r.Shim.PID == 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	return r.Shim.PID
}

// killShim kills the shim of a process and returns when it is gone.
func killShim(t testing.TB, s *Supervisor, key string) {
	t.Helper()
	dir, _ := s.folder(key)
	syscall.Kill(shimOf(t, s, key), syscall.SIGKILL)
	until(t, "the shim lives", func() bool { h, err := held(filepath.Join(dir, lockFile)); return !h && err == nil })
}

// written waits until a process has written a number to a file.
func written(t testing.TB, path string) int {
	t.Helper()
	n := 0
	until(t, "nothing in "+path, func() bool {
		b, _ := os.ReadFile(path)
		line, ended := strings.CutSuffix(string(b), "\n")
		n, _ = strconv.Atoi(line)
		return ended && n > 0
	})
	return n
}
