package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/validate"
)

// holding are the capabilities of a client that can hold tasks; asking, of one that can ask its
// user too.
var (
	holding = map[string]any{"extensions": map[string]any{"io.modelcontextprotocol/tasks": map[string]any{}}}
	asking  = map[string]any{"extensions": holding["extensions"], "elicitation": map[string]any{}}
)

// holder is a client that holds tasks, whatever is between it and the server.
type holder struct {
	t       *testing.T
	request func(method string, params map[string]any) answer
}

func (p *peer) holder() holder { return holder{p.t, p.request} }

func (v visit) holder() holder {
	return holder{v.t, func(method string, params map[string]any) answer { a, _ := v.request(method, params); return a }}
}

// heldTask is a task as a client sees it.
type heldTask struct {
	Type    string `json:"resultType"`
	ID      string `json:"taskId"`
	Status  string
	Message string    `json:"statusMessage"`
	TTL     int       `json:"ttlMs"`
	Poll    int       `json:"pollIntervalMs"`
	Created time.Time `json:"createdAt"`
	Updated time.Time `json:"lastUpdatedAt"`
	Asks    map[string]struct {
		Method string
		Params struct {
			Message string
			Schema  struct {
				Properties struct {
					Next struct{ Enum []string }
				}
			} `json:"requestedSchema"`
		}
	} `json:"inputRequests"`
	Result *struct {
		IsError    bool            `json:"isError"`
		Structured json.RawMessage `json:"structuredContent"`
		Content    []struct{ Text string }
	}
	Error *refusal
}

func (h holder) read(method string, params map[string]any) (out heldTask) {
	h.t.Helper()
	a := h.request(method, params)
	if a.Error != nil {
		h.t.Fatalf("%s: %s", method, a.Error)
	}
	if err := json.Unmarshal(a.Result, &out); err != nil {
		h.t.Fatalf("%s: %v in %s", method, err, a.Result)
	}
	return out
}

// begin calls a tool, which must answer with a task.
func (h holder) begin(tool string, arguments any) heldTask {
	h.t.Helper()
	task := h.read("tools/call", map[string]any{"name": tool, "arguments": arguments})
	if task.Type != "task" || task.ID == "" || task.Created.IsZero() || task.Updated.Before(task.Created) || task.TTL != 7*24*3600*1000 || task.Poll != 1000 {
		h.t.Fatalf("%s answers with %+v, which is no task", tool, task)
	}
	if task.Result != nil || task.Error != nil || task.Asks != nil {
		h.t.Errorf("%s: a new task tells too much: %+v", tool, task)
	}
	if now := h.get(task.ID); now.ID != task.ID || now.Type != "complete" {
		h.t.Errorf("right after its making, the task %s is %+v", task.ID, now)
	}
	return task
}

func (h holder) get(id string) heldTask {
	h.t.Helper()
	return h.read("tasks/get", map[string]any{"taskId": id})
}

// until polls a task until it has left a status.
func (h holder) until(id string, status string) (task heldTask) {
	h.t.Helper()
	eventually(h.t, "the task is no longer "+status, func() bool {
		task = h.get(id)
		return task.Status != status
	})
	return task
}

// obeys sends tasks/update or tasks/cancel, which must be acknowledged with nothing else.
func (h holder) obeys(method string, params map[string]any) {
	h.t.Helper()
	a := h.request(method, params)
	var all map[string]json.RawMessage
	if a.Error != nil || json.Unmarshal(a.Result, &all) != nil || string(all["resultType"]) != `"complete"` {
		h.t.Fatalf("%s: %s %s", method, a.Error, a.Result)
	}
	for name := range all {
		if name != "resultType" && name != "_meta" {
			h.t.Errorf("%s is acknowledged with %s", method, name)
		}
	}
}

// decide answers the one question of a task.
func (h holder) decide(task heldTask, action, next string) {
	h.t.Helper()
	for key := range task.Asks {
		h.obeys("tasks/update", map[string]any{"taskId": task.ID, "inputResponses": args{key: args{"action": action, "content": args{"next": next}}}})
	}
}

// refused sends a request, which must be refused with a JSON-RPC code.
func (h holder) refused(code int, method string, params map[string]any) {
	h.t.Helper()
	if a := h.request(method, params); a.Error == nil || a.Error.Code != code {
		h.t.Errorf("%s %v: %s %.300s, want %d", method, params, a.Error, a.Result, code)
	}
}

// fits holds the result of a task against the schema of the tool's result.
func (h holder) fits(tool string, task heldTask) {
	h.t.Helper()
	var list struct {
		Tools []struct {
			Name   string
			Output json.RawMessage `json:"outputSchema"`
		}
	}
	if err := json.Unmarshal(h.request("tools/list", nil).Result, &list); err != nil {
		h.t.Fatal(err)
	}
	for _, t := range list.Tools {
		if t.Name != tool {
			continue
		}
		s, err := validate.Compile(tool, t.Output)
		if err != nil {
			h.t.Fatal(err)
		}
		problems, err := s.Check(task.Result.Structured)
		if err != nil || len(problems) > 0 {
			h.t.Errorf("the task's result is not one of %s: %v %v in %s", tool, problems, err, task.Result.Structured)
		}
		return
	}
	h.t.Errorf("%s is not listed", tool)
}

// A client that declares the extension gets a handle in place of the result, is asked when the
// launch pauses, and decides by the handle alone; over both transports.
func TestALaunchIsATaskForClientsThatHoldThem(t *testing.T) {
	for _, transport := range []string{"stdio", "http"} {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			var h holder
			if transport == "stdio" {
				p := w.serve(stateless, "--rate-limit=0")
				p.caps = asking
				h = p.holder()
			} else {
				s := w.serveHTTP("--rate-limit", "0")
				s.caps = asking
				h = s.as(tokenOfAnn, "/mcp").holder()
			}
			task := h.begin("launch_start_run", args{"run_config": args{"github_repo_url": "product", "site_repo_url": "site"}})
			paused := h.until(task.ID, "working")
			if paused.Status != "input_required" || len(paused.Asks) != 1 || !strings.Contains(paused.Message, "launch_open_pr") {
				t.Fatalf("a paused launch: %+v", paused)
			}
			for _, ask := range paused.Asks {
				if ask.Method != "elicitation/create" || fmt.Sprint(ask.Params.Schema.Properties.Next.Enum) != "[launch_open_pr launch_validate launch_cancel]" {
					t.Errorf("it asks %+v", ask)
				}
			}
			h.decide(paused, "decline", "launch_open_pr")
			h.obeys("tasks/update", map[string]any{"taskId": task.ID, "inputResponses": args{"another": args{"action": "accept", "content": args{"next": "launch_open_pr"}}}})
			if again := h.get(task.ID); again.Status != "input_required" {
				t.Errorf("what was declined and what nobody asked have done something: %+v", again)
			}
			h.refused(-32602, "tasks/update", map[string]any{"taskId": task.ID, "inputResponses": args{keyOf(paused): args{"action": "accept", "content": args{"next": "launch_fix_next"}}}})
			h.decide(paused, "accept", "launch_open_pr")
			if now := h.get(task.ID); now.Asks != nil {
				t.Errorf("what is answered is asked again: %+v", now)
			}
			done := h.until(task.ID, "working")
			if done.Status != "completed" || done.Result == nil || done.Result.IsError || field(t, done.Result.Structured, "state") != "DONE" {
				t.Fatalf("a launch that is done: %+v", done)
			}
			h.fits("launch_start_run", done)
			h.obeys("tasks/cancel", map[string]any{"taskId": task.ID})
			h.obeys("tasks/update", map[string]any{"taskId": task.ID, "inputResponses": args{keyOf(paused): args{"action": "accept", "content": args{"next": "launch_open_pr"}}}})
			if again := h.get(task.ID); again.Status != "completed" {
				t.Errorf("what is over does not stay so: %+v", again)
			}
			h.refused(-32602, "tasks/get", map[string]any{"taskId": "r_20200101T000000Z_abcdefghijkl"})
			h.refused(-32602, "tasks/get", map[string]any{"taskId": "../../etc/passwd"})
			h.refused(-32602, "tasks/cancel", map[string]any{"taskId": "r_20200101T000000Z_abcdefghijkl"})
			h.refused(-32602, "tasks/get", map[string]any{})
			for _, gone := range []string{"tasks/list", "tasks/result"} {
				h.refused(-32601, gone, map[string]any{"taskId": task.ID})
			}
		})
	}
}

func keyOf(task heldTask) string {
	for key := range task.Asks {
		return key
	}
	return ""
}

// Whoever does not declare the extension gets what there always was, in both eras, and is
// told which capability the methods want.
func TestOtherClientsGetTheResultOfTheTool(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var id string
	for _, era := range []string{stateful, stateless} {
		p := w.serve(era, "--rate-limit=0")
		id = p.start(nil)
		a := p.request("tasks/get", map[string]any{"taskId": id})
		if a.Error == nil || a.Error.Code != -32021 {
			t.Errorf("%s: tasks/get: %s %s", era, a.Error, a.Result)
		}
	}
	w.rest(id)
	p := w.serve(stateless, "--rate-limit=0")
	p.caps = holding // which cannot ask
	if paused := p.holder().get(id); paused.Status != "working" || !strings.Contains(paused.Message, "launch_open_pr") || paused.Asks != nil {
		t.Errorf("a paused launch, for a client that cannot ask: %+v", paused)
	}
	if p.holder().obeys("tasks/cancel", map[string]any{"taskId": id}); p.holder().until(id, "working").Status != "cancelled" {
		t.Errorf("it is not cancelled: %+v", p.holder().get(id))
	}
}

// The handles of the starts that infer a configuration tell of it at the end, as their tools do.
func TestAQuickstartsTaskEndsAsItsToolSays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.rewrite("https://github.com/acme/widget", "product")
	p := w.serve(stateless, "--rate-limit=0")
	p.caps = asking
	h := p.holder()
	task := h.begin("launch_start_run_from_github_repo_url", args{"github_repo_url": "https://github.com/acme/widget"})
	paused := h.until(task.ID, "working")
	if h.decide(paused, "accept", "launch_open_pr"); paused.Status != "input_required" {
		t.Fatalf("it pauses as %+v", paused)
	}
	done := h.until(task.ID, "working")
	if done.Status != "completed" {
		t.Fatalf("it ends as %+v", done)
	}
	h.fits("launch_start_run_from_github_repo_url", done)
	if field(t, done.Result.Structured, "derived_config.github_repo_url") == "" {
		t.Errorf("nothing is said of the inference: %s", done.Result.Structured)
	}

	p = w.serve(stateless, "--rate-limit=0")
	p.caps = holding
	failing := p.holder().begin("launch_start_run", args{"run_config": args{"github_repo_url": "empty"}})
	if failed := p.holder().until(failing.ID, "working"); failed.Status != "failed" || failed.Error == nil || failed.Error.Data.Code == "" || failed.Result != nil {
		t.Errorf("a launch that fails: %+v", failed)
	}
}

// A handle needs no server to hold: after kill -9, another answers it.
func TestAHandleOutlivesItsServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.serve(stateless, "--rate-limit=0")
	p.caps = asking
	task := p.holder().begin("launch_start_run", args{"run_config": args{"github_repo_url": "product", "site_repo_url": "site"}})
	p.signal(syscall.SIGKILL)
	p = w.serve(stateless, "--rate-limit=0")
	p.caps = asking
	h := p.holder()
	paused := h.until(task.ID, "working")
	if paused.Status != "input_required" || !paused.Created.Equal(task.Created) {
		t.Fatalf("before %+v, after %+v", task, paused)
	}
	p.signal(syscall.SIGKILL)
	p = w.serve(stateless, "--rate-limit=0")
	p.caps = asking
	h = p.holder()
	if again := h.get(task.ID); keyOf(again) != keyOf(paused) {
		t.Errorf("the question has another name: %+v", again)
	}
	h.decide(paused, "accept", "launch_cancel")
	if over := h.until(task.ID, "working"); over.Status != "cancelled" {
		t.Errorf("it ends as %+v", over)
	}
}

// A task is its owner's. For others, on paths that do not serve its toolset, and for who may
// only read there is none, or nothing to be done to it; and each request is counted once.
func TestATaskIsItsOwnersAndIsCountedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.serveHTTP("--rate-limit", "0")
	s.caps = asking
	ann, bob, eve := s.as(tokenOfAnn, "/mcp"), s.as(tokenOfBob, "/mcp"), s.as(tokenOfEve, "/mcp")
	task := ann.holder().begin("launch_start_run", args{"run_config": args{"github_repo_url": "product", "site_repo_url": "site"}})
	w.rest(task.ID)
	named := func() map[string]any { return map[string]any{"taskId": task.ID} }
	bob.holder().refused(-32602, "tasks/get", named())
	bob.holder().refused(-32602, "tasks/cancel", named())
	bob.holder().refused(-32602, "tasks/update", map[string]any{"taskId": task.ID, "inputResponses": args{}})
	eve.holder().refused(-32602, "tasks/get", named())
	if a, status := eve.request("tasks/cancel", named()); a.Error == nil || status != 403 {
		t.Errorf("who may only read cancels: %d %s", status, a.Error)
	}
	s.as(tokenOfAnn, "/mcp/x/tasks").holder().refused(-32602, "tasks/get", named())
	readonly := s.as(tokenOfAnn, "/mcp/readonly").holder()
	readonly.refused(-32601, "tasks/cancel", named())
	if seen := readonly.get(task.ID); seen.Status != "input_required" {
		t.Errorf("on the path that reads: %+v", seen)
	}
	r := ann.post(t.Context(), "tasks/get", named())
	r.Header.Set("Mcp-Name", "another")
	if a, status, err := ann.send(r); err != nil || a.Error == nil || a.Error.Code != -32020 || status != 400 {
		t.Errorf("a header that names another: %d %s %v", status, a.Error, err)
	}
	ann.holder().refused(-32602, "tasks/update", map[string]any{"taskId": task.ID, "inputResponses": args{"k": 7}})

	count := func(words ...string) float64 { return ann.sample("gantry_tool_calls_total", words...) }
	before := count(`toolset="protocol"`, `tool_name="tasks/get"`, `outcome="success"`)
	ann.holder().get(task.ID)
	if got := count(`toolset="protocol"`, `tool_name="tasks/get"`, `outcome="success"`) - before; got != 1 {
		t.Errorf("a request is counted %g times: %s", got, grep(ann, "tasks/get"))
	}
	ann.holder().obeys("tasks/cancel", named())
}

// grep returns the lines of the metrics that hold a word.
func grep(v visit, word string) (lines []string) {
	_, text := v.get("/metrics")
	for _, line := range strings.Split(text, "\n") {
		if strings.Contains(line, word) {
			lines = append(lines, line)
		}
	}
	return lines
}

// A job that outlives the wait is a task; one that does not is a result.
func TestAJobThatGoesOnIsATask(t *testing.T) {
	t.Parallel()
	w := newProject(t)
	p := w.serve(stateless, "--toolsets=tasks", "--rate-limit=0")
	p.caps = holding
	h := p.holder()
	task := h.begin("task_start", args{"unique_name": "long", "wait_for_exit_seconds": 0})
	w.openGate("joy")
	done := h.until(task.ID, "working")
	if done.Status != "completed" || !strings.Contains(field(t, done.Result.Structured, "initial_output"), "went on with joy") || field(t, done.Result.Structured, "exit_code") != "0" {
		t.Errorf("a job that has ended: %+v", done)
	}
	h.fits("task_start", done)
	p.must("task_start", args{"unique_name": "code", "wait_for_exit_seconds": 50})

	task = h.begin("task_start", args{"unique_name": "long", "wait_for_exit_seconds": 0})
	h.obeys("tasks/cancel", map[string]any{"taskId": task.ID})
	if over := h.until(task.ID, "working"); over.Status != "cancelled" {
		t.Errorf("a job that was stopped: %+v", over)
	}
}

// An attempt is a task until its first turn is over, whatever is said to the agent later.
func TestAnAttemptIsATaskUntilItsFirstTurnIsOver(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.serve(stateless, d.flags...)
	p.caps = holding
	h := p.holder()
	begin := func(script string) heldTask {
		return h.begin("start_task_attempt", args{
			"task_id": d.task("a task"), "executor": "SCRIPT", "prompt": script, "repos": []args{{"repo_id": d.repo, "target_branch": "main"}},
		})
	}
	task := begin("echo well")
	done := h.until(task.ID, "working")
	if done.Status != "completed" || done.Result.IsError || field(t, done.Result.Structured, "session_id") != task.ID {
		t.Fatalf("an attempt whose turn is over: %+v", done)
	}
	h.fits("start_task_attempt", done)
	d.must("follow_up", args{"session_id": task.ID, "action": "send", "prompt": "exit 3"})
	d.settled(field(t, done.Result.Structured, "attempt_id"))
	if again := h.get(task.ID); again.Status != "completed" || again.Result.IsError {
		t.Errorf("another turn has changed the task: %+v", again)
	}

	task = begin("exit 3")
	if failed := h.until(task.ID, "working"); failed.Status != "completed" || !failed.Result.IsError || !strings.Contains(failed.Result.Content[0].Text, "process_failed") {
		t.Errorf("an attempt whose turn has failed: %+v", failed)
	}
	task = begin(d.wait("gate"))
	h.obeys("tasks/cancel", map[string]any{"taskId": task.ID})
	if over := h.until(task.ID, "working"); over.Status != "cancelled" {
		t.Errorf("an attempt that was stopped: %+v", over)
	}
	h.refused(-32602, "tasks/get", map[string]any{"taskId": filepath.Base(d.state)})
}

// launch_wait returns when the run pauses, tells of its steps, and gives up after its time.
func TestWaitReturnsWhenTheRunPausesOrTheTimeIsOver(t *testing.T) {
	for _, era := range []string{stateful, stateless} {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			p := w.serve(era, "--rate-limit=0")
			id := p.start(nil)
			c := p.begin("tools/call", map[string]any{"name": "launch_wait", "arguments": args{"run_id": id}, "_meta": map[string]any{"progressToken": "steps"}})
			out := p.success("launch_wait", p.wait(c))
			if field(t, out, "still_running") != "false" || field(t, out, "paused.reason") == "" || field(t, out, "state") != string(runs.StateReadyForPR) {
				t.Errorf("after the wait: %s", out)
			}
			if era == stateful { // the other harness has a _meta of its own
				if step := <-p.told; !strings.Contains(step, ":") {
					t.Errorf("it tells of %q", step)
				}
			}
			p.must("launch_open_pr", args{"run_id": id})
			if out := p.must("launch_wait", args{"run_id": id}); field(t, out, "state") != "DONE" || field(t, out, "still_running") != "false" {
				t.Errorf("when it is over: %s", out)
			}
			p.refused("launch_wait", args{"run_id": id, "timeout_s": 31}, "SCHEMA_VALIDATION_FAILED")
			p.refused("launch_wait", args{"run_id": "r_20200101T000000Z_abcdefghijkl"}, "RUN_NOT_FOUND")
			busy := p.start(nil)
			if out := p.must("launch_wait", args{"run_id": busy, "timeout_s": 0}); field(t, out, "still_running") != "true" && field(t, out, "paused.reason") == "" {
				t.Errorf("without a wait: %s", out)
			}
			w.rest(busy)
		})
	}
}
