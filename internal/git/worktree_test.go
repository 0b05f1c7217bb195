package git

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/gantry-run/gantry/internal/fault"
)

func TestAPlainFolderBecomesTheSameCommitAnywhere(t *testing.T) {
	var shas []string
	for _, config := range []string{"", "[core]\n\tautocrlf = true\n\texcludesFile = ~/ignore\n[commit]\n\tgpgSign = true\n\ttemplate = ~/ignore\n[i18n]\n\tcommitEncoding = latin1\n[init]\n\tdefaultBranch = x\n"} {
		w := newWorld(t, "GIT_AUTHOR_DATE=@1 +0100", "TZ=Asia/Tokyo", "GIT_DEFAULT_HASH=sha256")
		write(t, w.home+"/.gitconfig", config)
		write(t, w.home+"/ignore", "page.md\n")
		dir := filepath.Join(t.TempDir(), "site")
		write(t, dir+"/content/page.md", "a\r\nb\n")
		write(t, dir+"/.gitignore", "public\n")
		write(t, dir+"/public/out", "x")
		if is, err := w.git.IsRepo(t.Context(), dir); is || err != nil {
			t.Errorf("IsRepo before: %v %v", is, err)
		}
		c := try(t, func(ctx context.Context) (Commit, error) {
			return w.git.CommitAll(ctx, dir, commitOptions("ünï\n\n# not a comment"))
		})
		shas = append(shas, c.SHA)
		if c.When.Unix() != someday.Unix() {
			t.Errorf("date %v", c.When)
		}
		files := try(t, func(ctx context.Context) ([]File, error) { return w.git.ListFiles(ctx, dir, "") })
		if len(files) != 2 || files[0].Path != ".gitignore" || files[1].Path != "content/page.md" || files[1].Size != 5 || files[1].Mode != "100755" {
			t.Errorf("%+v", files)
		}
		if is, err := w.git.IsRepo(t.Context(), dir); !is || err != nil {
			t.Errorf("IsRepo after: %v %v", is, err)
		}
		if is, _ := w.git.IsRepo(t.Context(), dir+"/content"); is {
			t.Error("a folder inside is taken for the top")
		}
		if got := w.sh(dir, "git -c i18n.logOutputEncoding=utf-8 log -1 --format='%an <%ae> %ad|%cn <%ce> %cd|%B' --date=iso"); got != "Ann <ann@example.org> 2025-06-15 15:06:40 +0000|Ann <ann@example.org> 2025-06-15 15:06:40 +0000|ünï\n\n# not a comment" {
			t.Errorf("commit is %q", got)
		}
		if _, err := w.git.CommitAll(t.Context(), dir, commitOptions("again")); !errors.Is(err, ErrNothingToCommit) {
			t.Errorf("nothing new: %v", err)
		}
		if _, err := w.git.Commit(t.Context(), dir, CommitOptions{Message: "x"}); !fault.Is(err, fault.InvalidInput) {
			t.Errorf("without an author: %v", err)
		}
	}
	if shas[0] != shas[1] {
		t.Errorf("the person's set-up shows in the commit: %v", shas)
	}
}

func TestHeadSaysWhatIsMissing(t *testing.T) {
	w := newWorld(t)
	if _, err := w.git.Head(t.Context(), w.repo("")); !fault.Is(err, fault.RepoEmpty) {
		t.Errorf("no commit: %v", err)
	}
	if _, err := w.git.Head(t.Context(), t.TempDir()); !fault.Is(err, fault.RepoNotFound) {
		t.Errorf("no repository: %v", err)
	}
}

func TestTheServersOwnGitDirIsNotUsed(t *testing.T) {
	w := newWorld(t)
	mine, other := w.repo(oneCommit), w.repo(oneCommit+`; git commit -q --allow-empty -m two`)
	g, err := New(Options{Env: append(w.env, "GIT_DIR="+other+"/.git", "GIT_WORK_TREE="+other, "GIT_INDEX_FILE="+other+"/x")})
	if err != nil {
		t.Fatal(err)
	}
	got := try(t, func(ctx context.Context) (Commit, error) { return g.Head(ctx, mine) })
	if want := w.sh(mine, "git rev-parse HEAD"); got.SHA != want {
		t.Errorf("%s, want %s", got.SHA, want)
	}
}

// changed is a work tree with every kind of change since its last commit.
func changed(w *world) string {
	return w.repo(`printf 'one\ntwo\n' >mod; echo x >gone; echo x >"old
name	é"; printf 'a\0b' >bin; echo x >type; echo ignored >.gitignore; git add .; git commit -qm one
printf 'one\n2\nthree\n' >mod; rm gone; echo y >"old
name	é"; printf 'a\0c' >bin; rm type; ln -s mod type; echo new >new; git add new; echo x >ignored; mkdir sub; printf 'un\ntracked' >sub/untracked`)
}

func TestStatusAndChangedFilesReadAnyName(t *testing.T) {
	w := newWorld(t)
	dir := changed(w)
	s := try(t, func(ctx context.Context) (Status, error) { return w.git.Status(ctx, dir) })
	odd := "old\nname\té"
	want := []StatusEntry{
		{"bin", '.', 'M'}, {"gone", '.', 'D'}, {"mod", '.', 'M'}, {"new", 'A', '.'}, {odd, '.', 'M'}, {"type", '.', 'T'}, {"sub/untracked", '?', '?'},
	}
	if !reflect.DeepEqual(s.Entries, want) || s.Branch != "main" || s.Head != w.sh(dir, "git rev-parse HEAD") || s.Clean() {
		t.Errorf("%+v", s)
	}
	changes := func(d DiffSpec) []Change {
		return try(t, func(ctx context.Context) ([]Change, error) { return w.git.ChangedFiles(ctx, dir, d) })
	}
	sha := func(path string) string { return w.sh(dir, "git rev-parse 'HEAD:"+path+"'") }
	was := func(path string, c Change) Change {
		c.Path, c.OldMode, c.OldSHA = path, "100644", sha(path)
		return c
	}
	const mode = "100644"
	tracked := []Change{
		was("bin", Change{Status: "M", Binary: true, NewMode: mode}), was("gone", Change{Status: "D", Deleted: 1}),
		was("mod", Change{Status: "M", Added: 2, Deleted: 1, NewMode: mode}), {Path: "new", Status: "A", Added: 1, NewMode: mode},
		was(odd, Change{Status: "M", Added: 1, Deleted: 1, NewMode: mode}), was("type", Change{Status: "T", Added: 1, Deleted: 1, NewMode: "120000"}),
	}
	if got := changes(DiffSpec{From: "HEAD"}); !reflect.DeepEqual(got, tracked) {
		t.Errorf("%+v", got)
	}
	all := append(tracked[:5:5], Change{Path: "sub/untracked", Status: "A", Added: 2, NewMode: mode}, tracked[5])
	before, _ := os.ReadFile(dir + "/.git/index")
	if got := changes(DiffSpec{From: "HEAD", Untracked: true}); !reflect.DeepEqual(got, all) {
		t.Errorf("with untracked: %+v", got)
	}
	if after, _ := os.ReadFile(dir + "/.git/index"); !bytes.Equal(before, after) {
		t.Error("the index was changed")
	}
	if got := changes(DiffSpec{From: "HEAD", Untracked: true, Paths: []string{"sub"}}); len(got) != 1 || got[0].Path != "sub/untracked" {
		t.Errorf("one path: %+v", got)
	}
	if got := changes(DiffSpec{From: "HEAD", To: "main"}); got != nil {
		t.Errorf("no difference: %+v", got)
	}
}

func TestAPatchAppliesAndDoesNotDependOnThePerson(t *testing.T) {
	w := newWorld(t)
	dir := changed(w)
	w.sh(dir, `printf '*.x diff=odd\nmod diff=odd\n' >.git/info/attributes`)
	diff := func() []byte {
		return try(t, func(ctx context.Context) ([]byte, error) {
			return w.git.Diff(ctx, dir, DiffSpec{From: "HEAD", Untracked: true})
		})
	}
	plain := diff()
	write(t, w.home+"/.gitconfig", `[diff]
	noprefix = true
	mnemonicPrefix = true
	algorithm = patience
	context = 9
	interHunkContext = 9
	renames = copies
	submodule = log
	wordRegex = .
	colorMoved = zebra
	external = false
	orderFile = ~/order
	relative = true
	indentHeuristic = false
	suppressBlankEmpty = true
[color]
	ui = always
	diff = always
[core]
	abbrev = 4
	quotePath = false
	pager = false
[diff "odd"]
	textconv = echo converted
	command = false
`)
	write(t, w.home+"/order", "type\nmod\n")
	if got := diff(); !bytes.Equal(got, plain) {
		t.Errorf("the person's set-up shows:\n%s\nplain:\n%s", got, plain)
	}
	for _, want := range []string{"diff --git a/mod b/mod\n", "GIT binary patch", "new file mode 100644\nindex 0000000000000000000000000000000000000000..", "\n\\ No newline at end of file"} {
		if !strings.Contains(string(plain), want) {
			t.Errorf("the patch lacks %q:\n%s", want, plain)
		}
	}
	os.Remove(w.home + "/.gitconfig")
	copied, _ := w.mustClone(dir, CloneOptions{})
	write(t, copied+"/../p", string(plain))
	w.sh(copied, "git apply --index ../p")
	for _, name := range []string{"mod", "bin", "new", "sub/untracked", "old\nname\té"} {
		a, _ := os.ReadFile(filepath.Join(dir, name))
		b, err := os.ReadFile(filepath.Join(copied, name))
		if err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s is %q, want %q", name, b, a)
		}
	}
	for _, from := range []string{"--output=x", "HEAD..main", "a b", ""} {
		if _, err := w.git.Diff(t.Context(), dir, DiffSpec{From: from}); !fault.Is(err, fault.InvalidInput) {
			t.Errorf("from %q: %v", from, err)
		}
	}
}

func TestPathsAreNeverPatternsOrOptions(t *testing.T) {
	w := newWorld(t)
	dir := w.repo(`echo 1 >ab; echo 1 >'a*'; echo 1 >-f; echo 1 >':(top)x'; git add -A; git commit -qm one; for f in ab 'a*' -f ':(top)x'; do echo 2 >"./$f"; done`)
	for _, path := range []string{"a*", "-f", ":(top)x"} {
		o := commitOptions("x")
		o.Paths = []string{path}
		if _, err := w.git.Commit(t.Context(), dir, o); err != nil {
			t.Fatal(err)
		}
		got := try(t, func(ctx context.Context) ([]Change, error) {
			return w.git.ChangedFiles(ctx, dir, DiffSpec{From: w.sh(dir, "git rev-parse HEAD~1"), To: "HEAD"})
		})
		if len(got) != 1 || got[0].Path != path {
			t.Errorf("%q committed %+v", path, got)
		}
	}
}

func TestBranches(t *testing.T) {
	w := newWorld(t)
	dir := w.repo(history)
	ctx := t.Context()
	light := w.sh(dir, "git rev-parse light")
	if err := w.git.CreateBranch(ctx, dir, "made", "light"); err != nil {
		t.Error(err)
	}
	if err := w.git.CreateBranch(ctx, dir, "made", "main"); err == nil {
		t.Error("an existing branch was made again")
	}
	if err := w.git.Checkout(ctx, dir, "a/b", "light"); err != nil {
		t.Error(err)
	}
	if b, err := w.git.Branch(ctx, dir); b != "a/b" || err != nil {
		t.Errorf("%q %v", b, err)
	}
	for _, branch := range []string{"made", "a/b", "HEAD"} {
		if sha, err := w.git.Resolve(ctx, dir, branch); sha != light || err != nil {
			t.Errorf("%s: %s %v", branch, sha, err)
		}
	}
	if _, err := w.git.Resolve(ctx, dir, "none"); !fault.Is(err, fault.RefNotFound) {
		t.Errorf("%v", err)
	}
	if sha, err := w.git.MergeBase(ctx, dir, "main", "a/b"); sha != light || err != nil {
		t.Errorf("%s %v", sha, err)
	}
	if err := w.git.Checkout(ctx, dir, "-f", ""); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("%v", err)
	}
	w.sh(dir, "git checkout -q --orphan alone; git commit -qm alone")
	if _, err := w.git.MergeBase(ctx, dir, "main", "alone"); !fault.Is(err, fault.RefNotFound) {
		t.Errorf("%v", err)
	}
}

func TestPushIsPlainAndTellsARefusal(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	origin := w.repo(oneCommit)
	bare := filepath.Join(t.TempDir(), "bare")
	w.sh("/", "git clone -q --bare "+origin+" "+bare)
	dir, _ := w.mustClone(bare, CloneOptions{})
	if got, err := w.git.RemoteURL(ctx, dir, "origin"); got != bare || err != nil {
		t.Errorf("%q %v", got, err)
	}
	if got, err := w.git.RemoteURL(ctx, dir, "other"); got != "" || err != nil {
		t.Errorf("%q %v", got, err)
	}
	push := func(script, branch string) error {
		w.sh(dir, script)
		return w.git.Push(ctx, dir, "origin", branch, PushOptions{})
	}
	if err := push("git checkout -qb work; echo 2 >a; git commit -qam 2", "work"); err != nil {
		t.Error(err)
	}
	if w.sh(bare, "git rev-parse work") != w.sh(dir, "git rev-parse work") {
		t.Error("it did not arrive")
	}
	if err := push("true", "work"); err != nil {
		t.Errorf("again: %v", err)
	}
	refused := func(what string, err error) {
		t.Helper()
		if !fault.Is(err, fault.PublishFailed) || fault.From(err).Retryable || strings.Contains(err.Error(), bare) {
			t.Errorf("%s: %v", what, err)
		}
	}
	refused("other history", push("git reset -q --hard HEAD~1; echo 3 >a; git commit -qam 3", "work"))
	write(t, bare+"/hooks/pre-receive", "#!/bin/sh\nexit 1\n")
	refused("a hook of the remote's", push("git checkout -qb more", "more"))
	w.sh(dir, "git remote set-url origin https://me:hunter2@127.0.0.1:1/x; git remote add gone "+bare+"-none")
	refused("no such repository", w.git.Push(ctx, dir, "gone", "work", PushOptions{}))
	if got, _ := w.git.RemoteURL(ctx, dir, "origin"); got != "https://127.0.0.1:1/x" {
		t.Errorf("remote %q", got)
	}
	err := w.git.Push(ctx, dir, "origin", "work", PushOptions{})
	if !fault.Is(err, fault.PublishFailed) || !fault.From(err).Retryable || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("unreachable: %v", err)
	}
	if err := w.git.Push(ctx, dir, "--receive-pack=id", "work", PushOptions{}); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("%v", err)
	}
	if err := w.git.Push(ctx, dir, "origin", "+work", PushOptions{}); err == nil {
		t.Error("forced")
	}
}

func TestMissingGitIsNamed(t *testing.T) {
	if _, err := New(Options{Env: []string{"PATH=/nowhere"}}); !fault.Is(err, fault.ToolchainMissing) {
		t.Errorf("%v", err)
	}
}

func TestWorktreesComeAndGo(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	dir := w.repo(history)
	main, light := w.sh(dir, "git rev-parse main"), w.sh(dir, "git rev-parse light")
	tmp := t.TempDir()
	path, lost := filepath.Join(tmp, "a\nb é"), filepath.Join(tmp, "lost")
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(w.git.AddWorktree(ctx, dir, path, "gantry/one", "light"))
	check(w.git.AddWorktree(ctx, dir, lost, "gantry/two", ""))
	check(os.RemoveAll(lost))
	got := try(t, func(ctx context.Context) ([]Worktree, error) { return w.git.Worktrees(ctx, path) })
	want := []Worktree{
		{Path: dir, Head: main, Branch: "main"}, {Path: path, Head: light, Branch: "gantry/one"}, {Path: lost, Head: main, Branch: "gantry/two", Gone: true},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	for what, err := range map[string]error{
		"an existing branch":    w.git.AddWorktree(ctx, dir, tmp+"/x", "gantry/one", ""),
		"a path that is used":   w.git.AddWorktree(ctx, dir, path, "gantry/three", ""),
		"a relative path":       w.git.AddWorktree(ctx, dir, "x", "gantry/three", ""),
		"an option as a branch": w.git.AddWorktree(ctx, dir, tmp+"/x", "--force", ""),
		"a checked out branch":  w.git.DeleteBranch(ctx, dir, "gantry/one"),
	} {
		if err == nil {
			t.Errorf("%s was taken", what)
		} else if strings.Contains(err.Error(), tmp) {
			t.Errorf("%s: the error tells the path: %v", what, err)
		}
	}
	write(t, path+"/untracked", "x")
	if err := w.git.RemoveWorktree(ctx, dir, path, false); err == nil || !exists(path+"/untracked") {
		t.Errorf("a file was lost: %v", err)
	}
	check(w.git.RemoveWorktree(ctx, dir, path, true))
	check(w.git.RemoveWorktree(ctx, dir, lost, false))
	check(w.git.DeleteBranch(ctx, dir, "gantry/one"))
	if got := try(t, func(ctx context.Context) ([]Worktree, error) { return w.git.Worktrees(ctx, dir) }); len(got) != 1 || exists(path) {
		t.Errorf("%+v", got)
	}
	if _, err := w.git.Resolve(ctx, dir, "gantry/one"); !fault.Is(err, fault.RefNotFound) {
		t.Errorf("%v", err)
	}
}

func TestABareRepositoryIsNoPlainFolder(t *testing.T) {
	w := newWorld(t)
	dir := t.TempDir()
	w.sh(dir, "git init --quiet --bare bare && git init --quiet work && mkdir plain bare/hooks/below")
	for name, want := range map[string]bool{"bare": true, "work": false, "work/.git": false, "plain": false, "bare/hooks/below": false, "nowhere": false} {
		if is, err := w.git.IsBare(t.Context(), filepath.Join(dir, name)); is != want || err != nil {
			t.Errorf("IsBare %s: %v %v", name, is, err)
		}
	}
	if is, err := w.git.IsRepo(t.Context(), filepath.Join(dir, "bare")); is || err != nil {
		t.Errorf("IsRepo of a bare repository: %v %v", is, err)
	}
}
