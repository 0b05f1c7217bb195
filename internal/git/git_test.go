package git

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gantry-run/gantry/internal/proc"
)

// world is a machine for one test: a home of its own, and git as a person uses it.
type world struct {
	t    *testing.T
	home string
	env  []string
	git  *Git
}

func newWorld(t *testing.T, extraEnv ...string) *world {
	t.Helper()
	w := &world{t: t, home: t.TempDir()}
	w.env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + w.home, "XDG_CONFIG_HOME=" + w.home + "/.config", "GIT_CONFIG_NOSYSTEM=1",
	}, extraEnv...)
	g, err := New(Options{Env: w.env})
	if err != nil {
		t.Fatal(err)
	}
	w.git = g
	return w
}

// sh runs a script as the person would, and returns what it printed.
func (w *world) sh(dir, script string) string {
	w.t.Helper()
	env := append(w.env, "GIT_AUTHOR_NAME=P", "GIT_AUTHOR_EMAIL=p@example.org", "GIT_COMMITTER_NAME=P", "GIT_COMMITTER_EMAIL=p@example.org",
		"GIT_AUTHOR_DATE=@1700000000 +0000", "GIT_COMMITTER_DATE=@1700000000 +0000")
	r, err := proc.Run(w.t.Context(), proc.Spec{Name: "sh", Args: []string{"-euc", script}, Dir: dir, Env: env})
	if err != nil || !r.OK() {
		w.t.Fatalf("%s\n%v %s%s", script, err, r.Stdout, r.Stderr)
	}
	return strings.TrimSpace(string(r.Stdout))
}

// repo makes a repository with the history that the script makes.
func (w *world) repo(script string) string {
	w.t.Helper()
	dir := filepath.Join(w.t.TempDir(), "origin")
	w.sh("/", "git init -q -b main "+dir)
	if script != "" {
		w.sh(dir, script)
	}
	return dir
}

const oneCommit = `echo one >a; git add .; git commit -qm one`

func (w *world) clone(url string, o CloneOptions) (string, Commit, error) {
	w.t.Helper()
	dir := filepath.Join(w.t.TempDir(), "clone")
	o.AllowLocal = true
	c, err := w.git.Clone(w.t.Context(), url, dir, o)
	return dir, c, err
}

func (w *world) mustClone(url string, o CloneOptions) (string, Commit) {
	w.t.Helper()
	dir, c, err := w.clone(url, o)
	if err != nil {
		w.t.Fatal(err)
	}
	return dir, c
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o700); err != nil {
		t.Fatal(err)
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

var someday = time.Unix(1_750_000_000, 999)

func commitOptions(message string) CommitOptions {
	return CommitOptions{Message: message, AuthorName: "Ann", AuthorEmail: "ann@example.org", When: someday}
}

func try[T any](t *testing.T, f func(ctx context.Context) (T, error)) T {
	t.Helper()
	v, err := f(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return v
}
