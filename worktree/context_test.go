package worktree

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func sections(c Context) string {
	var out []string
	for _, s := range c.Sections {
		out = append(out, s.Name)
	}
	return strings.Join(out, ", ")
}

func TestAContextHoldsWhatHasChangedTheStateAndTheTree(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.write(".gitignore", "*.log\n", "README.md", "# It\n", "src/main.go", "package main\n", "src/deep/er/x.go", "")
	p.commit()
	p.write("src/main.go", "package main\n\n// changed\n", "new.txt", "untracked\n", "noise.log", "noise", ".env", "TOKEN=abc")
	c := p.context(p.open())
	if got := sections(c); got != "Active Files, Git Status, Directory Tree" || c.Truncated {
		t.Errorf("%s, truncated %v", got, c.Truncated)
	}
	for _, want := range []string{
		"# Project Context\n\nProject: project\nBranch: main\n", "### src/main.go\n\n```\npackage main\n\n// changed\n```\n", "### new.txt\n\n```\nuntracked\n```\n",
		"## Git Status\n\n```\n## main\n M src/main.go\n?? .env\n?? new.txt\n\nsrc/main.go | +2 -0\n1 files changed, 2 insertions(+), 0 deletions(-)\n```\n",
		"## Directory Tree\n\n```\n.env\n.gitignore\nREADME.md\nnew.txt\nsrc/\n  deep/\n  main.go\n```\n",
	} {
		if !strings.Contains(c.Text, want) {
			t.Errorf("it lacks %q:\n%s", want, c.Text)
		}
	}
	if strings.Contains(c.Text, "TOKEN") || strings.Contains(c.Text, "noise") {
		t.Errorf("it shows secrets or what is ignored:\n%s", c.Text)
	}
	if !(strings.Index(c.Text, "Active Files") < strings.Index(c.Text, "Git Status")) {
		t.Error("what matters more does not come first")
	}
}

func TestAContextKeepsToItsBoundsAndSaysWhatItLeavesOut(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	for _, n := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"} {
		p.write(n+".txt", strings.Repeat(n, maxFileChars+1))
	}
	for i := range 25 {
		p.write("dir/f"+strings.Repeat("x", i), "")
	}
	c := p.context(p.open(), "a.txt", "b.txt", "c.txt", "d.txt", "e.txt", "f.txt", "g.txt", "h.txt", "i.txt", "j.txt")
	if len(c.Text) > budgetTokens*charsPerToken || !c.Truncated {
		t.Errorf("%d bytes, truncated %v", len(c.Text), c.Truncated)
	}
	if f := c.Sections[0]; f.Items != 7 || f.Omitted != 3 {
		t.Errorf("%+v", f)
	}
	if !strings.Contains(c.Text, strings.Repeat("a", maxFileChars)+"\n… (truncated)\n") || strings.Contains(c.Text, strings.Repeat("a", maxFileChars+1)) {
		t.Error("a file is not cut at its bound")
	}
	if !strings.Contains(c.Text, "  … 5 more\n") {
		t.Errorf("a long folder is not cut:\n%s", c.Text[len(c.Text)-800:])
	}
}

func TestAFolderWithoutAnythingHasNoContext(t *testing.T) {
	t.Parallel()
	if c := newProject(t).context(newProject(t).open()); c.Text != "No project context available." || len(c.Sections) != 0 {
		t.Errorf("%+v", c)
	}
}

// Whatever changes shows in the next context, and what does not change costs nothing:
// the survey is the same one.
func TestAContextIsKeptAsLongAsNothingChanges(t *testing.T) {
	t.Parallel()
	for _, watched := range []bool{true, false} {
		p := newProject(t)
		p.write(".gitignore", "ignored/\nlogs/*.log\n", "a.txt", "one\n", "dir/b.txt", "", "logs/x.log", "", "empty/", "", "ignored/x", "", "forced/f", "1")
		p.commit()
		old := time.Now().Add(-time.Hour)
		_ = filepath.WalkDir(p.dir, func(path string, _ os.DirEntry, _ error) error { return os.Chtimes(path, old, old) })
		tree := p.open()
		if !watched {
			tree.watcher = func(string) *watch { return nil } // as on other systems
		}
		look := func() *survey {
			t.Helper()
			s, err := tree.look(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		look()
		first := look() // the second one confirms the first
		if second := look(); second != first {
			t.Errorf("watched %v: nothing has changed, and it was looked at again", watched)
		}
		p.write("ignored/y", "")
		for what, change := range map[string]func(){
			"a change in place":          func() { p.write("a.txt", "two\n") },
			"a file in a folder":         func() { p.write("dir/new", "") },
			"a file in an empty folder":  func() { p.write("empty/new", "") },
			"a file beside ignored ones": func() { p.write("logs/y.txt", "") },
			"a folder":                   func() { p.write("fresh/", "") },
			"the index":                  func() { p.git("", "add", "-A") },
			"a commit":                   func() { p.git("", "commit", "-qm", "more") },
			"a branch":                   func() { p.git("", "checkout", "-q", "-B", "other") },
			"a rule":                     func() { p.write(".gitignore", "ignored/\n") },
			"a rule of the person":       func() { _ = os.WriteFile(filepath.Join(p.home, ".gitconfig"), []byte("[core]\n"), 0o644) },
			"a removal":                  func() { _ = os.Remove(filepath.Join(p.dir, "dir/b.txt")) },
			"a file in a place of a file": func() {
				p.write("x.tmp", "")
				_ = os.Rename(filepath.Join(p.dir, "x.tmp"), filepath.Join(p.dir, "a.txt"))
			},
		} {
			before := look()
			change()
			if after := look(); after == before {
				t.Errorf("watched %v: %s does not show", watched, what)
			}
		}
	}
}

func TestContainersThatFailedAreShown(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	short, err := os.MkdirTemp("", "d")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(short)
	socket := filepath.Join(short, "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	var asked string
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/containers/json") {
			asked = r.URL.Query().Get("filters")
			_, _ = w.Write([]byte(`[{"Id":"1","Names":["/good"],"Image":"i","State":"running","Status":"Up 2 hours"},
				{"Id":"2","Names":["/db"],"Image":"postgres","State":"exited","Status":"Exited (1) 3 minutes ago"},
				{"Id":"3","Names":["/done"],"Image":"i","State":"exited","Status":"Exited (0) 3 minutes ago"}]`))
			return
		}
		_, _ = w.Write([]byte("\x02\x00\x00\x00\x00\x00\x00\x0cno password\n"))
	})}
	go func() { _ = srv.Serve(l) }()
	defer srv.Close()
	c := p.context(p.open(func(o *Options) { o.DockerSocket = socket }))
	if !strings.Contains(c.Text, "## Docker Status\n\ndb (postgres): Exited (1) 3 minutes ago\n\n```\nno password\n```\n") {
		t.Error(c.Text)
	}
	if strings.Contains(c.Text, "good") || strings.Contains(c.Text, "done") {
		t.Errorf("it shows containers that are well:\n%s", c.Text)
	}
	if !strings.Contains(asked, "com.docker.compose.project.working_dir=") {
		t.Errorf("docker was asked for %q", asked)
	}
	if c := p.context(p.open(func(o *Options) { o.DockerSocket = socket + "-none" })); strings.Contains(c.Text, "Docker") {
		t.Error("without docker there is a section of it")
	}
}

// A system that watches no more folders leaves the times of files.
func TestTooManyFoldersAreNotWatched(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.write("a.txt", "one\n", "dir/b.txt", "")
	p.commit()
	old := time.Now().Add(-time.Hour)
	_ = filepath.WalkDir(p.dir, func(path string, _ os.DirEntry, _ error) error { return os.Chtimes(path, old, old) })
	tree := p.open()
	if tree.watcher(p.dir) == nil {
		t.Skip("this system tells of no changes")
	}
	tree.watcher = func(root string) *watch {
		w := newWatch(root)
		w.full = true
		return w
	}
	for range 2 {
		if c := p.context(tree); !strings.Contains(c.Text, "a.txt") {
			t.Error(c.Text)
		}
	}
	first, err := tree.look(t.Context())
	if err != nil || first.watch != nil {
		t.Fatalf("it is watched: %v", err)
	}
	if second, err := tree.look(t.Context()); err != nil || second != first {
		t.Errorf("nothing has changed, and it was looked at again: %v", err)
	}
	p.write("a.txt", "two\n")
	if c := p.context(tree); !strings.Contains(c.Text, "two") {
		t.Error("a change does not show")
	}
}
