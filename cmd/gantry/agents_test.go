package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gantry-run/gantry/telemetry"
)

// The life of a task, with each of the seven tools, over one connection.
func TestATaskIsStartedFollowedSentToStoppedListedAndArchived(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	p := s.agents()
	began := p.began(args{"prompt": "wait for me", "title": "A <title>\n\"quoted\""})
	if began.ID != "thread-1" || began.Thread == nil || *began.Thread != "thread-1" || began.Session == nil || began.State != "RUNNING" ||
		began.Title != "A <title>\n\"quoted\"" || began.LastPrompt != "wait for me" || began.PromptedAt == nil || began.WorkingDir != "." ||
		began.PID == 0 || began.Executor != "CODEX" || began.LastResult != "" {
		t.Errorf("%+v", began)
	}
	p.saidInLog("thread-1", "waiting")
	if got := strings.TrimSpace(s.taskFile("thread-1", "task.pid")); got != fmt.Sprint(began.PID) || !alive(began.PID) {
		t.Errorf("task.pid is %s, the agent %d", got, began.PID)
	}
	if f := p.fails("task_send", args{"task_id": "thread-1", "prompt": "no"}, "run_locked"); !f.Retryable {
		t.Errorf("%+v", f)
	}
	s.open()
	done := p.taskIn("thread-1", "STOPPED")
	if done.LastResult != "wait of no" || done.PID != 0 || done.Updated.Before(done.Created) {
		t.Errorf("%+v", done)
	}
	meta := s.meta("thread-1")
	for key, want := range map[string]any{
		"id": "thread-1", "title": began.Title, "state": "STOPPED", "last_result": "wait of no", "initial_prompt": "wait for me", "last_prompt": "wait for me",
		"working_dir": s.root,
	} {
		if meta[key] != want {
			t.Errorf("task.json has %s %v, want %v", key, meta[key], want)
		}
	}
	if got := s.taskFile("thread-1", "task.result"); got != "wait of no" {
		t.Errorf("task.result is %q", got)
	}
	if _, err := os.Stat(filepath.Join(s.store, "thread-1", "task.pid")); err == nil {
		t.Error("task.pid outlives the agent")
	}
	var sent aTask
	p.fetch("task_send", args{"task_id": *began.Session, "prompt": "long"}, &sent) // the session's id is good too
	if sent.ID != "thread-1" || sent.State != "RUNNING" || sent.LastPrompt != "long" || !sent.PromptedAt.After(*began.PromptedAt) {
		t.Errorf("%+v", sent)
	}
	p.saidInLog("thread-1", "busy")
	var stopped struct {
		Reports []struct {
			ID      string `json:"task_id"`
			Outcome string `json:"outcome"`
		} `json:"reports"`
		Summary map[string]int `json:"summary"`
	}
	for i, want := range []string{"stopped", "already_stopped"} {
		p.fetch("task_stop", args{"task_id": "thread-1"}, &stopped)
		if len(stopped.Reports) != 1 || stopped.Reports[0].ID != "thread-1" || stopped.Reports[0].Outcome != want || stopped.Summary[want] != 1 {
			t.Errorf("stop %d: %+v", i+1, stopped)
		}
	}
	if got := p.taskIn("thread-1", "STOPPED"); got.LastResult != "busy" { // a stop that was asked for is STOPPED, not DIED
		t.Errorf("%+v", got)
	}
	if got := p.taskPage(args{}); got.Count != 1 || got.Tasks[0].ID != "thread-1" || got.Next != nil {
		t.Errorf("%+v", got)
	}
	text := strings.Join(p.log(args{"task_id": "thread-1"}).Lines, "\n") + "\n"
	if got := s.taskFile("thread-1", "task.log"); got != text || !strings.HasPrefix(got, `{"type":"user_message","message":"wait for me"}`+"\n"+`{"type":"thread.started"`) {
		t.Errorf("task.log is\n%s\nand the tool says\n%s", got, text)
	}
	var archived struct {
		ID          string `json:"task_id"`
		Destination string `json:"destination"`
		Archived    bool   `json:"archived"`
	}
	for range 2 { // the second time it is archived already
		p.fetch("task_archive", args{"task_id": "thread-1"}, &archived)
		if want := "archive/" + time.Now().UTC().Format("2006/01/"); archived.ID != "thread-1" || !archived.Archived || !strings.HasPrefix(archived.Destination, want) {
			t.Fatalf("%+v", archived)
		}
	}
	if got := s.meta(archived.Destination)["state"]; got != "ARCHIVED" {
		t.Errorf("task.json says %v", got)
	}
	if got := p.taskPage(args{}); got.Count != 0 {
		t.Errorf("%+v", got)
	}
	if got := p.taskPage(args{"include_archived": true}); got.Count != 1 || got.Tasks[0].State != "ARCHIVED" {
		t.Errorf("%+v", got)
	}
	p.fails("task_send", args{"task_id": "thread-1", "prompt": "hello"}, "illegal_state")
	if got := strings.Join(p.log(args{"task_id": "thread-1"}).Lines, "\n") + "\n"; got != text {
		t.Errorf("the log of an archived task is\n%s", got)
	}
}

func TestAStartTellsThatItWaitsForTheThread(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	p := s.agents()
	c := p.begin("tools/call", map[string]any{"name": "task.start", "arguments": args{"prompt": "slow"}, "_meta": map[string]any{"progressToken": "a"}})
	if got := <-p.told; !strings.Contains(got, "waiting for the agent") {
		t.Errorf("%q", got)
	}
	p.must("task_list", args{}) // other calls are answered meanwhile
	s.open()
	if got := field(t, p.success("task_start", p.wait(c)), "task_id"); got != "thread-1" {
		t.Errorf("the task is %s", got)
	}
	p.taskIn("thread-1", "STOPPED")
}

func TestAStartWhoseAgentFailsAtOnceSaysWhy(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	p := s.agents()
	f := p.fails("task_start", args{"prompt": "early"}, "process_failed")
	if !strings.Contains(f.Message, "exit code 9") || !strings.Contains(f.Message, "no login") {
		t.Errorf("%+v", f)
	}
	failed := p.began(args{"prompt": "fail"})
	if got := p.taskIn(failed.ID, "DIED"); !strings.Contains(got.Error, "no luck today") {
		t.Errorf("%+v", got)
	}
	var sent aTask // what has died can be gone on with
	p.fetch("task_send", args{"task_id": failed.ID, "prompt": "hello"}, &sent)
	if got := p.taskIn(failed.ID, "STOPPED"); got.LastResult != "hello of "+failed.ID || got.Error != "" {
		t.Errorf("%+v", got)
	}
}

func TestALogIsPolledAndStreamed(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	p := s.agents()
	id := p.began(args{"prompt": "wait"}).ID
	p.saidInLog(id, "waiting")
	all := p.log(args{"task_id": id})
	if all.First != 0 || all.Next != all.Total || all.Total != int64(len(all.Lines)) || all.State != "RUNNING" {
		t.Errorf("%+v", all)
	}
	if tail := p.log(args{"task_id": id, "lines": 1}); len(tail.Lines) != 1 || tail.Lines[0] != all.Lines[len(all.Lines)-1] || tail.First != all.Total-1 {
		t.Errorf("%+v", tail)
	}
	if none := p.log(args{"task_id": id, "after": all.Total, "follow": true, "wait_ms": 1}); len(none.Lines) != 0 || none.Next != all.Total || none.State != "RUNNING" {
		t.Errorf("%+v", none)
	}
	// One waits for the next line, one streams all of them until it is cancelled.
	polled := p.beginCall("task_log", args{"task_id": id, "after": all.Total, "follow": true, "wait_ms": 30000})
	streamed := p.begin("tools/call", map[string]any{"name": "task_log", "arguments": args{"task_id": id, "follow": true}, "_meta": map[string]any{"progressToken": 7}})
	told := []string{<-p.told}
	s.open()
	for !strings.Contains(told[len(told)-1], "turn.completed") {
		told = append(told, <-p.told)
	}
	if want := strings.Join(p.log(args{"task_id": id}).Lines, "\n"); strings.Join(told, "\n") != want {
		t.Errorf("the stream tells\n%s\nwant\n%s", strings.Join(told, "\n"), want)
	}
	var next aLog
	if err := json.Unmarshal(p.success("task_log", p.wait(polled)), &next); err != nil || next.First != all.Total || len(next.Lines) == 0 {
		t.Errorf("%+v, %v", next, err)
	}
	var last aLog // the turn is over, so the stream is
	if err := json.Unmarshal(p.success("task_log", p.wait(streamed)), &last); err != nil || last.State != "STOPPED" || last.Next != last.Total || !strings.Contains(last.Lines[len(last.Lines)-1], "turn.completed") {
		t.Errorf("%+v, %v", last, err)
	}
}

func TestAStreamEndsWhenItIsCancelledAndTheTaskGoesOn(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	p := s.agents()
	id := p.began(args{"prompt": "wait"}).ID
	p.begin("tools/call", map[string]any{"name": "task_log", "arguments": args{"task_id": id, "follow": true}, "_meta": map[string]any{"progressToken": 7}})
	<-p.told
	p.mu.Lock()
	call := fmt.Sprint(p.next)
	p.mu.Unlock()
	p.line(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + call + `}}`)
	eventually(t, "the call is over", func() bool {
		return slices.ContainsFunc(s.records(), func(r telemetry.Record) bool { return r.Status == telemetry.StatusCancelled })
	})
	s.open()
	p.taskIn(id, "STOPPED")
}

func TestTheAgentGoesOnWhenTheServerIsKilledAndTheNextOneHasAllOfIt(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	p := s.serve(stateful, "--toolsets=agents,board", "--rate-limit=0")
	began := p.began(args{"prompt": "wait"})
	p.saidInLog(began.ID, "waiting")
	p.must("follow_up", args{"session_id": *began.Session, "action": "queue", "prompt": "hello again"})
	p.signal(syscall.SIGKILL)
	if !alive(began.PID) {
		t.Fatal("the agent went with the server")
	}
	s.open()
	eventually(t, "the agent ends by itself", func() bool { return !alive(began.PID) })
	if got := s.prompts(); !slices.Equal(got, []string{"wait"}) {
		t.Errorf("nobody was there, and the agent was asked %q", got)
	}
	next := s.agents()
	eventually(t, "the queued follow-up is a turn, and over", func() bool {
		var got aTask
		next.fetch("task_status", args{"task_id": began.ID}, &got)
		return got.State == "STOPPED" && got.LastResult == "hello of thread-1"
	})
	want := []string{
		`{"type":"user_message","message":"wait"}`, `{"type":"thread.started","thread_id":"thread-1"}`, said("waiting"), said("wait of no"), usage,
		`{"type":"user_message","message":"hello again"}`, `{"type":"thread.started","thread_id":"thread-1"}`, said("hello of thread-1"), usage,
	}
	if got := next.log(args{"task_id": began.ID}).Lines; !slices.Equal(got, want) {
		t.Errorf("the log is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := s.taskFile(began.ID, "task.log"); got != strings.Join(want, "\n")+"\n" {
		t.Errorf("task.log is\n%s", got)
	}
}

const usage = `{"type":"turn.completed","usage":{"input_tokens":10,"cached_input_tokens":3,"output_tokens":2}}`

func said(text string) string {
	return `{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"` + text + `"}}`
}

func TestAWorkerGoesOnWithTheSessionsOfAServerThatEnds(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	p := s.agents()
	id := p.began(args{"prompt": "wait"}).ID
	p.saidInLog(id, "waiting")
	if code := p.signal(syscall.SIGTERM); code != 0 || len(p.workers()) != 1 {
		t.Fatalf("exit code %d, %d workers", code, len(p.workers()))
	}
	s.open()
	eventually(t, "the worker records the end of the turn", func() bool { return s.meta(id)["state"] == "STOPPED" })
	if got := s.taskFile(id, "task.result"); got != "wait of no" {
		t.Errorf("%q", got)
	}
}

func TestTwoClientsHaveTheSameTasksAndARequestActsOnce(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	p, other := s.agents(), s.serve(stateless, "--toolsets=agents", "--rate-limit=0")
	first := args{"prompt": "wait", "request_id": "one"}
	id := p.began(first).ID
	if again := other.began(first); again.ID != id {
		t.Errorf("the same request made %s and %s", id, again.ID)
	}
	other.fails("task_start", args{"prompt": "else", "request_id": "one"}, "idempotency_conflict")
	if got := other.taskPage(args{"states": []string{"RUNNING"}}).ids(); !slices.Equal(got, []string{id}) {
		t.Errorf("the other client sees %v", got)
	}
	other.fails("task_send", args{"task_id": id, "prompt": "no"}, "run_locked")
	s.open()
	p.taskIn(id, "STOPPED")
	// Both send at one moment, several times: each that is accepted is a turn, and each once.
	accepted := 0
	for i := range 4 {
		key := fmt.Sprint("both-", i)
		calls := []<-chan answer{
			p.beginCall("task_send", args{"task_id": id, "prompt": "p " + key, "request_id": key}),
			other.beginCall("task_send", args{"task_id": id, "prompt": "p " + key, "request_id": key}),
			p.beginCall("task_send", args{"task_id": id, "prompt": "other"}),
			other.beginCall("task_send", args{"task_id": id, "prompt": "other"}),
		}
		for n, c := range calls {
			var r struct{ IsError bool }
			if a := p.wait(c); a.Error != nil || json.Unmarshal(a.Result, &r) != nil {
				t.Fatalf("%s %s", a.Error, a.Result)
			}
			if n > 1 && !r.IsError {
				accepted++
			}
		}
		p.taskIn(id, "STOPPED")
		n := 0
		for _, prompt := range s.prompts() {
			if prompt == "p "+key {
				n++
			}
		}
		if n > 1 {
			t.Errorf("the request %s was acted on %d times", key, n)
		}
		accepted += n
	}
	if got := len(s.prompts()); got != 1+accepted {
		t.Errorf("%d requests were accepted, the agent was asked %d times", accepted, got-1)
	}
}

func TestTasksOfOtherProgramsAreListedReadGoneOnWithAndArchived(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	p := s.agents()
	foreign := func(id, state, updated string) {
		dir := filepath.Join(s.store, id)
		mkdir(t, dir)
		write(t, filepath.Join(dir, "task.json"), `{"id":"`+id+`","title":"Theirs","state":"`+state+`","created_at":"2026-01-02T03:04:05Z","updated_at":"`+updated+`",
			"initial_prompt":"before","working_dir":"`+s.home+`"}`)
		write(t, filepath.Join(dir, "task.log"), `{"type":"user_message","message":"before"}`+"\n"+said("as before")+"\n")
		write(t, filepath.Join(dir, "task.result"), "as before")
	}
	foreign("theirs-1", "STOPPED", "2026-01-02T03:04:06Z")
	foreign("theirs-2", "RUNNING", "2026-01-02T03:04:07Z") // and no process is there
	write(t, filepath.Join(s.store, "junk", "task.json"), "{")
	write(t, filepath.Join(s.store, "liar", "task.json"), `{"id":"somebody","state":"STOPPED"}`)
	if err := os.Symlink("/etc", filepath.Join(s.store, "link")); err != nil {
		t.Fatal(err)
	}
	ours := p.began(args{"prompt": "hello"}).ID
	if got := p.taskPage(args{}).ids(); !slices.Equal(got, []string{ours, "theirs-2", "theirs-1"}) {
		t.Errorf("%v", got)
	}
	// A page at a time they are the same.
	var paged []string
	for cursor := ""; ; {
		a := args{"limit": 1}
		if cursor != "" {
			a["cursor"] = cursor
		}
		got := p.taskPage(a)
		paged = append(paged, got.ids()...)
		if got.Next == nil {
			break
		}
		cursor = *got.Next
	}
	if !slices.Equal(paged, []string{ours, "theirs-2", "theirs-1"}) {
		t.Errorf("%v", paged)
	}
	if got := p.taskIn("theirs-2", "DIED"); got.Session != nil || got.LastResult != "as before" || got.LastPrompt != "before" || got.Title != "Theirs" {
		t.Errorf("%+v", got)
	}
	if got := p.log(args{"task_id": "theirs-1", "lines": 1}); len(got.Lines) != 1 || got.Lines[0] != said("as before") || got.First != 1 {
		t.Errorf("%+v", got)
	}
	var sent aTask
	request := args{"task_id": "theirs-1", "prompt": "hello", "request_id": "once"}
	p.fetch("task_send", request, &sent)
	if sent.ID != "theirs-1" || sent.Session == nil || sent.Title != "Theirs" {
		t.Errorf("%+v", sent)
	}
	if got := p.taskIn("theirs-1", "STOPPED"); got.LastResult != "hello of theirs-1" {
		t.Errorf("%+v", got)
	}
	p.fetch("task_send", request, &sent) // the same request does nothing more
	log := p.log(args{"task_id": "theirs-1"}).Lines
	if len(log) != 6 || log[1] != said("as before") || log[4] != said("hello of theirs-1") || s.taskFile("theirs-1", "task.log") != strings.Join(log, "\n")+"\n" {
		t.Errorf("%s\n%s", strings.Join(log, "\n"), s.taskFile("theirs-1", "task.log"))
	}
	for _, id := range []string{"theirs-1", "theirs-2"} {
		to := field(t, p.must("task_archive", args{"task_id": id}), "destination")
		if got := s.meta(to)["state"]; got != "ARCHIVED" {
			t.Errorf("%s: %v", id, got)
		}
		p.taskIn(id, "ARCHIVED")
		p.fails("task_send", args{"task_id": id, "prompt": "hello"}, "illegal_state")
	}
}

func TestTheStoreIsWhereCodexHomeOrStoreRootSay(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	s.env = append(s.env, "CODEX_HOME="+filepath.Join(s.home, "elsewhere"))
	p := s.agents()
	id := p.began(args{"prompt": "where"}).ID
	if got := p.taskIn(id, "STOPPED"); got.State != "STOPPED" {
		t.Errorf("%+v", got)
	}
	s.store = filepath.Join(s.home, "elsewhere", "tasks")
	s.meta(id)
	if got := strings.Join(p.log(args{"task_id": id}).Lines, "\n"); !strings.Contains(got, "elsewhere") {
		t.Errorf("the agent's CODEX_HOME is not ours: %s", got)
	}
	q := s.agents("--store-root", filepath.Join(s.home, "third"))
	id = q.began(args{"prompt": "hello"}).ID
	q.taskIn(id, "STOPPED")
	s.store = filepath.Join(s.home, "third")
	s.meta(id)
}

func TestAConfigurationFileOfTheAgentChoosesItsHome(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	p := s.agents()
	write(t, filepath.Join(s.root, "own", "config.toml"), "")
	id := p.began(args{"prompt": "where", "config": "own/config.toml", "working_dir": "own", "variant": "READ_ONLY"}).ID
	p.taskIn(id, "STOPPED")
	if got := strings.Join(p.log(args{"task_id": id}).Lines, "\n"); !strings.Contains(got, `"text":"own read-only own"`) { // the root is left out of what leaves
		t.Errorf("%s", got)
	}
	p.fails("task_start", args{"prompt": "hello", "config": "own/other.toml"}, "invalid_argument")
}

func TestTheStartOfATaskCanBeLeftWithoutWaiting(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	s.env = append(s.env, "CODEX_TASKS_EXIT_AFTER_START=1")
	p := s.agents()
	began := p.began(args{"prompt": "slow"})
	if began.Session == nil || began.ID != *began.Session || began.Thread != nil || began.State != "RUNNING" {
		t.Errorf("%+v", began)
	}
	s.open()
	if got := p.taskIn(began.ID, "STOPPED"); got.ID != "thread-1" {
		t.Errorf("%+v", got)
	}
}

func TestATaskStartsInAClone(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	s.repository("source", map[string]string{"README.md": "# Source\n"})
	s.rewrite("https://git.example.com/acme/widget", "source")
	p := s.agents()
	a := args{"prompt": "where", "repo_url": "https://git.example.com/acme/widget", "working_dir": "copy", "request_id": "clone"}
	id := p.began(a).ID
	p.taskIn(id, "STOPPED")
	if again := p.began(a).ID; again != id { // the same request makes no second clone
		t.Errorf("%s, then %s", id, again)
	}
	if _, err := os.Stat(filepath.Join(s.root, "copy", "README.md")); err != nil {
		t.Error(err)
	}
	delete(a, "request_id")
	p.fails("task_start", a, "invalid_argument") // it is there
	a["working_dir"] = "../outside"
	p.fails("task_start", a, "path_outside_root")
	delete(a, "working_dir")
	p.fails("task_start", a, "missing_required")
}

func TestAllTasksAreStoppedOnlyWhereThatIsAllowed(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	p := s.agents()
	for _, prompt := range []string{"long 1", "long 2"} {
		p.saidInLog(p.began(args{"prompt": prompt}).ID, "busy")
	}
	p.fails("task_stop", args{"all": true}, "access_denied")
	p.fails("task_stop", args{}, "missing_required")
	p.fails("task_stop", args{"all": true, "task_id": "thread-1"}, "ambiguous_target")
	q := s.agents("--allow-unsafe")
	if got := field(t, q.must("task_stop", args{"all": true, "force": true}), "summary.stopped"); got != "2" {
		t.Errorf("%s were stopped", got)
	}
	for _, id := range []string{"thread-1", "thread-2"} {
		p.taskIn(id, "STOPPED")
	}
}

func TestAStubbornAgentIsKilled(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	p := s.agents()
	began := p.began(args{"prompt": "deaf"})
	p.saidInLog(began.ID, "busy")
	p.must("task_archive", args{"task_id": began.ID, "force": true})
	if alive(began.PID) {
		t.Error("the agent lives")
	}
	p.taskIn(began.ID, "ARCHIVED")
}

func TestAgentsHaveTheirOwnServerInfoInstructionsAndTools(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	write(t, filepath.Join(s.home, "config.toml"), "[tools]\nenable_archive = false\nenable_task_stop = false\ncodex_compat = true\n[server]\nlog_level = \"warn\"\n[agents]\ninherit = [\"GATE\", \"PROMPTS\"]\n")
	names := func(p *peer) (out []string) {
		for _, one := range p.tools() {
			out = append(out, one.Name)
		}
		return out
	}
	p := s.agents()
	seven := []string{"task_start", "task_send", "task_status", "task_log", "task_stop", "task_list", "task_archive"}
	if got := names(p); !slices.Equal(got, seven) {
		t.Errorf("%v", got)
	}
	q := s.agents("--config", filepath.Join(s.home, "config.toml"))
	if got := names(q); !slices.Equal(got, []string{"task_start", "task_send", "task_status", "task_log", "task_list", "codex", "codex-reply"}) {
		t.Errorf("%v", got)
	}
	if a := q.call("task_archive", args{"task_id": "x"}); a.Error == nil || a.Error.Code != -32601 {
		t.Errorf("a tool that was taken out: %s %s", a.Error, a.Result)
	}
	a := p.request("initialize", map[string]any{"protocolVersion": stateful, "capabilities": map[string]any{}, "clientInfo": map[string]string{"name": "p", "version": "1"}})
	if !strings.Contains(string(a.Result), `"name":"codex-tasks"`) && a.Error == nil {
		t.Errorf("%s", a.Result)
	}
	for _, config := range []string{"[tools]\nenable_nothing = false\n", "[server]\nlog_level = \"loud\"\n"} {
		write(t, filepath.Join(s.home, "wrong.toml"), config)
		if code, _, said := s.gantry("mcp", "--config", filepath.Join(s.home, "wrong.toml")); code == 0 || !strings.Contains(said, "CONFIG_INVALID") {
			t.Errorf("%s: exit code %d, %s", config, code, said)
		}
	}
	// The pair of Codex's former server answers when the turn is over.
	var out struct{ ThreadID, Content string }
	q.fetch("codex", args{"prompt": "where", "sandbox": "read-only", "approval-policy": "never", "cwd": "."}, &out)
	if out.ThreadID != "thread-1" || out.Content != "where of no" {
		t.Errorf("%+v", out)
	}
	for _, name := range []string{"threadId", "conversationId"} {
		q.fetch("codex-reply", args{name: "thread-1", "prompt": "hello"}, &out)
		if out.ThreadID != "thread-1" || out.Content != "hello of thread-1" {
			t.Errorf("%+v", out)
		}
	}
	q.fails("codex-reply", args{"prompt": "hello"}, "missing_required")
	q.fails("codex", args{"prompt": "hello", "sandbox": "danger-full-access"}, "invalid_argument")
	q.fails("codex", args{"prompt": "fail"}, "process_failed")
}

func TestTheStatusOfATaskIsAResource(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	p := s.agents()
	id := p.began(args{"prompt": "wait"}).ID
	uri := "task://" + id + "/status"
	p.follow(uri)
	s.open()
	select {
	case got := <-p.updated:
		if got != uri {
			t.Errorf("%s", got)
		}
	case <-time.After(patience):
		t.Fatal("nobody tells that the task has changed")
	}
	p.taskIn(id, "STOPPED")
	a := p.request("resources/read", map[string]any{"uri": uri})
	if a.Error != nil || !strings.Contains(string(a.Result), `\"state\":\"STOPPED\"`) {
		t.Errorf("%s %s", a.Error, a.Result)
	}
	if a := p.request("resources/read", map[string]any{"uri": "task://nobody/status"}); a.Error == nil {
		t.Errorf("%s", a.Result)
	}
}

func TestTwoClientsThatGoOnWithOneForeignTaskMakeOneSession(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	write(t, filepath.Join(s.store, "theirs", "task.json"), `{"id":"theirs","state":"STOPPED","created_at":"2026-01-02T03:04:05Z","updated_at":"2026-01-02T03:04:05Z","working_dir":"`+s.root+`"}`)
	p, other := s.agents(), s.agents()
	calls := []<-chan answer{
		p.beginCall("task_send", args{"task_id": "theirs", "prompt": "wait 1", "request_id": "a"}),
		other.beginCall("task_send", args{"task_id": "theirs", "prompt": "wait 2", "request_id": "b"}),
	}
	accepted, locked := 0, 0
	for _, c := range calls {
		switch a := p.wait(c); {
		case strings.Contains(string(a.Result), "run_locked"):
			locked++
		case strings.Contains(string(a.Result), `"task_id":"theirs"`):
			accepted++
		default:
			t.Errorf("%s %s", a.Error, a.Result)
		}
	}
	if accepted != 1 || locked != 1 {
		t.Errorf("%d were accepted, %d were told that it runs", accepted, locked)
	}
	s.open()
	p.taskIn("theirs", "STOPPED")
	if got := p.taskPage(args{}); got.Count != 1 || len(s.prompts()) != 1 {
		t.Errorf("%v, the agent was asked %q", got.ids(), s.prompts())
	}
}
