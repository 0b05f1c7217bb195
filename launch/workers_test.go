package launch

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/validate"
)

// Every worker is called again, as after a crash between its effects and their record,
// with what a killed attempt may have left. It has to come to the same bytes.
func TestEveryWorkerCanBeCalledAgain(t *testing.T) {
	t.Parallel()
	again := map[string]int{}
	var w *world
	twice := func(name string, do runs.Activity) runs.Activity {
		return func(ctx context.Context, work runs.Work, try runs.Try) (runs.Result, error) {
			one, err := do(ctx, work, try)
			if err != nil {
				return one, err
			}
			if name == "draft_section" {
				return one, nil // its items run side by side: see the test of repeated launches
			}
			before := tree(t, try.Dir)
			litter(t, name, try.Dir)
			try.Attempt = 2
			two, err := do(ctx, work, try)
			if err != nil {
				t.Errorf("%s cannot be called again: %v", name, err)
				return two, err
			}
			if diff := cmp.Diff(plain(t, one), plain(t, two)); diff != "" {
				t.Errorf("%s gives another result when it is called again: %s", name, diff)
			}
			if diff := cmp.Diff(before, tree(t, try.Dir)); diff != "" {
				t.Errorf("%s leaves other files when it is called again: %s", name, diff)
			}
			if name == "merge_and_link" {
				if err := breakPage(try.Dir); err != nil {
					t.Error(err)
				}
			}
			again[name]++
			return two, nil
		}
	}
	w = newWorld(t, twice)
	id := w.start(`,"site_repo_url":"site.git"` + autopilot)
	w.in(id, runs.StateDone)
	for _, name := range WorkerNames() {
		if again[name] == 0 && name != "draft_section" {
			t.Errorf("%s was not called again", name)
		}
	}
	pr := w.pr(id)
	if n := w.git(w.site(id), "rev-list", "--count", pr.BaseRef+".."+pr.Branch); n != "1" {
		t.Errorf("the branch has %s commits, want 1", n)
	}
	if got := w.git("site.git", "for-each-ref", "--format=%(refname) %(objectname)", "refs/heads/launch"); got != "refs/heads/"+pr.Branch+" "+pr.CommitSHAs[0] {
		t.Errorf("the remote has %q", got)
	}
}

func plain(t *testing.T, r runs.Result) string {
	t.Helper()
	raw, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// litter leaves what a worker that was killed might have left.
func litter(t *testing.T, worker, dir string) {
	t.Helper()
	put := func(name, text string) {
		path := filepath.Join(dir, name)
		os.MkdirAll(filepath.Dir(path), 0o755)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	switch worker {
	case "clone_inputs":
		put("work/repo/half-written.go", "package ha")
		put("work/site/content/docs/junk.md", "junk")
		put("work/repo/.git/index.lock", "")
		os.Remove(filepath.Join(dir, "work", "repo", "README.md"))
	case "merge_and_link":
		put("work/site/content/docs/widget/half.md", "ha")
		put("work/site/.git/index.lock", "")
	case "fix_next", "open_pr":
		put("work/site/.git/index.lock", "")
	}
}

// Two launches of the same inputs write the same, whatever runs side by side.
func TestTwoLaunchesOfTheSameInputsAreTheSame(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	one, two := w.start(autopilot), w.start(autopilot)
	w.in(one, runs.StateDone)
	w.in(two, runs.StateDone)
	a, b := tree(t, w.store.Dir(one)), tree(t, w.store.Dir(two))
	for _, files := range []map[string]string{a, b} {
		delete(files, "artifacts/pr.json")
		maps.DeleteFunc(files, func(name, _ string) bool { return strings.HasPrefix(name, "logs/") })
	}
	if diff := cmp.Diff(a, b); diff != "" {
		t.Error(diff)
	}
	if w.pr(one).CommitSHAs[0] != w.pr(two).CommitSHAs[0] {
		t.Error("the commits differ")
	}
}

func TestNoAbsolutePathLeavesTheSources(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	base := filepath.Dir(w.root)
	id := w.start(`,"site_repo_url":"` + w.root + `/site.git"` + autopilot)
	w.in(id, runs.StateDone)
	for name, text := range tree(t, w.store.Dir(id)) {
		if strings.Contains(text, base) != (name == sourcesFile) {
			t.Errorf("%s: absolute path: %v", name, strings.Contains(text, base))
		}
	}
	events, err := os.ReadFile(filepath.Join(w.store.Dir(id), "events.ndjson"))
	if err != nil || strings.Contains(string(events), base) {
		t.Errorf("the events hold an absolute path, %v", err)
	}
	st, err := w.svc.Status(t.Context(), id, "")
	raw, _ := json.Marshal(st)
	if err != nil || strings.Contains(string(raw), base) {
		t.Errorf("the status holds an absolute path: %s, %v", raw, err)
	}
}

func TestBudgetsEndTheRunAndWriteNothing(t *testing.T) {
	for members, code := range map[string]fault.Code{
		`,"budgets":{"max_files_changed":1}`:              fault.ChangeBudgetExceeded,
		`,"budgets":{"max_lines_per_file":1}`:             fault.ChangeBudgetExceeded,
		`,"allowed_paths":["static/**"]`:                  fault.AllowedPathsViolation,
		`,"allowed_paths":["content/docs/widget/start/"]`: fault.AllowedPathsViolation,
	} {
		t.Run(members, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			id := w.start(`,"site_repo_url":"site.git"` + members + autopilot)
			v := w.rest(id)
			if v.State != runs.StateFailed || v.Failure == nil || v.Failure.Code != string(code) {
				t.Errorf("%s %+v, want %s", v.State, v.Failure, code)
			}
			if got := w.git(w.site(id), "status", "--porcelain", "--untracked-files=all"); got != "" {
				t.Errorf("the site was changed: %s", got)
			}
		})
	}
}

func TestTheRuntimeBudgetCountsWorkAndNotWaiting(t *testing.T) {
	t.Parallel()
	var w *world
	hanging := func(name string, do runs.Activity) runs.Activity {
		if name != "ingest_repo" {
			return do
		}
		return func(ctx context.Context, work runs.Work, try runs.Try) (runs.Result, error) {
			own := &workers{git: w.options.Git}
			return own.activity(func(_ *workers, ctx context.Context, _ *job) (runs.Result, error) {
				<-ctx.Done()
				return runs.Result{}, ctx.Err()
			})(ctx, work, try)
		}
	}
	w = newWorld(t, hanging)
	v := w.rest(w.start(`,"budgets":{"max_runtime_s":1}`))
	if v.State != runs.StateFailed || v.Failure.Code != string(fault.BudgetExceeded) || v.Failure.Retryable {
		t.Errorf("%s %+v", v.State, v.Failure)
	}
}

// An item that failed and is executed again has a start behind its end; a launch that
// somebody resumes the next day has not gained a day.
func TestTheTimeBetweenAFailureAndAResumeIsNoWork(t *testing.T) {
	day := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	at := func(h int) *time.Time { when := day.Add(time.Duration(h) * time.Hour); return &when }
	v := &runs.View{WorkItems: []runs.WorkItem{{StartedAt: at(0), FinishedAt: at(2)}, {StartedAt: at(24), FinishedAt: at(3)}, {StartedAt: at(5)}, {}}}
	if got := worked(v); got != 2*time.Hour {
		t.Errorf("got %s, want 2h", got)
	}
}

// Somebody may mend pages in the work tree; what else they change is not published.
func TestAChangeOutsideAllowedPathsIsNotPublished(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	id := w.start(`,"site_repo_url":"site.git"`)
	w.in(id, runs.StateReadyForPR)
	canary := filepath.Join(w.site(id), "static", "canary.txt")
	if err := os.WriteFile(canary, []byte("changed\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := w.svc.OpenPR(t.Context(), Ask{}, id, false); !fault.Is(err, fault.AllowedPathsViolation) || !strings.Contains(err.Error(), "static/canary.txt") {
		t.Fatalf("got %v", err)
	}
	if got := w.git("site.git", "for-each-ref", "refs/heads/launch"); got != "" {
		t.Errorf("published: %s", got)
	}
	w.in(id, runs.StateFailed)
	w.git(w.site(id), "checkout", "--", "static/canary.txt")
	if _, err := w.svc.Resume(t.Context(), Ask{}, id, ""); err != nil {
		t.Fatal(err)
	}
	if v := w.rest(id); v.State == runs.StateReadyForPR {
		if _, err := w.svc.OpenPR(t.Context(), Ask{}, id, false); err != nil {
			t.Fatal(err)
		}
	}
	w.in(id, runs.StateDone)
	for _, path := range w.pr(id).AffectedPaths {
		if !strings.HasPrefix(path, "content/") {
			t.Errorf("%s is part of the pull request", path)
		}
	}
}

func TestPublishing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.write("folder/content/docs/page.md", "---\ntitle: A page\n---\n\nText.\n")
	w.git("", "clone", "-q", "--bare", "site", "refuses.git")
	hook := filepath.Join(w.root, "refuses.git", "hooks", "pre-receive")
	if err := os.WriteFile(hook, []byte("#!/bin/sh\necho not on a Friday >&2\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		site   string
		pushed bool
		note   string
	}{
		"a remote that takes it":        {"site.git", true, ""},
		"a remote that refuses":         {"refuses.git", false, "refused"},
		"a checkout of somebody":        {"site", true, ""},
		"a plain folder":                {"folder", false, "no remote"},
		"no site, hence the embedded":   {"", false, "no remote"},
		"a checkout by way of a folder": {"./product/../site", true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			members := autopilot
			if c.site != "" {
				members += `,"site_repo_url":"` + c.site + `"`
			}
			id := w.start(members)
			v := w.in(id, runs.StateDone)
			pr := w.pr(id)
			if pr.Pushed != c.pushed || !strings.Contains(pr.PushNote, c.note) || (c.note == "") != (pr.PushNote == "") {
				t.Errorf("pushed %v, note %q", pr.Pushed, pr.PushNote)
			}
			if want := "resource://run/" + string(id) + "/pr.json"; pr.URL != want || v.Published.URL != want {
				t.Errorf("url %s", pr.URL)
			}
			if !regexp.MustCompile(`^launch/widget/[0-9a-f]{7}/`+id.Short()+`$`).MatchString(pr.Branch) || len(pr.RollbackSteps) == 0 {
				t.Errorf("branch %s, rollback %q", pr.Branch, pr.RollbackSteps)
			}
			if got := w.git(w.site(id), "rev-parse", pr.Branch+"^", "HEAD"); got != pr.BaseRef+"\n"+pr.CommitSHAs[0] {
				t.Errorf("base and head %s, want %s %s", got, pr.BaseRef, pr.CommitSHAs[0])
			}
			if c.pushed {
				if got := w.git(c.site, "rev-parse", "refs/heads/"+pr.Branch); got != pr.CommitSHAs[0] {
					t.Errorf("the remote has %s", got)
				}
			}
			for _, path := range pr.AffectedPaths {
				if !strings.HasPrefix(path, "content/") {
					t.Errorf("%s was touched", path)
				}
			}
		})
	}
}

func TestPagesThatExistAreLeftAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	id := w.start(`,"site_repo_url":"site.git"` + autopilot)
	w.in(id, runs.StateDone)
	for name, text := range siteFiles {
		got, err := os.ReadFile(filepath.Join(w.site(id), name))
		if err != nil || string(got) != text {
			t.Errorf("%s became %q, %v", name, got, err)
		}
	}
	// A second launch into a site that has the first one's pages changes only these.
	w.git("site.git", "update-ref", "refs/heads/main", w.pr(id).CommitSHAs[0])
	w.write("product/README.md", strings.Replace(productFiles["README.md"], "5 ms", "4 ms", 1))
	w.git("product", "commit", "-qam", "faster")
	again := w.start(`,"site_repo_url":"site.git"` + autopilot)
	w.in(again, runs.StateDone)
	for _, path := range w.pr(again).AffectedPaths {
		if _, mine := siteFiles[path]; mine {
			t.Errorf("%s was changed by the second launch", path)
		}
	}
}

// A folder that holds the state directory would be copied into itself for ever.
func TestAPlainFolderMayHoldTheStateDirectory(t *testing.T) {
	base := t.TempDir()
	state := filepath.Join(base, "a", "state")
	to := filepath.Join(state, "runs", "r_1", "work", "repo")
	for _, dir := range []string{to, filepath.Join(base, "b", ".git"), filepath.Join(base, "b", "runs")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"README.md": "r", "a/x": "x", "b/runs/y": "y", "b/.git/config": "c", "a/state/index.db": "db"} {
		if err := os.WriteFile(filepath.Join(base, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(base, "b", "link")); err != nil {
		t.Fatal(err)
	}
	if err := copyTree(t.Context(), base, to); err != nil {
		t.Fatal(err)
	}
	if link, err := os.Readlink(filepath.Join(to, "b", "link")); err != nil || link != "/etc/passwd" {
		t.Errorf("the link became %q, %v", link, err)
	}
	os.Remove(filepath.Join(to, "b", "link"))
	if diff := cmp.Diff(map[string]string{"README.md": "r", "a/x": "x", "b/runs/y": "y"}, tree(t, to)); diff != "" {
		t.Error(diff)
	}
}

func TestDraftsHaveNamesThatCanBeRead(t *testing.T) {
	if got := draftName("content/docs/a/b.md"); got != "content--docs--a--b.md" {
		t.Error(got)
	}
	seen := map[string]string{}
	for _, output := range []string{
		"content/docs/a/b.md", "content/docs/a--b.md", "content/docs--a/b.md", "content/en us/b.md", "content/dé/b.md",
		"content/" + strings.Repeat("x/", 80) + "b.md", "content/..b/c.md",
	} {
		name := draftName(output)
		if other, taken := seen[name]; taken || validate.ArtifactName(name) != nil {
			t.Errorf("%s is called %s, as %q is", output, name, other)
		}
		seen[name] = output
	}
}
