package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var runID = regexp.MustCompile(`r_[0-9]{8}T[0-9]{6}Z_[a-z2-7]{12}`)

// TestCommandLine plays what is typed at a terminal. Beyond testscript's own, a
// script has
//
//	exits CODE PROGRAM ARGS…   runs a program, which must end with the code
//	repo DIR                   makes a git repository of a folder, with one commit
//	run VAR                    puts the first run id that was printed last into VAR
//	id VAR [MEMBER]            the same for a UUID, that of a member of JSON
func TestCommandLine(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			home := filepath.Join(e.WorkDir, "home")
			e.Setenv("PATH", filepath.Dir(binary)+string(os.PathListSeparator)+os.Getenv("PATH"))
			e.Setenv("HOME", home)
			e.Setenv("XDG_STATE_HOME", filepath.Join(home, "state"))
			for _, name := range []string{"GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"} {
				e.Setenv(name, "A")
			}
			for _, name := range []string{"GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"} {
				e.Setenv(name, "a@example.com")
			}
			e.Setenv("GIT_CONFIG_NOSYSTEM", "1")
			e.Defer(func() { endWorkers(t, e.WorkDir) })
			return os.MkdirAll(home, 0o755)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "repo": makeRepo, "run": firstRun, "id": firstID},
	})
}

func exits(ts *testscript.TestScript, neg bool, words []string) {
	if neg || len(words) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGS…")
	}
	want, err := strconv.Atoi(words[0])
	ts.Check(err)
	err = ts.Exec(words[1], words[2:]...)
	var exit *exec.ExitError
	switch got := 0; {
	case err != nil && !errors.As(err, &exit):
		ts.Fatalf("%v", err)
	case exit != nil:
		got = exit.ExitCode()
		fallthrough
	default:
		if got != want {
			ts.Fatalf("%s exits with %d, want %d", strings.Join(words[1:], " "), got, want)
		}
	}
}

func makeRepo(ts *testscript.TestScript, neg bool, words []string) {
	if neg || len(words) != 1 {
		ts.Fatalf("usage: repo DIR")
	}
	dir := ts.MkAbs(words[0])
	ts.Check(ts.Exec("git", "-C", dir, "init", "-q", "-b", "main"))
	ts.Check(ts.Exec("git", "-C", dir, "add", "-A"))
	ts.Check(ts.Exec("git", "-C", dir, "commit", "-q", "--allow-empty", "-m", "first"))
}

func firstRun(ts *testscript.TestScript, neg bool, words []string) {
	if neg || len(words) != 1 {
		ts.Fatalf("usage: run VAR")
	}
	id := runID.FindString(ts.ReadFile("stdout") + ts.ReadFile("stderr"))
	if id == "" {
		ts.Fatalf("no run id was printed")
	}
	ts.Setenv(words[0], id)
}

var uuid = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

func firstID(ts *testscript.TestScript, neg bool, words []string) {
	if neg || len(words) < 1 || len(words) > 2 {
		ts.Fatalf("usage: id VAR [MEMBER]")
	}
	printed := ts.ReadFile("stdout")
	if len(words) == 2 {
		_, printed, _ = strings.Cut(printed, `"`+words[1]+`": `)
	}
	id := uuid.FindString(printed)
	if id == "" {
		ts.Fatalf("no id was printed")
	}
	ts.Setenv(words[0], id)
}
