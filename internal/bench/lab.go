package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gantry-run/gantry/internal/bench/probe"
)

// lab is what the measures share: the two programs, and a folder for everything that
// comes into being. The programs get an environment without the user's own settings.
type lab struct {
	settings
	dir    string
	env    []string
	home   []string // env with a home of its own
	gantry string
	bare   string
	say    io.Writer

	filled  string // state directory with many finished runs, once it was asked for
	example *example
}

// newLab builds the programs.
func newLab(ctx context.Context, s settings, environ []string, say io.Writer) (*lab, error) {
	dir, err := os.MkdirTemp("", "gantry-bench-")
	if err != nil {
		return nil, err
	}
	home := slices.DeleteFunc(slices.Clone(environ), func(v string) bool {
		return strings.HasPrefix(v, "XDG_") || strings.HasPrefix(v, "HOME=") || strings.HasPrefix(v, "GODEBUG=")
	})
	l := &lab{
		settings: s, dir: dir, env: environ, say: say,
		home:   append(home, "HOME="+dir, "GIT_CONFIG_NOSYSTEM=1"),
		gantry: filepath.Join(dir, "gantry"), bare: filepath.Join(dir, "bare"),
	}
	fmt.Fprintln(say, "building")
	for program, pkg := range map[string]string{l.gantry: "./cmd/gantry", l.bare: "./internal/bench/bare"} {
		args := []string{"build", "-trimpath", "-ldflags", "-s -w", "-o", program, pkg}
		if _, _, err := probe.Execute(ctx, s.repo, append(slices.Clone(environ), "CGO_ENABLED=0"), "go", args...); err != nil {
			return nil, errors.Join(err, l.close())
		}
	}
	return l, nil
}

func (l *lab) close() error { return os.RemoveAll(l.dir) }

// folder makes a folder of that name.
func (l *lab) folder(name string) (string, error) {
	dir := filepath.Join(l.dir, name)
	return dir, os.MkdirAll(dir, 0o700)
}

// serve starts our server on a state directory. No call is refused for being too many.
func (l *lab) serve(ctx context.Context, state string) (*probe.Client, error) {
	return l.start(ctx, l.gantry, "mcp", "--rate-limit", "0", "--all-roots", "--no-worker", "--root", l.dir, "--state-dir", state)
}

// serveBare starts the server to compare with, whose tool answers what is in the file.
func (l *lab) serveBare(ctx context.Context, result string) (*probe.Client, error) {
	return l.start(ctx, l.bare, "--result", result)
}

// protocol is the revision that is spoken.
const protocol = "2025-11-25"

func (l *lab) start(ctx context.Context, argv ...string) (*probe.Client, error) {
	t, err := probe.Stdio(argv, l.home, "", nil)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	return probe.Open(ctx, t, protocol)
}
