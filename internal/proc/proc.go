// Package proc starts other programs and sees to their end. No other package
// does.
//
// [Run] is for short ones: git, a compiler, a linter. It holds what such a program
// may take: its output is kept up to a bound and read on past it, so that the
// program never blocks; its time ends with the context or a timeout; and when it
// is over, in whatever way, nothing that it started in its process group lives on.
//
// [StartDetached] is for a program that outlives this one.
//
// Nothing is inherited in silence. The environment is exactly what the caller
// gives, programs are looked up in that environment's PATH, standard input is
// empty unless given, and arguments are an argv, never a shell's line.
package proc

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/gantry-run/gantry/internal/fault"
)

// LookPath returns the executable that name means: itself when it holds a slash,
// else the first in the PATH of env. Folders of PATH that are empty or relative are
// passed over. A program that is not there is a TOOLCHAIN_MISSING fault.
func LookPath(name string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		if !executable(name) {
			return "", missing(name)
		}
		return name, nil
	}
	for _, dir := range filepath.SplitList(Getenv(env, "PATH")) {
		path := filepath.Join(dir, name)
		if name != "" && filepath.IsAbs(dir) && executable(path) {
			return path, nil
		}
	}
	return "", missing(name)
}

// Getenv returns the value of a variable in env, a list of NAME=value, empty when
// it is not set. The last one counts, as it does for a process.
func Getenv(env []string, name string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if k, v, ok := strings.Cut(env[i], "="); ok && k == name {
			return v
		}
	}
	return ""
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && unix.Access(path, unix.X_OK) == nil
}

func missing(name string) *fault.Fault {
	name = filepath.Base(name)
	return fault.New(fault.ToolchainMissing, "the program %s is not installed", name).
		WithHint("install %s, or add its folder to the PATH of the server", name)
}

// command prepares the program of s without its streams.
func (s Spec) command() (*exec.Cmd, error) {
	name := s.Name
	if s.Dir != "" && strings.Contains(name, "/") && !filepath.IsAbs(name) {
		name = filepath.Join(s.Dir, name)
	}
	path, err := LookPath(name, s.Env)
	if err != nil {
		return nil, err
	}
	return &exec.Cmd{
		Path:        path,
		Args:        append([]string{s.Name}, s.Args...),
		Dir:         s.Dir,
		Env:         append([]string{}, s.Env...), // never nil, which would inherit ours
		SysProcAttr: &syscall.SysProcAttr{},
	}, nil
}

// start starts cmd. A script whose interpreter is missing is a missing program.
func start(cmd *exec.Cmd) error {
	err := cmd.Start()
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if info, dirErr := os.Stat(cmd.Dir); cmd.Dir != "" && (dirErr != nil || !info.IsDir()) {
		return err
	}
	return missing(cmd.Path).Because(err)
}
