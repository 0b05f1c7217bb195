package changes

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gantry-run/gantry/internal/git"
	"github.com/gantry-run/gantry/internal/proc"
)

// world is an attempt: worktrees of repositories, with a branch of its own.
type world struct {
	t     *testing.T
	dir   string
	env   []string
	git   *git.Git
	r     *Reader
	trees []Worktree
}

// newWorld makes a repository of each name by the script, and a worktree of it.
func newWorld(t *testing.T, script string, names ...string) *world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: dir, env: []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=P", "GIT_AUTHOR_EMAIL=p@example.org", "GIT_COMMITTER_NAME=P", "GIT_COMMITTER_EMAIL=p@example.org",
	}}
	if w.git, err = git.New(git.Options{Env: w.env}); err != nil {
		t.Fatal(err)
	}
	w.r = New(w.git, Balanced())
	for _, name := range names {
		w.sh(dir, "git init -q -b main origin-"+name+"; cd origin-"+name+"; echo '"+name+"' >README; "+script+"\ngit add .; git commit -qm one; git worktree add -q -b work ../tree/"+name)
		w.trees = append(w.trees, Worktree{Name: name, Dir: filepath.Join(dir, "tree", name), Target: "main", Base: w.sh(dir+"/origin-"+name, "git rev-parse HEAD")})
	}
	return w
}

// sh runs a script as the person would, and returns what it printed.
func (w *world) sh(dir, script string) string {
	w.t.Helper()
	r, err := proc.Run(w.t.Context(), proc.Spec{Name: "sh", Args: []string{"-euc", script}, Dir: dir, Env: w.env})
	if err != nil || !r.OK() {
		w.t.Fatalf("%s\n%v %s%s", script, err, r.Stdout, r.Stderr)
	}
	return strings.TrimSpace(string(r.Stdout))
}

// in runs a script in a worktree.
func (w *world) in(name, script string) {
	w.t.Helper()
	w.sh(filepath.Join(w.dir, "tree", name), script)
}

func (w *world) list(force bool) List {
	w.t.Helper()
	return try(w.t, func(ctx context.Context) (List, error) { return w.r.List(ctx, w.trees, force) })
}

func (w *world) patch(q PatchRequest) Patch {
	w.t.Helper()
	return try(w.t, func(ctx context.Context) (Patch, error) { return w.r.Patch(ctx, w.trees, q) })
}

func (w *world) file(q FileRequest) File {
	w.t.Helper()
	return try(w.t, func(ctx context.Context) (File, error) { return w.r.File(ctx, w.trees, q) })
}

func try[T any](t *testing.T, f func(ctx context.Context) (T, error)) T {
	t.Helper()
	v, err := f(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return v
}
