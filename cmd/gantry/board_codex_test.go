package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/gantry-run/gantry/internal/codextest"
)

// The real Codex works on a task in a worktree of its own: it is started, followed while it
// works, asked again, given a message to go on with, which is taken back once, and what it
// edited is read as changes and as a patch.
func TestBoardTheRealCodexWorksOnATask(t *testing.T) {
	t.Parallel()
	codextest.Program(t)
	d := newBareDesk(t)
	model := d.withCodex()
	d.flags = append(d.flags, "--agents-full-access") // no sandbox of its own in a sandbox
	d.reopen()
	if raw := string(d.must("list_executors", args{})); !strings.Contains(raw, `"CODEX"`) {
		t.Fatalf("CODEX is not listed: %s", raw)
	}
	task := d.task("Write it down")
	raw := d.must("start_task_attempt", args{
		"task_id": task, "executor": "codex", "request_id": "start",
		"prompt": "say: I begin\nwrite: a.txt hello\nwait: gate\npatch: docs/new.md text\nsay: finished",
		"repos":  []args{{"repo_id": d.repo, "target_branch": "main"}},
	})
	id, first := field(t, raw, "attempt_id"), field(t, raw, "execution_process_id")
	said := func(text string) func() bool {
		return func() bool { // all pages of the log, since the newest entry need not be on the last
			return strings.Contains(string(d.must("tail_attempt_logs", args{"attempt_id": id, "limit": 1000})), text)
		}
	}
	eventually(t, "the agent's first words are read while it works", said("I begin"))
	if s := d.status(id); field(t, s, "state") != "running" || field(t, s, "latest_execution_process_id") != first {
		t.Errorf("%s", s)
	}
	if f := d.fails("follow_up", args{"attempt_id": id, "action": "send", "prompt": "say: too early"}, "run_locked"); !f.Retryable {
		t.Errorf("%+v", f)
	}
	d.followUp(args{"attempt_id": id, "action": "queue", "prompt": "say: never"})
	d.followUp(args{"attempt_id": id, "action": "cancel"})
	if out := d.followUp(args{"attempt_id": id, "action": "queue", "prompt": "write: a.txt queued\nsay: second"}); out.Status != "queued" {
		t.Errorf("%+v", out)
	}
	model.Open("gate")
	eventually(t, "the queued turn is over", func() bool {
		return field(t, d.settled(id), "latest_execution_process_id") != first && field(t, d.status(id), "state") == "completed"
	})
	sent := d.followUp(args{"attempt_id": id, "action": "send", "prompt": "run: rm README.md\nsay: third", "request_id": "send"})
	if s := d.settled(id); field(t, s, "state") != "completed" || field(t, s, "latest_execution_process_id") != sent.Process {
		t.Fatalf("%s", s)
	}
	var summaries []string
	for _, turn := range d.prompts(args{"attempt_id": id}) {
		summaries = append(summaries, turn[1])
	}
	if !slices.Equal(summaries, []string{"finished", "second", "third"}) {
		t.Errorf("%q", summaries)
	}
	last := model.Requests()
	if prompts := last[len(last)-1].Prompts; len(prompts) != 3 {
		t.Errorf("the model has heard %q in one conversation", prompts)
	}

	c := d.changes(id, nil)
	if got := c.paths(); !slices.Equal(got, []string{"root/README.md", "root/a.txt", "root/docs/new.md"}) || c.Summary.Added != 3 || c.Summary.Deleted != 1 {
		t.Errorf("%q %+v", got, c.Summary)
	}
	patch := field(t, d.must("get_attempt_patch", args{"attempt_id": id, "paths": c.paths()}), "patch")
	for _, want := range []string{"--- a/root/README.md\n+++ /dev/null", "+++ b/root/a.txt", "+hello\n+queued\n", "+++ b/root/docs/new.md", "+text\n"} {
		if !strings.Contains(patch, want) {
			t.Errorf("%q is not in\n%s", want, patch)
		}
	}
	if got := d.git(".", "status", "--porcelain"); got != "" {
		t.Errorf("the repository itself has changed: %s", got)
	}
}
