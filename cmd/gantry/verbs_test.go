package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gantry-run/gantry/runs"
)

// spoil edits a page of a run's work tree, as a person would between two calls.
func (w *world) spoil(id, page string, edit func(string) string) (undo func()) {
	w.t.Helper()
	file := filepath.Join(w.site(id), page)
	before := read(w.t, file)
	after := edit(before)
	if after == before {
		w.t.Fatalf("the edit of %s changes nothing", page)
	}
	write(w.t, file, after)
	return func() { write(w.t, file, before) }
}

func replace(old, new string) func(string) string {
	return func(s string) string { return strings.Replace(s, old, new, 1) }
}

func addLine(line string) func(string) string {
	return func(s string) string { return strings.TrimRight(s, "\n") + "\n\n" + line + "\n" }
}

const (
	docsIndex = "content/docs/widget/_index.md"
	firstPage = "content/docs/widget/getting-started.md"
)

// openIssue is an item of open_issues.
type openIssue struct {
	ID       string `json:"issue_id"`
	Severity string
	Gate     string
	Title    string
}

func (p *peer) openIssues(id string) []openIssue {
	p.t.Helper()
	var s struct {
		Issues []openIssue `json:"open_issues"`
	}
	if err := json.Unmarshal(p.status(id), &s); err != nil {
		p.t.Fatal(err)
	}
	return s.Issues
}

// ready starts a launch and waits until it awaits its pull request.
func (w *world) ready(p *peer, config args) string {
	w.t.Helper()
	id := p.start(config)
	if v := w.rest(id); v.State != runs.StateReadyForPR {
		w.t.Fatalf("run %s rests in %s: %+v", id, v.State, v.Failure)
	}
	return id
}

func TestFixNextRepairsOneIssueACallInOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.serve(stateful, "--rate-limit=0")
	id := w.ready(p, nil)
	w.spoil(id, docsIndex, replace("title: ", "was: "))
	w.spoil(id, docsIndex, replace("](/reference/widget/)", "](/reference/wigdet/)"))
	w.spoil(id, docsIndex, addLine("Widget renders a million rows a second."))
	w.spoil(id, firstPage, addLine("See {{ PRODUCT_NAME }} for more."))

	report := p.must("launch_validate", args{"run_id": id})
	if field(t, report, "validation_report.ok") != "false" {
		t.Fatalf("what was spoilt passes: %.500s", report)
	}
	s := p.inState(id, runs.StateValidating)
	if !strings.Contains(field(t, s, "next.tools"), "launch_fix_next") {
		t.Errorf("next is %s", s)
	}
	open := p.openIssues(id)
	seen := map[string]bool{}
	for i, issue := range open {
		seen[issue.Gate] = true
		if i > 0 && (rank(issue) < rank(open[i-1]) || rank(issue) == rank(open[i-1]) && issue.Gate < open[i-1].Gate) {
			t.Errorf("%+v stands behind %+v", issue, open[i-1])
		}
	}
	for _, gate := range []string{"frontmatter", "internal_links", "truth_lock", "template_tokens"} {
		if !seen[gate] {
			t.Errorf("no issue of %s in %+v", gate, open)
		}
	}
	p.refused("launch_open_pr", args{"run_id": id}, "ILLEGAL_STATE")
	calls := 0
	for ; len(open) > 0 && calls < 20; calls++ {
		var fixed struct {
			Fixed    string   `json:"fixed_issue_id"`
			Patches  []string `json:"applied_patch_ids"`
			Issues   int      `json:"remaining_issues"`
			Blockers int      `json:"remaining_blockers"`
		}
		if err := json.Unmarshal(p.must("launch_fix_next", args{"run_id": id}), &fixed); err != nil {
			t.Fatal(err)
		}
		if fixed.Fixed != open[0].ID || len(fixed.Patches) == 0 {
			t.Fatalf("fixed %+v, the first was %+v", fixed, open[0])
		}
		if got := p.openIssues(id); len(got) != fixed.Issues {
			t.Errorf("%d issues remain, the status lists %d", fixed.Issues, len(got))
		}
		if open = p.openIssues(id); fixed.Blockers == 0 {
			break
		}
	}
	if calls < 3 {
		t.Errorf("%d calls mended four issues", calls+1)
	}
	p.inState(id, runs.StateReadyForPR)
	p.must("launch_open_pr", args{"run_id": id})
	p.inState(id, runs.StateDone)
	for _, page := range []string{docsIndex, firstPage} {
		text := read(t, filepath.Join(w.site(id), page))
		if strings.Contains(text, "{{") || strings.Contains(text, "wigdet") || strings.Contains(text, "a million rows") || !strings.Contains(text, "\ntitle: ") {
			t.Errorf("%s was published as\n%s", page, text)
		}
	}
	w.verify(id)
}

func rank(i openIssue) int { return strings.Index("blocker error   warn    info", i.Severity) }

// What cannot be fixed leaves the run as it was: paused, whole, and ready to go on
// once a person has acted.
func TestWhatCannotBeFixedLeavesTheRunAsItWas(t *testing.T) {
	for name, c := range map[string]struct {
		config args
		edit   func(string) string
		code   string
	}{
		"no attempts":  {args{"max_fix_attempts": 0}, addLine("Widget renders a million rows a second."), "FIX_EXHAUSTED"},
		"no known fix": {nil, replace("title: ", "title: \"unclosed\nx: "), "FIXER_UNFIXABLE"},
		"lost heading": {nil, replace("## What it does", "## Entirely other"), "FIXER_UNFIXABLE"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			p := w.serve(stateless, "--rate-limit=0")
			id := w.ready(p, c.config)
			undo := w.spoil(id, docsIndex, c.edit)
			p.must("launch_validate", args{"run_id": id})
			p.inState(id, runs.StateValidating)
			spoilt := read(t, filepath.Join(w.site(id), docsIndex))
			for range 2 {
				p.refused("launch_fix_next", args{"run_id": id}, c.code)
				p.inState(id, runs.StateValidating)
			}
			if read(t, filepath.Join(w.site(id), docsIndex)) != spoilt {
				t.Error("the page was changed")
			}
			undo()
			p.must("launch_validate", args{"run_id": id})
			p.inState(id, runs.StateReadyForPR)
			p.must("launch_open_pr", args{"run_id": id})
			p.inState(id, runs.StateDone)
			w.verify(id)
		})
	}
}

func TestValidateSendsAReadyRunBackWhenItFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.serve(stateful)
	id := w.ready(p, nil)
	undo := w.spoil(id, firstPage, addLine("{{ token }}"))
	p.must("launch_validate", args{"run_id": id})
	p.inState(id, runs.StateValidating)
	undo()
	p.must("launch_validate", args{"run_id": id})
	if issues := p.openIssues(id); len(issues) != 0 {
		t.Errorf("mended, and still open: %+v", issues)
	}
	p.inState(id, runs.StateReadyForPR)
}

// holdGit makes the first fetch or clone of the world's git wait. reached opens once
// it does; let lets it go on.
func (w *world) holdGit() (reached func(), let func()) {
	w.t.Helper()
	dir := filepath.Join(filepath.Dir(w.root), "bin")
	gate := filepath.Join(dir, "gate")
	mkdir(w.t, dir)
	if err := syscall.Mkfifo(gate, 0o600); err != nil {
		w.t.Fatal(err)
	}
	write(w.t, filepath.Join(dir, "git"), `#!/bin/sh
for word in "$@"; do
  if [ "$word" = fetch ] && mv "`+gate+`" "`+gate+`.$$" 2>/dev/null; then
    ln "`+gate+`.$$" "`+gate+`.held"
    cat "`+gate+`.$$"
  fi
done
exec `+realGit(w.t)+` "$@"
`)
	if err := os.Chmod(filepath.Join(dir, "git"), 0o755); err != nil {
		w.t.Fatal(err)
	}
	for i, v := range w.env {
		if path, ok := strings.CutPrefix(v, "PATH="); ok {
			w.env[i] = "PATH=" + dir + ":" + path
		}
	}
	var end *os.File
	reached = func() {
		w.t.Helper()
		eventually(w.t, "git fetches", func() bool {
			f, err := os.OpenFile(gate+".held", os.O_WRONLY|syscall.O_NONBLOCK, 0) // fails until somebody reads
			end = f
			return err == nil
		})
	}
	return reached, func() { end.Close() }
}

func realGit(t *testing.T) string {
	t.Helper()
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if info, err := os.Stat(filepath.Join(dir, "git")); err == nil && !info.IsDir() {
			return filepath.Join(dir, "git")
		}
	}
	t.Fatal("there is no git")
	return ""
}

func TestCancelGetsThroughWhileANodeExecutes(t *testing.T) {
	for _, tool := range []string{"launch_cancel", "cancel_run"} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			reached, _ := w.holdGit()
			p := w.serve(stateful)
			id := p.start(nil)
			reached()
			p.refused("launch_resume", args{"run_id": id}, "RUN_LOCKED")
			p.refused("launch_validate", args{"run_id": id}, "ILLEGAL_STATE")
			p.refused("launch_open_pr", args{"run_id": id}, "ILLEGAL_STATE")

			other := w.serve(stateless) // another process cancels
			asked := time.Now()
			out := other.must(tool, args{"run_id": id})
			if field(t, out, "cancelled") != "true" {
				t.Errorf("cancel answers %s", out)
			}
			v := w.rest(id)
			if took := time.Since(asked); v.State != runs.StateCancelled || took > 10*time.Second {
				t.Errorf("%s after %s", v.State, took)
			}
			p.inState(id, runs.StateCancelled)
			out = p.must(tool, args{"run_id": id})
			if field(t, out, "state") != string(runs.StateCancelled) {
				t.Errorf("the second cancel answers %s", out)
			}
			p.refused("launch_fix_next", args{"run_id": id}, "ILLEGAL_STATE")
			p.refused("launch_validate", args{"run_id": id}, "ILLEGAL_STATE")
			p.refused("launch_resume", args{"run_id": id}, "ILLEGAL_STATE")
			w.verify(id)
			p.end()
			other.end()
			if left := mentioning(filepath.Dir(w.root)); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestAPausedRunCanBeCancelled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.serve(stateless)
	id := w.ready(p, nil)
	p.must("launch_cancel", args{"run_id": id})
	p.inState(id, runs.StateCancelled)
	p.refused("launch_open_pr", args{"run_id": id}, "ILLEGAL_STATE")
}

// A run that failed goes on once what made it fail is mended.
func TestAFailedRunIsResumed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.serve(stateful)
	id := p.start(args{"github_repo_url": "empty"})
	if v := w.rest(id); v.State != runs.StateFailed || v.Failure.Code != "REPO_EMPTY" {
		t.Fatalf("a repository without commits ends in %s: %+v", v.State, v.Failure)
	}
	s := p.inState(id, runs.StateFailed)
	if !strings.Contains(field(t, s, "next.tools"), "launch_resume") {
		t.Errorf("a failed run's next is %s", s)
	}
	w.repository("empty", productFiles)
	p.must("launch_resume", args{"run_id": id})
	if v := w.rest(id); v.State != runs.StateReadyForPR {
		t.Errorf("resumed, it rests in %s: %+v", v.State, v.Failure)
	}
	before := w.rest(id).Seq
	p.must("resume_run", args{"run_id": id, "force": "build_plan"})
	if v := w.until(id, func(v *runs.View) bool { return !v.Busy() && v.Seq > before }); v.State != runs.StateReadyForPR {
		t.Errorf("with a node forced, it rests in %s: %+v", v.State, v.Failure)
	}
	w.verify(id)
}

func TestAServerThatWasKilledLeavesARunThatAnotherOneContinues(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	reached, let := w.holdGit()
	p := w.serve(stateful)
	id := p.start(nil)
	reached()
	p.signal(syscall.SIGKILL)
	let()
	q := w.serve(stateless) // takes what nobody drives
	if v := w.rest(id); v.State != runs.StateReadyForPR {
		t.Errorf("the run rests in %s: %+v", v.State, v.Failure)
	}
	q.must("launch_open_pr", args{"run_id": id})
	q.inState(id, runs.StateDone)
	w.verify(id)
}
