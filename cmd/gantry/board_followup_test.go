package main

import (
	"encoding/json"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The scenarios of the seed about follow-ups and the transcript of a session.

// followed is the result of follow_up.
type followed struct {
	Session string `json:"session_id"`
	Action  string `json:"action"`
	Process string `json:"execution_process_id"`
	Status  string `json:"status"`
	Queued  *struct {
		Session string    `json:"session_id"`
		Message string    `json:"message"`
		Variant *string   `json:"variant"`
		At      time.Time `json:"queued_at"`
	} `json:"queued_message"`
}

func (d *desk) followUp(a args) (out followed) {
	d.world.t.Helper()
	d.fetch("follow_up", a, &out)
	return out
}

// prompts are those of a session's turns, with what came of each.
func (d *desk) prompts(target args) (out [][2]string) {
	d.world.t.Helper()
	var page struct {
		Entries []struct {
			Prompt  string  `json:"prompt"`
			Summary *string `json:"summary"`
		} `json:"entries"`
	}
	d.fetch("tail_session_messages", target, &page)
	for _, e := range page.Entries {
		summary := ""
		if e.Summary != nil {
			summary = strings.TrimSpace(*e.Summary)
		}
		out = append(out, [2]string{e.Prompt, summary})
	}
	return out
}

func TestBoardFollowUpByAttemptID(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a := d.attempt("echo first >made")
	var listing struct {
		Attempts []struct {
			ID string `json:"attempt_id"`
		} `json:"attempts"`
	}
	d.fetch("list_task_attempts", args{"task_id": a.task}, &listing) // its id is usable as it is
	out := d.followUp(args{"attempt_id": listing.Attempts[0].ID, "action": "send", "prompt": "cat made; echo second >>made"})
	if out.Session != a.session || out.Action != "send" || out.Process == "" || out.Process == a.turn || out.Queued != nil {
		t.Errorf("%+v", out)
	}
	if s := d.settled(a.id); field(t, s, "state") != "completed" || field(t, s, "latest_execution_process_id") != out.Process {
		t.Errorf("%s", s)
	}
	if got := field(t, d.must("get_attempt_file", args{"attempt_id": a.id, "path": "root/made"}), "content"); got != "first\nsecond\n" {
		t.Errorf("the turns left %q", got)
	}
}

func TestBoardFollowUpBySessionID(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a := d.attempt("true")
	out := d.followUp(args{"session_id": a.session, "action": "send", "prompt": "echo again; exit 4"})
	if out.Session != a.session || out.Process == "" {
		t.Errorf("%+v", out)
	}
	if s := d.settled(a.id); field(t, s, "failure_summary") != "failed (exit_code=4)" || field(t, s, "latest_execution_process_id") != out.Process {
		t.Errorf("%s", s)
	}
	d.fails("follow_up", args{"session_id": a.id, "action": "send", "prompt": "x"}, "session_not_found")
}

func TestBoardQueueByAttemptID(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.queueAndRun(func(a work) args { return args{"attempt_id": a.id} })
}

func TestBoardQueueBySessionID(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.queueAndRun(func(a work) args { return args{"session_id": a.session} })
}

// queueAndRun queues twice while a turn is under way: the second message replaces the
// first and becomes a turn when that one is complete.
func (d *desk) queueAndRun(target func(work) args) {
	t := d.world.t
	t.Helper()
	a := d.held("echo one")
	for _, message := range []string{"echo replaced", "echo two"} {
		call := target(a)
		call["action"], call["prompt"] = "queue", message
		out := d.followUp(call)
		if out.Status != "queued" || out.Session != a.session || out.Process != "" || out.Queued == nil || out.Queued.Message != message || out.Queued.Session != a.session || out.Queued.At.IsZero() {
			t.Errorf("%+v", out)
		}
	}
	if f := d.fails("follow_up", args{"attempt_id": a.id, "action": "send", "prompt": "x"}, "run_locked"); !f.Retryable {
		t.Errorf("%+v", f)
	}
	d.open("gate")
	eventually(t, "the queued turn is over", func() bool {
		s := d.settled(a.id)
		return field(t, s, "latest_execution_process_id") != a.turn
	})
	if got := d.prompts(target(a)); len(got) != 2 || got[1] != [2]string{"echo two", "two"} {
		t.Errorf("%q", got)
	}
}

func TestBoardCancelsAQueuedFollowUp(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a := d.held("echo one")
	d.followUp(args{"attempt_id": a.id, "action": "queue", "prompt": "echo never"})
	for range 2 { // an empty queue is emptied too
		if out := d.followUp(args{"session_id": a.session, "action": "cancel"}); out.Status != "empty" || out.Queued != nil || out.Action != "cancel" {
			t.Errorf("%+v", out)
		}
	}
	d.open("gate")
	d.settled(a.id)
	if got := d.prompts(args{"attempt_id": a.id}); len(got) != 1 {
		t.Errorf("%q", got)
	}
}

func TestBoardQueueSurvivesTheServer(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a := d.held("echo one")
	d.followUp(args{"attempt_id": a.id, "action": "queue", "prompt": "echo two"})
	d.signal(syscall.SIGKILL)
	d.open("gate") // the agent ends while nobody looks
	d.reopen()
	eventually(t, "both turns are over", func() bool {
		return len(d.prompts(args{"attempt_id": a.id})) == 2 && field(t, d.status(a.id), "state") == "completed"
	})
	got := d.prompts(args{"attempt_id": a.id})
	if !strings.HasSuffix(got[0][1], "one") || got[1] != [2]string{"echo two", "two"} {
		t.Errorf("%q", got)
	}
}

func TestBoardAFailedTurnDiscardsTheQueue(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a := d.held("exit 3")
	d.followUp(args{"attempt_id": a.id, "action": "queue", "prompt": "echo never"})
	d.open("gate")
	if s := d.settled(a.id); field(t, s, "state") != "failed" {
		t.Errorf("%s", s)
	}
	if out := d.followUp(args{"attempt_id": a.id, "action": "cancel"}); out.Status != "empty" {
		t.Errorf("%+v", out)
	}
	if got := d.prompts(args{"attempt_id": a.id}); len(got) != 1 {
		t.Errorf("%q", got)
	}
}

func TestBoardRejectsDualTargeting(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a := d.attempt("true")
	both := args{"attempt_id": a.id, "session_id": a.session}
	for tool, more := range map[string]args{"follow_up": {"action": "send", "prompt": "x"}, "tail_session_messages": {}} {
		for k, v := range both {
			more[k] = v
		}
		if f := d.fails(tool, more, "ambiguous_target"); !strings.Contains(f.Hint, "exactly one") || f.Retryable {
			t.Errorf("%s with both: %+v", tool, f)
		}
		delete(more, "attempt_id")
		delete(more, "session_id")
		if f := d.fails(tool, more, "missing_required"); !strings.Contains(f.Hint, "exactly one") {
			t.Errorf("%s with neither: %+v", tool, f)
		}
	}
	if got := d.prompts(args{"attempt_id": a.id}); len(got) != 1 {
		t.Errorf("something was sent: %q", got)
	}
}

func TestBoardTailsTheTranscriptOfTheLatestSession(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a := d.attempt("echo 1")
	for _, script := range []string{"echo 2", "echo 3"} {
		d.followUp(args{"attempt_id": a.id, "action": "send", "prompt": script})
		d.settled(a.id)
	}
	var page struct {
		Session string `json:"session_id"`
		Entries []struct {
			Index   int       `json:"entry_index"`
			Turn    string    `json:"turn_id"`
			Prompt  string    `json:"prompt"`
			Summary string    `json:"summary"`
			Created time.Time `json:"created_at"`
			Updated time.Time `json:"updated_at"`
		} `json:"entries"`
		Next *int `json:"next_cursor"`
		More bool `json:"has_more"`
	}
	d.fetch("tail_session_messages", args{"attempt_id": a.id, "limit": 2}, &page)
	if page.Session != a.session || len(page.Entries) != 2 || page.Entries[1].Prompt != "echo 3" || page.Entries[0].Prompt != "echo 2" || !page.More || page.Next == nil {
		t.Fatalf("%+v", page)
	}
	last := page.Entries[1]
	if strings.TrimSpace(last.Summary) != "3" || last.Turn != field(t, d.status(a.id), "latest_execution_process_id") || last.Updated.Before(last.Created) || last.Index <= page.Entries[0].Index {
		t.Errorf("%+v", last)
	}
	cursor := *page.Next
	d.fetch("tail_session_messages", args{"session_id": a.session, "limit": 2, "cursor": cursor}, &page)
	if len(page.Entries) != 1 || page.Entries[0].Prompt != "echo 1" || page.More || page.Next != nil {
		t.Errorf("%+v", page)
	}
}

func TestBoardRepeatedRequestsActOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	repos := []args{{"repo_id": d.repo, "target_branch": "main"}}
	create := args{"project_id": d.project, "title": "once", "request_id": "create-1"}
	task := field(t, d.must("create_task", create), "task_id")
	start := args{"task_id": task, "executor": "SCRIPT", "prompt": "true", "repos": repos, "request_id": "start-1"}
	attempt := field(t, d.must("start_task_attempt", start), "attempt_id")
	d.settled(attempt)
	send := args{"attempt_id": attempt, "action": "send", "prompt": "echo two", "idempotency_key": "send-1"}
	turn := d.followUp(send).Process
	d.settled(attempt)

	other := d.serve(stateful, d.flags...) // another client in another process, and the same
	for _, p := range []*peer{other, d.peer} {
		if got := field(t, p.must("create_task", create), "task_id"); got != task {
			t.Errorf("create_task made %s, the first time %s", got, task)
		}
		if got := field(t, p.must("start_task_attempt", start), "attempt_id"); got != attempt {
			t.Errorf("start_task_attempt made %s, the first time %s", got, attempt)
		}
		if got := field(t, p.must("follow_up", send), "execution_process_id"); got != turn {
			t.Errorf("follow_up started %s, the first time %s", got, turn)
		}
	}
	if got := d.prompts(args{"attempt_id": attempt}); len(got) != 2 {
		t.Errorf("turns: %q", got)
	}
	for tool, a := range map[string]args{
		"create_task":        {"project_id": d.project, "title": "another", "request_id": "create-1"},
		"start_task_attempt": {"task_id": task, "executor": "SCRIPT", "prompt": "false", "repos": repos, "request_id": "start-1"},
		"follow_up":          {"attempt_id": attempt, "action": "send", "prompt": "echo other", "request_id": "send-1"},
	} {
		if f := d.fails(tool, a, "idempotency_conflict"); !strings.Contains(f.Hint, "new") {
			t.Errorf("%s: %s", tool, f.Hint)
		}
	}
	var all struct{ Count int }
	d.fetch("list_tasks", args{"project_id": d.project}, &all)
	if all.Count != 1 {
		t.Errorf("%d tasks", all.Count)
	}
}

func TestBoardRepeatedQueueReturnsTheSameMessage(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a := d.held("true")
	call := args{"attempt_id": a.id, "action": "queue", "prompt": "echo two", "request_id": "queue-1"}
	first := d.followUp(call)
	second := d.followUp(call)
	if first.Queued == nil || second.Queued == nil || !first.Queued.At.Equal(second.Queued.At) {
		t.Errorf("%+v, then %+v", first.Queued, second.Queued)
	}
	d.followUp(args{"attempt_id": a.id, "action": "cancel"})
	d.open("gate")
	d.settled(a.id)
}

// Two clients in two processes see one session, and only one of them sends.
func TestBoardTwoClientsCannotSendAtOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a := d.attempt("true")
	other := d.serve(stateful, d.flags...)
	script := d.wait("gate")
	answers := []answer{}
	for _, c := range []<-chan answer{
		d.beginCall("follow_up", args{"attempt_id": a.id, "action": "send", "prompt": script}),
		other.beginCall("follow_up", args{"attempt_id": a.id, "action": "send", "prompt": script}),
	} {
		answers = append(answers, d.peer.wait(c))
	}
	sent := 0
	for _, got := range answers {
		var r struct{ IsError bool }
		if err := json.Unmarshal(got.Result, &r); err != nil {
			t.Fatalf("%s", got.Error)
		}
		if !r.IsError {
			sent++
		} else if !strings.Contains(string(got.Result), "run_locked") {
			t.Errorf("%s", got.Result)
		}
	}
	if sent != 1 {
		t.Errorf("%d sent", sent)
	}
	d.open("gate")
	d.settled(a.id)
	if got := len(d.prompts(args{"attempt_id": a.id})); got != 2 {
		t.Errorf("%d turns", got)
	}
}
