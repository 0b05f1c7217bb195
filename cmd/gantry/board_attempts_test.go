package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gantry-run/gantry/specs"
	"github.com/gantry-run/gantry/validate"
)

// The scenarios of the seed about tasks and attempts.

func TestBoardTaskListIncludesLatestAttempt(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	none, tried := d.task("nothing was tried"), d.task("two were tried")
	first := d.start(tried, "exit 3")
	d.settled(first.id)
	var out struct {
		Tasks []struct {
			ID         string  `json:"task_id"`
			Status     string  `json:"status"`
			Attempt    *string `json:"latest_attempt_id"`
			Branch     *string `json:"latest_workspace_branch"`
			Session    *string `json:"latest_session_id"`
			Executor   *string `json:"latest_session_executor"`
			InProgress bool    `json:"has_in_progress_attempt"`
			Failed     bool    `json:"last_attempt_failed"`
		} `json:"tasks"`
		Count   int    `json:"count"`
		Project string `json:"project_id"`
	}
	d.fetch("list_tasks", args{"project_id": d.project}, &out)
	if out.Count != 2 || out.Project != d.project || out.Tasks[0].ID != tried || out.Tasks[1].ID != none {
		t.Fatalf("%+v", out)
	}
	if n := out.Tasks[1]; n.Attempt != nil || n.Branch != nil || n.Session != nil || n.Executor != nil || n.InProgress || n.Failed || n.Status != "todo" {
		t.Errorf("without an attempt: %+v", n)
	}
	if f := out.Tasks[0]; *f.Attempt != first.id || *f.Branch != first.branch || *f.Session != first.session || *f.Executor != "SCRIPT" || f.InProgress || !f.Failed || f.Status != "inreview" {
		t.Errorf("after a failure: %+v", f)
	}
	second := d.start(tried, d.wait("gate"))
	d.fetch("list_tasks", args{"project_id": d.project, "status": "inprogress"}, &out)
	if out.Count != 1 || *out.Tasks[0].Attempt != second.id || !out.Tasks[0].InProgress || out.Tasks[0].Failed {
		t.Errorf("while the second works: %+v", out)
	}
	d.open("gate")
	d.settled(second.id)
}

func TestBoardAttemptsAreListedWithSessionSummary(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	task := d.task("tried twice")
	first, second := d.start(task, "true"), d.start(task, "true")
	d.settled(first.id)
	d.settled(second.id)
	var out struct {
		Task     string `json:"task_id"`
		Attempts []struct {
			ID       string    `json:"attempt_id"`
			Branch   string    `json:"workspace_branch"`
			Created  time.Time `json:"created_at"`
			Updated  time.Time `json:"updated_at"`
			Session  string    `json:"latest_session_id"`
			Executor string    `json:"latest_session_executor"`
		} `json:"attempts"`
		Count   int    `json:"count"`
		Attempt string `json:"latest_attempt_id"`
		Session string `json:"latest_session_id"`
	}
	d.fetch("list_task_attempts", args{"task_id": task}, &out)
	if out.Task != task || out.Count != 2 || out.Attempt != second.id || out.Session != second.session {
		t.Fatalf("%+v", out)
	}
	for i, want := range []work{second, first} {
		a := out.Attempts[i]
		if a.ID != want.id || a.Branch != want.branch || a.Session != want.session || a.Executor != "SCRIPT" || a.Updated.Before(a.Created) {
			t.Errorf("attempt %d is %+v, want %+v", i, a, want)
		}
	}
}

// An attempt's session is gone when its run is.
func (d *desk) withoutSession() work {
	d.world.t.Helper()
	a := d.attempt("true")
	d.end()
	if err := os.RemoveAll(filepath.Join(d.state, "runs", a.session)); err != nil {
		d.world.t.Fatal(err)
	}
	d.reopen()
	return a
}

func TestBoardAttemptWithoutSessions(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a := d.withoutSession()

	// list_task_attempts: Attempt has no sessions
	raw := d.must("list_task_attempts", args{"task_id": a.task})
	var out struct {
		Attempts []map[string]any `json:"attempts"`
		Session  any              `json:"latest_session_id"`
	}
	if err := json.Unmarshal(raw, &out); err != nil || len(out.Attempts) != 1 || out.Attempts[0]["latest_session_id"] != nil || out.Session != nil {
		t.Errorf("%v: %s", err, raw)
	}

	// get_attempt_status: Attempt has no sessions or processes
	s := d.status(a.id)
	if field(t, s, "state") != "idle" || field(t, s, "latest_session_id") != "" || field(t, s, "latest_execution_process_id") != "" || field(t, s, "failure_summary") != "" {
		t.Errorf("%s", s)
	}

	// tail_attempt_logs: No process yields empty history
	var page struct {
		Process *string `json:"execution_process_id"`
		Entries []any   `json:"entries"`
		More    bool    `json:"has_more"`
		Next    *int    `json:"next_cursor"`
	}
	d.fetch("tail_attempt_logs", args{"attempt_id": a.id}, &page)
	if page.Process != nil || page.Entries == nil || len(page.Entries) != 0 || page.More || page.Next != nil {
		t.Errorf("%+v", page)
	}

	// follow_up: Attempt has no sessions; Missing session yields actionable hint
	for _, action := range []string{"send", "queue"} {
		f := d.fails("follow_up", args{"attempt_id": a.id, "action": action, "prompt": "true"}, "no_session_yet")
		if !f.Retryable || !strings.Contains(f.Hint, "get_attempt_status") || !strings.Contains(f.Hint, "latest_session_id") {
			t.Errorf("%s: %+v", action, f)
		}
	}
	d.fails("follow_up", args{"attempt_id": a.id, "action": "cancel"}, "no_session_yet")
	d.fails("tail_session_messages", args{"attempt_id": a.id}, "no_session_yet")
}

func TestBoardAttemptIsRunning(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a := d.held("exit 0")
	s := d.status(a.id)
	if field(t, s, "state") != "running" || field(t, s, "latest_execution_process_id") != a.turn || field(t, s, "latest_session_id") != a.session ||
		field(t, s, "task_id") != a.task || field(t, s, "last_activity_at") == "" || field(t, s, "failure_summary") != "" {
		t.Errorf("%s", s)
	}
	if got := field(t, d.must("get_task", args{"task_id": a.task}), "status"); got != "inprogress" {
		t.Errorf("its task is %s", got)
	}
	d.fails("delete_task", args{"task_id": a.task}, "attempt_running")
	d.open("gate")
	if s := d.settled(a.id); field(t, s, "state") != "completed" || field(t, s, "failure_summary") != "" {
		t.Errorf("%s", s)
	}
	if got := field(t, d.must("get_task", args{"task_id": a.task}), "status"); got != "inreview" {
		t.Errorf("its task is %s", got)
	}
}

func TestBoardAttemptIsFailed(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a := d.attempt("echo it breaks; exit 3")
	if s := d.status(a.id); field(t, s, "state") != "failed" || field(t, s, "failure_summary") != "failed (exit_code=3)" {
		t.Errorf("%s", s)
	}
	b := d.attempt("kill -9 $$")
	if s := d.status(b.id); field(t, s, "state") != "failed" || field(t, s, "failure_summary") == "" {
		t.Errorf("%s", s)
	}
}

func TestBoardStopsARunningAttempt(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for _, force := range []bool{false, true} {
		a := d.held("exit 0")
		var out struct {
			ID    string `json:"attempt_id"`
			Force bool   `json:"force"`
			State string `json:"state"`
		}
		d.fetch("stop_attempt", args{"attempt_id": a.id, "force": force}, &out)
		if out.ID != a.id || out.Force != force || out.State != "failed" && out.State != "completed" {
			t.Errorf("%+v", out)
		}
		if s := d.status(a.id); field(t, s, "state") == "running" || field(t, s, "state") == "failed" && field(t, s, "failure_summary") == "" {
			t.Errorf("%s", s)
		}
		d.must("stop_attempt", args{"attempt_id": a.id}) // is stopped already
		if got := field(t, d.must("get_task", args{"task_id": a.task}), "status"); got != "inreview" {
			t.Errorf("its task is %s", got)
		}
	}
}

func TestBoardContextReturnsUnifiedAttemptData(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	if f := d.fails("get_context", args{}, "no_context"); f.Retryable {
		t.Errorf("%+v", f)
	}
	a := d.attempt("pwd >where; mkdir deep")
	where := strings.TrimSpace(read(t, d.worktree(a, "root/where"))) // on the wire its path is masked
	for _, dir := range []string{where, filepath.Join(where, "deep")} {
		inside := *d.world
		inside.root = dir
		p := inside.serve(stateful, "--toolsets=board")
		var out struct {
			Project string `json:"project_id"`
			Name    string `json:"project_name"`
			Task    string `json:"task_id"`
			Title   string `json:"task_title"`
			Status  string `json:"task_status"`
			Attempt string `json:"attempt_id"`
			Branch  string `json:"workspace_branch"`
			Repos   []struct {
				ID     string `json:"repo_id"`
				Name   string `json:"repo_name"`
				Target string `json:"target_branch"`
			} `json:"workspace_repos"`
		}
		p.fetch("get_context", args{}, &out)
		if out.Project != d.project || out.Name == "" || out.Task != a.task || out.Title != "a task" || out.Status != "inreview" || out.Attempt != a.id || out.Branch != a.branch {
			t.Errorf("%+v", out)
		}
		if len(out.Repos) != 1 || out.Repos[0].ID != d.repo || out.Repos[0].Name != "root" || out.Repos[0].Target != "main" {
			t.Errorf("%+v", out.Repos)
		}
		p.end()
	}
}

func TestBoardExecutorIdentifiersAreUsable(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	var out struct {
		Executors []struct {
			Name     string   `json:"executor"`
			Variants []string `json:"variants"`
			MCP      bool     `json:"supports_mcp"`
			Default  *string  `json:"default_variant"`
		} `json:"executors"`
		Count int `json:"count"`
	}
	d.fetch("list_executors", args{}, &out)
	if out.Count != len(out.Executors) || out.Count == 0 {
		t.Fatalf("%+v", out)
	}
	for _, e := range out.Executors {
		if e.Name != "SCRIPT" {
			continue // what this machine has installed
		}
		if len(e.Variants) != 1 || e.Variants[0] != "FAST" || e.Default != nil {
			t.Errorf("%+v", e)
		}
		repos := []args{{"repo_id": d.repo, "target_branch": "main"}}
		for _, variant := range append(e.Variants, "") {
			a := args{"task_id": d.task("x"), "executor": e.Name, "prompt": "true", "repos": repos}
			if variant != "" {
				a["variant"] = variant
			}
			id := field(t, d.must("start_task_attempt", a), "attempt_id")
			if s := d.settled(id); field(t, s, "state") != "completed" {
				t.Errorf("%s", s)
			}
		}
		d.fails("start_task_attempt", args{"task_id": d.task("x"), "executor": "NOBODY", "prompt": "true", "repos": repos}, "executor_unavailable")
		return
	}
	t.Errorf("SCRIPT is not listed: %+v", out)
}

// Every tool succeeds once and answers what its output schema says.
func TestEveryBoardToolAnswersAsItsSchemaSays(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a := d.attempt("echo said; echo more >>README.md")
	gone := d.task("to be deleted")
	inside := *d.world
	inside.root = filepath.Dir(d.worktree(a, "root/README.md"))
	calls := map[string]args{
		"list_projects": {}, "list_repos": {"project_id": d.project}, "list_tasks": {"project_id": d.project, "limit": 1}, "list_task_attempts": {"task_id": a.task},
		"get_task": {"task_id": a.task}, "create_task": {"project_id": d.project, "title": "new", "description": "with a text"},
		"update_task": {"task_id": a.task, "title": "changed", "status": "done"}, "delete_task": {"task_id": gone},
		"start_task_attempt":  {"task_id": a.task, "executor": "SCRIPT", "prompt": "true", "repos": []args{{"repo_id": d.repo, "target_branch": "main"}}},
		"follow_up":           {"attempt_id": a.id, "action": "cancel"},
		"get_attempt_status":  {"attempt_id": a.id},
		"tail_attempt_logs":   {"attempt_id": a.id, "channel": "raw"},
		"get_attempt_changes": {"attempt_id": a.id}, "list_executors": {}, "stop_attempt": {"attempt_id": a.id},
		"tail_session_messages": {"attempt_id": a.id}, "get_attempt_file": {"attempt_id": a.id, "path": "root/README.md"},
		"get_attempt_patch": {"attempt_id": a.id, "paths": []string{"root/README.md"}},
	}
	var schemas validate.Lazy
	check := func(p *peer, name string, a args) json.RawMessage {
		t.Helper()
		raw := p.must(name, a)
		spec, _ := specs.ToolByName("board", name)
		schema, err := schemas.Output(spec)
		if err != nil {
			t.Fatal(err)
		}
		if problems, err := schema.Check(raw); err != nil || len(problems) > 0 {
			t.Errorf("%s: %v %v in %s", name, err, problems, raw)
		}
		return raw
	}
	for _, tool := range d.tools() {
		if tool.Name == "get_context" {
			check(inside.serve(stateful, "--toolsets=board"), tool.Name, args{})
			continue
		}
		if raw := check(d.peer, tool.Name, calls[tool.Name]); tool.Name == "start_task_attempt" {
			d.settled(field(t, raw, "attempt_id"))
		}
	}
	d.fails("get_task", args{"task_id": gone}, "task_not_found")
}

// worktree is where a file of an attempt is on disk.
func (d *desk) worktree(a work, path string) string {
	d.world.t.Helper()
	found, err := filepath.Glob(filepath.Join(d.state, "board", "*", "*", path))
	for _, f := range found {
		if err == nil && strings.Contains(f, a.id) {
			return f
		}
	}
	d.world.t.Fatalf("%s of %s is not in the state directory: %q", path, a.id, found)
	return ""
}

func TestBoardTasksAreKept(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := field(t, d.must("create_task", args{"project_id": d.project, "title": "Fix <it> & \"all\"", "description": "Long\ntext"}), "task_id")
	d.must("update_task", args{"task_id": id, "status": "cancelled", "description": ""})
	d.fails("update_task", args{"task_id": id}, "missing_required")
	d.signal(9)
	d.reopen()
	got := d.must("get_task", args{"task_id": id})
	if field(t, got, "title") != `Fix <it> & "all"` || field(t, got, "status") != "cancelled" || field(t, got, "description") != "" || field(t, got, "project_id") != d.project {
		t.Errorf("%s", got)
	}
	d.must("delete_task", args{"task_id": id})
	d.fails("get_task", args{"task_id": id}, "task_not_found")
	d.fails("delete_task", args{"task_id": id}, "task_not_found")
	d.fails("list_tasks", args{"project_id": id}, "project_not_found")
	d.fails("get_attempt_status", args{"attempt_id": id}, "attempt_not_found")
}

func TestBoardListsArePagedToTheirEnd(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	const n = 60
	for range n {
		d.task(strings.Repeat("a long title ", 10))
	}
	seen := map[string]bool{}
	for a := (args{"project_id": d.project}); ; {
		raw := d.must("list_tasks", a)
		var page struct {
			Tasks []struct {
				ID string `json:"task_id"`
			} `json:"tasks"`
			Next *string `json:"next_cursor"`
		}
		if err := json.Unmarshal(raw, &page); err != nil || len(raw) > 9000 {
			t.Fatalf("%d bytes: %v", len(raw), err)
		}
		for _, task := range page.Tasks {
			seen[task.ID] = true
		}
		if page.Next == nil {
			break
		}
		a["cursor"] = *page.Next
	}
	if len(seen) != n {
		t.Errorf("%d of %d tasks were listed", len(seen), n)
	}
	d.fails("list_tasks", args{"project_id": d.project, "cursor": "nonsense"}, "invalid_cursor")
}
