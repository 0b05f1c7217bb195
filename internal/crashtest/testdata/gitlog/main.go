// Gitlog is git for the tests of crashes: it runs the next git in PATH and writes to
// the file $GITLOG when it began and ended, on which run, for which process.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

func main() {
	self, err := os.Executable()
	if err != nil {
		fail(err)
	}
	rest := strings.TrimPrefix(os.Getenv("PATH"), filepath.Dir(self)+string(os.PathListSeparator))
	os.Setenv("PATH", rest)
	real, err := exec.LookPath("git")
	if err != nil {
		fail(err)
	}
	note("begin")
	cmd := exec.Command(real, os.Args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.ExtraFiles = inherited()
	signal.Notify(make(chan os.Signal, 8), syscall.SIGTERM) // git gets it too, and is waited for
	err = cmd.Run()
	note("end")
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		os.Exit(exit.ExitCode())
	case err != nil:
		fail(err)
	}
}

// inherited returns the files that the caller has left open for git.
func inherited() []*os.File {
	var out []*os.File
	for fd := uintptr(3); fd < 10; fd++ {
		var st syscall.Stat_t
		if syscall.Fstat(int(fd), &st) != nil || st.Mode&syscall.S_IFMT != syscall.S_IFREG {
			break
		}
		out = append(out, os.NewFile(fd, "inherited"))
	}
	return out
}

// note writes a line: what, run, parent, process, nanoseconds.
func note(what string) {
	dir, err := os.Getwd()
	run := ""
	if _, below, ok := strings.Cut(dir, "/runs/"); ok && err == nil {
		run, _, _ = strings.Cut(below, "/")
	}
	if log := os.Getenv("GITLOG"); log != "" && run != "" {
		f, err := os.OpenFile(log, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
		if err != nil {
			fail(err)
		}
		fmt.Fprintf(f, "%s %s %d %d %d %s\n", what, run, parent, os.Getpid(), time.Now().UnixNano(), name())
		f.Close()
	}
}

// parent is read before the parent can die.
var parent = os.Getppid()

func name() string {
	for i := 1; i < len(os.Args); i++ {
		if os.Args[i] == "-c" {
			i++
			continue
		}
		if !strings.HasPrefix(os.Args[i], "-") {
			return os.Args[i]
		}
	}
	return "-"
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "gitlog:", err)
	os.Exit(1)
}
