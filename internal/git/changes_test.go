package git

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/gantry-run/gantry/internal/fault"
)

func TestARenamedFileIsOneChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir := w.repo(`seq 50 >old; echo x >same; chmod +x same; git add .; git commit -qm one; mkdir -p 'a
b'; mv old 'a
b/new'; echo 51 >>'a
b/new'; chmod -x same; git add same; rm same; mv 'a
b/new' 'a
b/newer'; echo x >same`)
	got := try(t, func(ctx context.Context) ([]Change, error) {
		return w.git.ChangedFiles(ctx, dir, DiffSpec{From: "HEAD", Untracked: true, Renames: true})
	})
	sha := func(path string) string { return w.sh(dir, "git rev-parse HEAD:"+path) }
	want := []Change{
		{Path: "a\nb/newer", From: "old", Status: "R", Added: 1, OldMode: "100644", NewMode: "100644", OldSHA: sha("old")},
		{Path: "same", Status: "M", OldMode: "100755", NewMode: "100644", OldSHA: sha("same")},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	sizes := try(t, func(ctx context.Context) ([]int64, error) {
		return w.git.Sizes(ctx, dir, []string{sha("old"), strings.Repeat("1", 40), sha("same")})
	})
	if !reflect.DeepEqual(sizes, []int64{141, 0, 2}) {
		t.Errorf("sizes %v", sizes)
	}
	if _, err := w.git.Sizes(t.Context(), dir, []string{"HEAD\nHEAD"}); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("a name that is none: %v", err)
	}
}

func TestATextPatchNamesBinaryAndLargeFilesAndIsCut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir := w.repo(`printf 'a\0' >bin; git add .; git commit -qm one; printf 'b\0' >bin; seq 10000 >large; echo small >small`)
	d := DiffSpec{From: "HEAD", Untracked: true, MaxText: 10_000}
	patch, more, err := w.git.DiffText(t.Context(), dir, d, 1<<20)
	text := string(patch)
	if err != nil || more || !strings.Contains(text, "Binary files a/bin and b/bin differ\n") || !strings.Contains(text, "b/large differ\n") || !strings.Contains(text, "+small\n") {
		t.Errorf("%v %v\n%s", more, err, patch)
	}
	for _, max := range []int{0, 1, len(text) - 1, len(text)} {
		got, more, err := w.git.DiffText(t.Context(), dir, d, max)
		if err != nil || string(got) != text[:max] || more != (max < len(text)) {
			t.Errorf("%d bytes: %d bytes, more %v, %v", max, len(got), more, err)
		}
	}
	changes := try(t, func(ctx context.Context) ([]Change, error) { return w.git.ChangedFiles(ctx, dir, d) })
	if len(changes) != 3 || !changes[1].Binary || changes[1].Added != 0 || changes[2].Binary {
		t.Errorf("%+v", changes)
	}
}

func TestRepositoriesInTheWorkTreeAreShownAndRunNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	proof := filepath.Join(t.TempDir(), "ran")
	// A submodule whose own configuration has a filter; its file has the size that the
	// index knows and another time, so that git would read it through the filter.
	dir := w.repo(`echo x >a; git init -q sub; cd sub; echo '* filter=evil' >.gitattributes; echo y >f; git add .; git commit -qm one; cd ..; git add a; git add sub 2>/dev/null; git commit -qm one
git -C sub config filter.evil.clean 'touch ` + proof + `; cat'; touch -d @1 sub/f
git init -q bare; git init -q full; git -C full commit -q --allow-empty -m one; mkdir fresh; echo z >fresh/z`)
	list := func() string {
		w.sh(dir, "touch -d @2 sub/f")
		changes := try(t, func(ctx context.Context) ([]Change, error) {
			return w.git.ChangedFiles(ctx, dir, DiffSpec{From: "HEAD", Untracked: true, Renames: true})
		})
		var out []string
		for _, c := range changes {
			out = append(out, c.Status+" "+c.NewMode+" "+c.Path)
		}
		return strings.Join(out, ", ")
	}
	if got := try(t, func(ctx context.Context) ([]string, error) { return w.git.Submodules(ctx, dir) }); !reflect.DeepEqual(got, []string{"sub"}) {
		t.Errorf("submodules %v", got)
	}
	nested := "A 160000 bare, A 100644 fresh/z, A 160000 full"
	if got := list(); got != nested {
		t.Errorf("%s", got)
	}
	if s := try(t, func(ctx context.Context) (Status, error) { return w.git.Status(ctx, dir) }); len(s.Entries) != 3 {
		t.Errorf("%+v", s.Entries)
	}
	if exists(proof) {
		t.Fatal("the filter of the submodule ran")
	}
	w.sh(dir, "git -C sub commit -q --allow-empty -m two; rm -f "+proof) // the person's git runs it
	if got := list(); got != nested+", M 160000 sub" {
		t.Errorf("at another commit: %s", got)
	}
	if patch := try(t, func(ctx context.Context) ([]byte, error) { return w.git.Diff(ctx, dir, DiffSpec{From: "HEAD"}) }); !strings.Contains(string(patch), "+Subproject commit") {
		t.Errorf("%s", patch)
	}
	if exists(proof) {
		t.Error("the filter of the submodule ran")
	}
}

func TestMainIsTheMainWorkTree(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir := w.repo(`mkdir d; echo x >d/a; git add .; git commit -qm one; git worktree add -q ../linked; git clone -q --bare . ../bare; git -C ../bare worktree add -q ../of-bare`)
	up := filepath.Dir(dir)
	for in, want := range map[string]string{dir: dir, dir + "/d": dir, up + "/linked/d": dir, up + "/of-bare/d": up + "/of-bare"} {
		if got, err := w.git.Main(t.Context(), in); got != want || err != nil {
			t.Errorf("%s: %q %v", in, got, err)
		}
	}
	for _, in := range []string{up + "/bare", t.TempDir(), up + "/none"} {
		if got, err := w.git.Main(t.Context(), in); !fault.Is(err, fault.RepoNotFound) {
			t.Errorf("%s: %q %v", in, got, err)
		}
	}
}

func TestAWorkTreeWhoseMakingWasCutOffIsRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir := w.repo(oneCommit)
	path := filepath.Join(t.TempDir(), "tree")
	for what, script := range map[string]string{
		"whole":                    "true",
		"without files":            "rm -r " + path + "/*",
		"not yet known":            "rm -rf .git/worktrees",
		"locked, without its link": "touch .git/worktrees/tree/locked; rm " + path + "/.git; echo x >" + path + "/half",
		"locked, without folder":   "touch .git/worktrees/tree/locked; rm -r " + path,
	} {
		if err := w.git.AddWorktree(t.Context(), dir, path, "mine", ""); err != nil {
			t.Fatal(what, err)
		}
		w.sh(dir, script)
		if err := w.git.RemoveWorktree(t.Context(), dir, path, true); err != nil || exists(path) {
			t.Errorf("%s: %v, exists %v", what, err, exists(path))
		}
		if err := w.git.DeleteBranch(t.Context(), dir, "mine"); err != nil {
			t.Errorf("%s: the branch is still in use: %v", what, err)
		}
	}
	if trees := try(t, func(ctx context.Context) ([]Worktree, error) { return w.git.Worktrees(ctx, dir) }); len(trees) != 1 {
		t.Errorf("%+v", trees)
	}
	if _, err := os.Stat(dir + "/a"); err != nil {
		t.Error(err)
	}
}

func TestOnlyHereCountsWhatABranchAloneHolds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir := w.repo(oneCommit + `; git branch same; git checkout -q -b two; echo 2 >a; git commit -qam 2; echo 3 >a; git commit -qam 3; git branch part HEAD~1
git checkout -q --detach main; echo 4 >a; git commit -qam 4; git checkout -q -b pushed main; echo 5 >a; git commit -qam 5; git update-ref refs/remotes/origin/pushed HEAD`)
	for _, c := range []struct {
		revision, except string
		want             int
	}{
		{"two", "two", 1}, {"two", "", 0}, {"part", "part", 0}, {"same", "same", 0}, {"main", "main", 0}, {"pushed", "pushed", 0},
		{w.sh(dir, "git rev-parse HEAD@{1}"), "", 0}, {w.sh(dir, "git rev-list --all --reflog --grep 4"), "", 1},
	} {
		if got, err := w.git.OnlyHere(t.Context(), dir, c.revision, c.except); got != c.want || err != nil {
			t.Errorf("%+v: %d %v", c, got, err)
		}
	}
	for _, bad := range []string{"--all", "a..b", ""} {
		if _, err := w.git.OnlyHere(t.Context(), dir, bad, ""); !fault.Is(err, fault.InvalidInput) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestAChangeInTheSecondOfTheLastCommitIsSeen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir := w.repo(`git config core.trustctime false; echo one >a; touch -d @1600000000 a; git add .; git commit -qm one
echo two >a; touch -d @1600000000 a .git/index; echo new >b`)
	changes := try(t, func(ctx context.Context) ([]Change, error) {
		return w.git.ChangedFiles(ctx, dir, DiffSpec{From: "HEAD", Untracked: true})
	})
	if len(changes) != 2 || changes[0].Path != "a" {
		t.Errorf("%+v", changes)
	}
}
