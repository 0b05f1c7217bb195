package changes

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gantry-run/gantry/internal/fault"
)

// lines writes changes as lines: status, path, lines and bytes.
func lines(files []FileChange) (out []string) {
	for _, f := range files {
		line := fmt.Sprintf("%s %s +%d -%d %d", f.Status, f.Path, f.Added, f.Deleted, f.Bytes)
		if f.OldPath != "" {
			line += " from " + f.OldPath
		}
		if f.OldMode != f.NewMode {
			line += " " + f.OldMode + ">" + f.NewMode
		}
		if f.Binary {
			line += " binary"
		}
		out = append(out, line)
	}
	return out
}

func wantLines(t *testing.T, got List, want ...string) {
	t.Helper()
	if l := lines(got.Files); got.Blocked || !slices.Equal(l, want) {
		t.Errorf("%+v\n%s\nwant\n%s", got.Summary, strings.Join(l, "\n"), strings.Join(want, "\n"))
	}
}

func TestChangesAreWhatIsCommittedAndWhatIsNot(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `echo out >.gitignore; seq 5 >edit; seq 5 >gone`, "web", "api")
	w.in("api", "seq 6 >edit; git commit -qam two; rm gone; git add -A; echo new >staged; git add staged; mkdir d; echo x >d/untracked; echo x >out")
	w.in("web", "git commit -q --allow-empty -m two; echo y >>README")
	// What happens on the target meanwhile is not the attempt's.
	w.sh(w.dir+"/origin-api", "echo later >later; git add .; git commit -qm later; git rm -q edit; git commit -qm gone")
	got := w.list(false)
	wantLines(t, got, "added api/d/untracked +1 -0 2 >100644", "modified api/edit +1 -0 12", "deleted api/gone +0 -5 10 100644>",
		"added api/staged +1 -0 4 >100644", "modified web/README +1 -0 6")
	if want := (Summary{FileCount: 5, Added: 4, Deleted: 5, TotalBytes: 34}); got.Summary != want {
		t.Errorf("%+v, want %+v", got.Summary, want)
	}
	w.sh(w.dir+"/origin-api", "git checkout -q --detach; git branch -D main")
	if after := w.list(false); !slices.Equal(after.Files, got.Files) {
		t.Errorf("without the target branch: %v", lines(after.Files))
	}
	w.in("api", "git merge -q --no-edit -m m HEAD; git checkout -q --orphan fresh; git rm -rqf .")
	if after := w.list(false); after.Blocked || len(after.Files) == 0 {
		t.Errorf("on a branch without history: %+v", after)
	}
}

func TestEveryKindOfChangeIsShownRight(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `seq 50 >name; echo x >mode; printf 'a\0' >bin; echo x >type; mkdir sub
b=$(git commit-tree -m x $(git mktree </dev/null)); git update-index --add --cacheinfo 160000,$b,sub; echo $b >../sub`, "api")
	w.in("api", `mv name 'new
name	é'; echo 51 >>'new
name	é'; chmod +x mode; printf 'b\0c' >bin; rm type; ln -s /etc/passwd type; git init -q nested; mkfifo pipe
git init -q sub; git -C sub commit -q --allow-empty -m two; : >empty; printf '\377' >"$(printf 'odd\377')"`)
	wantLines(t, w.list(false), "modified api/bin +0 -0 3 binary", "added api/empty +0 -0 0 >100644", "modified api/mode +0 -0 2 100644>100755",
		"added api/nested +0 -0 0 >160000", "renamed api/new\nname\té +1 -0 144 from api/name", "added api/odd\uFFFD +1 -0 1 >100644",
		"modified api/sub +1 -1 0", "typechange api/type +1 -1 11 100644>120000")
}

func TestAHundredMegabytesAreCountedAndNotRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "true", "api")
	if err := os.WriteFile(filepath.Join(w.dir, "tree/api/large"), bytes.Repeat([]byte("text\n"), 20<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	got := w.list(false)
	if !got.Blocked || got.Reason != ThresholdExceeded || got.Files != nil || got.Summary != (Summary{FileCount: 1, TotalBytes: 100 << 20}) {
		t.Errorf("%+v", got)
	}
	wantLines(t, w.list(true), "added api/large +0 -0 104857600 >100644 binary")
	p := w.patch(PatchRequest{Paths: []string{"api/large"}, Force: true})
	if p.Blocked || !strings.Contains(p.Text, "b/api/large differ\n") || p.Bytes > 500 {
		t.Errorf("%+v", p)
	}
	if f := w.file(FileRequest{Path: "api/large", MaxBytes: 5}); f.Text != "text\n" || !f.Truncated || f.Size != 100<<20 {
		t.Errorf("%+v", f)
	}
}

func TestMoreThanTheGuardIsBlockedUnlessForced(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "true", "api", "web")
	w.in("api", "seq 300 | xargs touch")
	w.in("web", "seq 200 | xargs touch")
	if got := w.list(false); got.Blocked || len(got.Files) != 500 {
		t.Errorf("500 files: %v %+v", got.Blocked, got.Summary)
	}
	w.in("web", "touch one-more")
	if got := w.list(false); !got.Blocked || got.Reason != ThresholdExceeded || len(got.Files) != 0 || got.Summary.FileCount != 501 {
		t.Errorf("501 files: %+v", got)
	}
	if got := w.list(true); got.Blocked || len(got.Files) != 501 || !slices.IsSortedFunc(got.Files, func(a, b FileChange) int { return strings.Compare(a.Path, b.Path) }) {
		t.Errorf("501 files with force: %v %d", got.Blocked, len(got.Files))
	}
	w.in("web", "rm one-more; seq 25001 >README")
	if got := w.list(false); !got.Blocked || got.Summary.Added != 25001 {
		t.Errorf("25,002 lines: %+v", got)
	}
	for _, c := range []struct {
		g    Guard
		s    Summary
		want bool
	}{
		{Safe(), Summary{200, 5000, 5000, 20 << 20}, false}, {Safe(), Summary{201, 0, 0, 0}, true}, {Safe(), Summary{1, 5000, 5001, 0}, true},
		{Relaxed(), Summary{1000, 60_000, 0, 150 << 20}, false}, {Relaxed(), Summary{1, 0, 0, 150<<20 + 1}, true},
		{Off(), Summary{1 << 30, 1 << 30, 1 << 30, 1 << 50}, false}, {Balanced(), Summary{500, 25_000, 0, 50 << 20}, false}, {Balanced(), Summary{TotalBytes: 50<<20 + 1}, true},
	} {
		if got := c.g.exceeded(c.s); got != c.want {
			t.Errorf("%+v of %+v: %v", c.s, c.g, got)
		}
	}
	for name, want := range map[string]Guard{"safe": Safe(), "balanced": Balanced(), "relaxed": Relaxed(), "off": Off()} {
		if got, err := Preset(name); got != want || err != nil {
			t.Errorf("%s: %+v %v", name, got, err)
		}
	}
	if _, err := Preset("none"); !fault.Is(err, fault.InvalidInput) {
		t.Error(err)
	}
}

func TestNothingOfTheRepositoryRunsOrLeadsElsewhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `echo '* filter=evil diff=evil' >.gitattributes`, "api")
	proof := filepath.Join(w.dir, "ran")
	w.in("api", `echo two >README; echo x >new; git config filter.evil.clean 'touch `+proof+`; cat'; git config diff.evil.textconv 'touch `+proof+`; cat'
git config diff.external 'touch `+proof+`'; git config core.fsmonitor 'touch `+proof+`'
for h in post-index-change post-checkout; do printf '#!/bin/sh\ntouch `+proof+`\n' >$(git rev-parse --git-common-dir)/hooks/$h; chmod +x $(git rev-parse --git-common-dir)/hooks/$h; done`)
	wantLines(t, w.list(false), "modified api/README +1 -1 4", "added api/new +1 -0 2 >100644")
	if p := w.patch(PatchRequest{Paths: []string{"api/."}}); !strings.Contains(p.Text, "+two\n") {
		t.Errorf("%+v", p)
	}
	if _, err := os.Lstat(proof); err == nil {
		t.Error("something ran")
	}
	// An agent that gives its worktree a repository whose files are said to be elsewhere.
	w.sh(w.dir, "mkdir secret; echo s >secret/key; rm tree/api/.git; cp -r origin-api/.git tree/api/.git; git -C tree/api config core.worktree "+w.dir+"/secret")
	if got := w.list(true); !got.Blocked || got.Reason != SummaryFailed || got.Files != nil {
		t.Errorf("%+v", got)
	}
	if got := w.patch(PatchRequest{Paths: []string{"api/."}, Force: true}); !got.Blocked || got.Reason != SummaryFailed {
		t.Errorf("%+v", got)
	}
}

func TestWhatGitCannotCompareIsSaid(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "true", "api", "web")
	w.in("web", "rm .git")
	if got := w.list(true); !got.Blocked || got.Reason != SummaryFailed || got.Summary != (Summary{}) {
		t.Errorf("%+v", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.r.List(ctx, w.trees, true); err == nil {
		t.Error("a call that was given up has an answer")
	}
}
