package worktree

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gantry-run/gantry/internal/git"
)

// project is a folder with what a test puts into it.
type project struct {
	t         *testing.T
	dir, home string
	env       []string
}

func newProject(t *testing.T) *project {
	t.Helper()
	base := t.TempDir()
	p := &project{t: t, dir: filepath.Join(base, "project"), home: filepath.Join(base, "home")}
	p.env = []string{
		"HOME=" + p.home, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com",
		"GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com",
	}
	for _, dir := range []string{p.dir, p.home} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// write writes files, given as path and content in turn. A path that ends in a slash is
// a folder.
func (p *project) write(pairs ...string) {
	p.t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		path := filepath.Join(p.dir, pairs[i])
		dir := filepath.Dir(path)
		if strings.HasSuffix(pairs[i], "/") {
			dir = path
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			p.t.Fatal(err)
		}
		if dir == path {
			continue
		}
		if err := os.WriteFile(path, []byte(pairs[i+1]), 0o644); err != nil {
			p.t.Fatal(err)
		}
	}
}

func (p *project) link(target, name string) {
	p.t.Helper()
	if err := os.Symlink(target, filepath.Join(p.dir, name)); err != nil {
		p.t.Fatal(err)
	}
}

// git runs git in the project and returns what it printed. Exit code 1 is no failure:
// check-ignore says so that nothing is ignored.
func (p *project) git(stdin string, args ...string) string {
	p.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env, cmd.Stdin = p.dir, p.env, strings.NewReader(stdin)
	out, err := cmd.Output()
	if err != nil && cmd.ProcessState.ExitCode() != 1 {
		p.t.Fatalf("git %v: %v", args, err)
	}
	return string(out)
}

func (p *project) commit() {
	p.t.Helper()
	p.git("", "init", "-q", "-b", "main")
	p.git("", "add", "-A")
	p.git("", "commit", "-q", "--allow-empty", "-m", "all")
}

// open opens the project; change may change the options.
func (p *project) open(change ...func(*Options)) *Tree {
	p.t.Helper()
	g, err := git.New(git.Options{Env: p.env})
	if err != nil {
		p.t.Fatal(err)
	}
	o := Options{Env: p.env, Git: g}
	for _, c := range change {
		c(&o)
	}
	tree, err := Open(p.dir, o)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(tree.Close)
	return tree
}

func names(t *testing.T, tree *Tree, path string) string {
	t.Helper()
	f, err := tree.ListDirectory(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range f.Entries {
		out = append(out, e.Name)
	}
	return strings.Join(out, " ")
}

func (p *project) context(tree *Tree, files ...string) Context {
	p.t.Helper()
	c, err := tree.Context(context.Background(), Ask{Files: files})
	if err != nil {
		p.t.Fatal(err)
	}
	return c
}
