package worktree

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// listed returns every path that the tree lists, folders with a slash.
func listed(t *testing.T, tree *Tree, dir string) (all []string) {
	t.Helper()
	f, err := tree.ListDirectory(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range f.Entries {
		p := strings.TrimPrefix(dir+"/"+e.Name, "./")
		if e.Kind != Directory {
			all = append(all, p)
			continue
		}
		all = append(append(all, p+"/"), listed(t, tree, p)...)
	}
	return all
}

// everything returns every path of the project, in the same form.
func (p *project) everything() (all []string) {
	p.t.Helper()
	err := filepath.WalkDir(p.dir, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(p.dir, path)
		switch {
		case err != nil:
			return err
		case d.Name() == gitDir && d.IsDir():
			return filepath.SkipDir
		case d.Name() == gitDir:
		case rel == ".":
		case d.IsDir():
			all = append(all, filepath.ToSlash(rel)+"/")
		default:
			all = append(all, filepath.ToSlash(rel))
		}
		return nil
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return all
}

// kept returns the paths that git does not ignore.
func (p *project) kept() (out []string) {
	all := p.everything()
	asked := strings.ReplaceAll(strings.Join(all, "\x00")+"\x00", "/\x00", "\x00") // with a slash, a/ is in a/**
	ignored := strings.Split(p.git(asked, "check-ignore", "--no-index", "-z", "--stdin"), "\x00")
	for _, path := range all {
		if !slices.Contains(ignored, strings.TrimSuffix(path, "/")) {
			out = append(out, path)
		}
	}
	return out
}

func compare(t *testing.T, p *project, tree *Tree) {
	t.Helper()
	got, want := listed(t, tree, "."), p.kept()
	slices.Sort(got)
	slices.Sort(want)
	for _, path := range want {
		if !slices.Contains(got, path) {
			t.Errorf("%q is left out, and git does not ignore it", path)
		}
	}
	for _, path := range got {
		if !slices.Contains(want, path) {
			t.Errorf("%q is listed, and git ignores it", path)
		}
	}
}

func TestWhatGitIgnoresIsNotListed(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.git("", "init", "-q")
	p.write(
		".gitignore", "# comment\n*.log\n!keep.log\n/build\nnode_modules/\ndocs/**/*.tmp\n\\#hash\n\\!bang\ntrailing \nspace\\ \nfoo**bar\nabc/**\n[!a-y]ed\n*.[oa]\n{x,y}\n/a/*/c\n**/deep/file\nlast/\n[[:digit:]]num\n[]x]br\nmid/dle\r\n",
		"a.log", "", "keep.log", "", "sub/b.log", "", "sub/keep.log", "", "build/out", "", "sub/build/out", "", "node_modules/x/y", "", "sub/node_modules/z", "",
		"docs/a.tmp", "", "docs/d/e/a.tmp", "", "#hash", "", "!bang", "", "trailing", "", "space ", "", "fooXbar", "", "foo/bar", "", "abc/x", "", "abc/d/y", "",
		"zed", "", "bed", "", "lib.o", "", "lib.a", "", "{x,y}", "", "x", "", "y", "", "a/b/c", "", "a/b/d/c", "", "q/deep/file", "", "deep/file", "", "last", "", "sub/last/f", "",
		"1num", "", "anum", "", "]br", "", "xbr", "", "mid/dle", "", "in/mid/dle", "",
		// Nested rules over those above, and folders over what is in them.
		"nested/.gitignore", "!a.log\n*.txt\n/only\n", "nested/a.log", "", "nested/b.log", "", "nested/c.txt", "", "nested/only", "", "nested/in/only", "",
		"build/.gitignore", "!out\n",
		// The idiom that shows some kinds of file only.
		"white/.gitignore", "*\n!*/\n!*.go\n!.gitignore\n", "white/a.go", "", "white/b.c", "", "white/in/c.go", "", "white/in/d.c", "",
		".git/info/exclude", "excluded\n", "excluded", "", "sub/excluded", "",
	)
	compare(t, p, p.open())
}

func TestThePersonsOwnRulesCount(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.git("", "init", "-q")
	p.write("a.mine", "", "b.other", "", "c.txt", "")
	write := func(name, content string) {
		t.Helper()
		path := filepath.Join(p.home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tree := p.open()
	if got := names(t, tree, ""); got != "a.mine b.other c.txt" {
		t.Errorf("without rules: %q", got)
	}
	write(".config/git/ignore", "*.mine\n")
	if got := names(t, tree, ""); got != "b.other c.txt" {
		t.Errorf("with the usual file: %q", got)
	}
	write(".gitconfig", "[core]\n\texcludesFile = ~/own-rules\n")
	write("own-rules", "*.other\n")
	if got := names(t, tree, ""); got != "a.mine c.txt" {
		t.Errorf("with a file that the configuration names: %q", got)
	}
	compare(t, p, tree)
}

func TestRulesAboveTheRootCount(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.git("", "init", "-q")
	p.write(".gitignore", "*.log\n/sub/in/secret\n", "sub/in/a.log", "", "sub/in/b.txt", "", "sub/in/secret", "")
	p.dir = filepath.Join(p.dir, "sub", "in")
	if got := names(t, p.open(), ""); got != "b.txt" {
		t.Errorf("got %q", got)
	}
}

func TestAFurtherWorkTreeHasTheRepositorysRules(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.write("a.txt", "")
	p.commit()
	p.write(".git/info/exclude", "excluded\n")
	other := p.dir + "-two"
	p.git("", "worktree", "add", "-q", other)
	p.dir = other
	p.write("excluded", "", "b.txt", "")
	if got := names(t, p.open(), ""); got != "a.txt b.txt" {
		t.Errorf("got %q", got)
	}
	compare(t, p, p.open())
}

// Random rules over a random tree, as git and as this package read them.
func TestRandomRulesAreReadAsGitReadsThem(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(7, 2026))
	pick := func(from ...string) string { return from[rnd.IntN(len(from))] }
	word := func() string { // without a** before a slash, of which git up to 2.40 has no steady opinion
		return pick("a", "b", "ab", "a.b", "*", "a*", "*b", "?", "[ab]", "[!a]", "**", `\a`, "*.b", "[a-c]b")
	}
	for range 40 {
		p := newProject(t)
		p.git("", "init", "-q")
		for range 40 {
			path := pick("a", "b", "ab", "a.b", "c")
			for range rnd.IntN(4) {
				path += "/" + pick("a", "b", "ab", "a.b", "c", "cb")
			}
			dir := filepath.Join(p.dir, filepath.Dir(path))
			if os.MkdirAll(dir, 0o755) == nil { // else a part of it is a file
				_ = os.WriteFile(filepath.Join(p.dir, path), nil, 0o644)
			}
		}
		for _, dir := range []string{".", "a", "b", "a/b"} {
			if info, err := os.Stat(filepath.Join(p.dir, dir)); err != nil || !info.IsDir() {
				continue
			}
			var rules string
			for range rnd.IntN(5) {
				rules += pick("", "", "!") + pick("", "", "/", "**/") + word()
				for range rnd.IntN(3) {
					rules += "/" + word()
				}
				rules += pick("", "", "/", "/**") + "\n"
			}
			p.write(dir+"/.gitignore", rules)
		}
		before := t.Failed()
		compare(t, p, p.open())
		if t.Failed() && !before {
			for _, dir := range []string{"", "a/", "b/", "a/b/"} {
				raw, _ := os.ReadFile(filepath.Join(p.dir, dir, ".gitignore"))
				t.Logf("%s.gitignore: %q", dir, raw)
			}
			return
		}
	}
}

func TestHostileRulesCostLittle(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.write("big/.gitignore", strings.Repeat("*.a\n", 15<<20/4), "big/x.a", "", "many/.gitignore", strings.Repeat("*.a\n", maxRules+1), "many/x.a", "",
		"stars/.gitignore", strings.Repeat("**/", 10000)+"x\n"+strings.Repeat("a/**/", 500)+"b\n"+strings.Repeat("*a", 2000)+"\n",
		"stars/"+strings.Repeat("a/", 100)+"x", "", "stars/"+strings.Repeat("a", 200), "",
		"linked/b.txt", "")
	p.link("/etc/passwd", "linked/.gitignore")
	tree := p.open()
	began := time.Now()
	for _, dir := range []string{"big", "many"} {
		f, err := tree.ListDirectory(t.Context(), dir)
		if err != nil || len(f.Entries) != 2 || fmt.Sprint(f.Skipped) != "["+dir+"/.gitignore]" {
			t.Errorf("%s: %+v, %v", dir, f, err)
		}
	}
	if got := names(t, tree, "linked"); got != ".gitignore b.txt" {
		t.Errorf("rules behind a link: %q", got)
	}
	if got := names(t, tree, "stars/"+strings.Repeat("a/", 100)); got != "" {
		t.Errorf("deep below many stars: %q", got)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %s", took)
	}
}
