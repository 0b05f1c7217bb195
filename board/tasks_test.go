package board

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gantry-run/gantry/agents/sessions"
	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/runs"
)

func TestARequestIDMakesOneTask(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, _ := w.project("api")
	ask := Ask{Tool: "create_task", Once: &runs.Once{Key: "k", Hash: "h"}}
	first := must(w.b.CreateTask(t.Context(), ask, NewTask{ProjectID: p.ID, Title: "one", Description: "d"}))(t)
	w.open(nil) // in another process too
	if again := must(w.b.CreateTask(t.Context(), ask, NewTask{ProjectID: p.ID, Title: "one", Description: "d"}))(t); again != first {
		t.Errorf("%+v, want %+v", again, first)
	}
	other := Ask{Tool: "create_task", Once: &runs.Once{Key: "k", Hash: "other"}}
	_, err := w.b.CreateTask(t.Context(), other, NewTask{ProjectID: p.ID, Title: "two"})
	wants(t, "another payload", err, fault.IdempotencyConflict)
	other.Once.Key = "bad"
	_, err = w.b.CreateTask(t.Context(), other, NewTask{ProjectID: p.ID, Title: ""})
	wants(t, "an empty title", err, fault.InvalidInput)
	if got := must(w.b.CreateTask(t.Context(), other, NewTask{ProjectID: p.ID, Title: "two"}))(t); got.Title != "two" {
		t.Errorf("a call that failed keeps its key: %+v", got)
	}
	if page := must(w.b.Tasks(t.Context(), TaskFilter{ProjectID: p.ID}))(t); len(page.Tasks) != 2 || page.Limit != DefaultTasks {
		t.Errorf("%+v", page)
	}
	_, err = w.b.CreateTask(t.Context(), Ask{}, NewTask{ProjectID: first.ID, Title: "x"})
	wants(t, "no such project", err, fault.ProjectNotFound)
	_, err = w.b.CreateTask(t.Context(), Ask{}, NewTask{ProjectID: p.ID, Title: "x", Status: "in-progress"})
	wants(t, "no such status", err, fault.InvalidInput)
}

func TestABoardOfANewerVersionIsLeftAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if _, err := w.b.db.Exec(`PRAGMA user_version = 99`); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), options(t, w.dir, w.env, w.fake, w.clock.read, nil))
	wants(t, "open", err, fault.StoreUnsupported)
}

func TestUpdateAndDeleteActOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, _ := w.project("api")
	task := w.task(p, "one")
	title, status := "  two ", Done
	ask := Ask{Tool: "update_task", Once: &runs.Once{Key: "k", Hash: "h"}}
	got := must(w.b.UpdateTask(t.Context(), ask, task.ID, TaskChange{Title: &title, Status: &status}))(t)
	if got.Title != "two" || got.Status != Done || got.Description != "" || !got.UpdatedAt.After(task.UpdatedAt) || !got.CreatedAt.Equal(task.CreatedAt) {
		t.Errorf("%+v", got)
	}
	back := Todo
	must(w.b.UpdateTask(t.Context(), Ask{}, task.ID, TaskChange{Status: &back}))(t)
	if again := must(w.b.UpdateTask(t.Context(), ask, task.ID, TaskChange{Title: &title, Status: &status}))(t); again != got || w.status(task) != Todo {
		t.Errorf("it acted twice: %+v", again)
	}
	wrong := Status("doing")
	_, err := w.b.UpdateTask(t.Context(), Ask{}, task.ID, TaskChange{Status: &wrong})
	wants(t, "no such status", err, fault.InvalidInput)
	ask.Tool = "delete_task"
	for range 2 {
		if d, err := w.b.DeleteTask(t.Context(), ask, task.ID); err != nil || d.TaskID != task.ID {
			t.Errorf("%+v %v", d, err)
		}
	}
	_, err = w.b.DeleteTask(t.Context(), Ask{}, task.ID)
	wants(t, "deleted", err, fault.TaskNotFound)
	_, err = w.b.UpdateTask(t.Context(), Ask{}, task.ID, TaskChange{})
	wants(t, "deleted", err, fault.TaskNotFound)
	_, err = w.b.Attempts(t.Context(), task.ID, 0, "")
	wants(t, "deleted", err, fault.TaskNotFound)
}

func TestListsArePagedAndFiltered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, _ := w.project("api")
	var want []string
	for i := range 7 {
		task := w.task(p, fmt.Sprint(i))
		if i%2 == 1 {
			done := Done
			must(w.b.UpdateTask(t.Context(), Ask{}, task.ID, TaskChange{Status: &done}))(t)
		}
		want = append([]string{task.Title}, want...)
	}
	for _, c := range []struct {
		status Status
		limit  int
		want   []string
	}{{"", 3, want}, {"", 7, want}, {"", 100, want}, {Done, 2, []string{"5", "3", "1"}}, {Cancelled, 2, nil}, {Todo, 1, []string{"6", "4", "2", "0"}}} {
		var got []string
		f := TaskFilter{ProjectID: p.ID, Status: c.status, Limit: c.limit}
		for {
			page := must(w.b.Tasks(t.Context(), f))(t)
			if len(page.Tasks) > c.limit {
				t.Fatalf("%d tasks on a page of %d", len(page.Tasks), c.limit)
			}
			for _, task := range page.Tasks {
				got = append(got, task.Title)
			}
			if f.Cursor = page.Next; page.Next == "" {
				break
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s by %d: %v, want %v", c.status, c.limit, got, c.want)
		}
	}
	next := must(w.b.Tasks(t.Context(), TaskFilter{ProjectID: p.ID, Limit: 1}))(t).Next
	for _, f := range []TaskFilter{{ProjectID: p.ID, Status: Done, Cursor: next}, {ProjectID: p.ID, Cursor: "x"}, {ProjectID: p.ID, Cursor: next + "A"}} {
		_, err := w.b.Tasks(t.Context(), f)
		wants(t, f.Cursor, err, fault.InvalidCursor)
	}
	if page := must(w.b.Tasks(t.Context(), TaskFilter{ProjectID: p.ID, Limit: 1 << 30}))(t); page.Limit != MaxPage {
		t.Errorf("limit %d", page.Limit)
	}
	_, err := w.b.Tasks(t.Context(), TaskFilter{ProjectID: "x"})
	wants(t, "no such project", err, fault.ProjectNotFound)
}

func TestTheLatestAttemptIsByTimeThenID(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, targets := w.project("api")
	task := w.task(p, "x")
	var all []Attempt
	for range 4 {
		all = append(all, w.start(task, targets))
	}
	// The two newest at one instant.
	if _, err := w.b.db.Exec(`UPDATE attempts SET created_at = ? WHERE attempt_id IN (?, ?)`, micro(all[3].CreatedAt), all[2].ID, all[3].ID); err != nil {
		t.Fatal(err)
	}
	least := min(all[2].ID, all[3].ID)
	want := []string{least, max(all[2].ID, all[3].ID), all[1].ID, all[0].ID}
	var got []string
	for cursor := ""; ; {
		page := must(w.b.Attempts(t.Context(), task.ID, 1, cursor))(t)
		if page.Count != 4 || page.LatestAttemptID != least || page.LatestSessionID == "" || len(page.Attempts) != 1 || len(page.Attempts[0].Repos) != 1 {
			t.Fatalf("%+v", page)
		}
		got = append(got, page.Attempts[0].ID)
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	s := must(w.b.Tasks(t.Context(), TaskFilter{ProjectID: p.ID}))(t).Tasks[0].Attempts
	if s.LatestAttemptID != least || s.Count != 4 || !s.InProgress || s.LastFailed || s.LatestExecutor != "SCRIPT" || !strings.HasPrefix(s.LatestBranch, "gantry/") || s.LatestSessionID == "" {
		t.Errorf("%+v", s)
	}
	_, err := w.b.Attempts(t.Context(), task.ID, 1, "zzz")
	wants(t, "cursor", err, fault.InvalidCursor)
}

func TestATaskWithoutAttemptsHasAnEmptySummary(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, _ := w.project("api")
	task := w.task(p, "x")
	if got := must(w.b.Task(t.Context(), task.ID))(t); got.Attempts != (AttemptSummary{}) {
		t.Errorf("%+v", got.Attempts)
	}
	if page := must(w.b.Attempts(t.Context(), task.ID, 0, ""))(t); page.Count != 0 || page.LatestAttemptID != "" || page.LatestSessionID != "" || page.Next != "" {
		t.Errorf("%+v", page)
	}
}

func TestTheStateOfAnAttemptIsThatOfItsNewestTurn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, targets := w.project("api")
	task := w.task(p, "x")
	a := w.start(task, targets)
	id := runs.ID(a.SessionID)
	for i, c := range []struct {
		state   sessions.TurnState
		exit    int
		want    State
		failure string
	}{
		{sessions.TurnCompleted, 0, Completed, ""}, {sessions.TurnFailed, 3, Failed, "failed (exit_code=3)"}, {sessions.TurnKilled, 0, Failed, "killed"},
	} {
		turn := fmt.Sprint("turn-", i+2)
		w.fake.begin(id, turn)
		if got := must(w.b.Attempt(t.Context(), a.ID))(t); got.State != Running || got.TurnID != turn || got.FailureSummary != "" {
			t.Errorf("%s: %+v", turn, got)
		}
		w.fake.end(id, c.state, c.exit)
		got := must(w.b.Attempt(t.Context(), a.ID))(t)
		if got.State != c.want || got.FailureSummary != c.failure || !got.LastActivityAt.After(got.CreatedAt) || got.UpdatedAt.Before(*got.LastActivityAt) {
			t.Errorf("%s: %+v", turn, got)
		}
		if s := must(w.b.Task(t.Context(), task.ID))(t).Attempts; s.LastFailed != (c.want == Failed) || s.InProgress {
			t.Errorf("%s: %+v", turn, s)
		}
	}
	w.sh(w.fake.dir, "rm "+a.SessionID)
	if got := must(w.b.Attempt(t.Context(), a.ID))(t); got.State != Idle || got.SessionID != "" || got.TurnID != "" || got.LastActivityAt != nil {
		t.Errorf("without its session: %+v", got)
	}
	_, err := w.b.Session(t.Context(), a.ID)
	if wants(t, "without its session", err, fault.NoSessionYet); !fault.From(err).Retryable {
		t.Error("it is not retryable")
	}
	_, err = w.b.StopAttempt(t.Context(), Ask{}, a.ID, false)
	wants(t, "stop", err, fault.NoSessionYet)
}

func TestTurnsMoveTheTaskOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, targets := w.project("api")
	task := w.task(p, "x")
	a, b := w.start(task, targets), w.start(task, targets)
	set := func(s Status) {
		t.Helper()
		must(w.b.UpdateTask(t.Context(), Ask{}, task.ID, TaskChange{Status: &s}))(t)
	}
	is := func(what string, want Status) {
		t.Helper()
		if got := w.status(task); got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	is("two at work", InProgress)
	w.fake.end(runs.ID(a.SessionID), sessions.TurnCompleted, 0)
	is("one is still at work", InProgress)
	w.fake.end(runs.ID(b.SessionID), sessions.TurnFailed, 1)
	is("both have ended", InReview)
	set(InProgress)
	is("a person's choice stays", InProgress)
	w.fake.put(must(w.fake.Get("", runs.ID(a.SessionID)))(t))
	is("also when the journal grows without a turn", InProgress)
	set(Done)
	w.fake.begin(runs.ID(a.SessionID), "turn-2")
	is("a follow-up", InProgress)
	set(Done)
	w.fake.end(runs.ID(a.SessionID), sessions.TurnCompleted, 0)
	is("done meanwhile", Done)
	w.fake.begin(runs.ID(a.SessionID), "turn-3")
	w.fake.end(runs.ID(a.SessionID), sessions.TurnCompleted, 0)
	is("a turn that nobody saw", InReview)
	w.fake.begin(runs.ID(b.SessionID), "turn-4")
	set(Cancelled)
	is("cancelled after it began", Cancelled)
}

func TestAListFindsATaskUnderTheStatusThatItHasNow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, targets := w.project("api")
	a := w.start(w.task(p, "x"), targets)
	w.fake.end(runs.ID(a.SessionID), sessions.TurnCompleted, 0)
	if page := must(w.b.Tasks(t.Context(), TaskFilter{ProjectID: p.ID, Status: InReview}))(t); len(page.Tasks) != 1 {
		t.Errorf("%+v", page)
	}
	w.fake.begin(runs.ID(a.SessionID), "turn-2")
	if page := must(w.b.Tasks(t.Context(), TaskFilter{ProjectID: p.ID, Status: InReview}))(t); len(page.Tasks) != 0 {
		t.Errorf("%+v", page)
	}
	if page := must(w.b.Tasks(t.Context(), TaskFilter{ProjectID: p.ID, Status: InProgress}))(t); len(page.Tasks) != 1 || !page.Tasks[0].Attempts.InProgress {
		t.Errorf("%+v", page)
	}
}

func TestListsReadOnlyTheSessionsThatWentOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, targets := w.project("api")
	a := w.start(w.task(p, "x"), targets)
	w.start(w.task(p, "y"), targets)
	list := func() { must(w.b.Tasks(t.Context(), TaskFilter{ProjectID: p.ID}))(t) }
	list()
	before := w.fake.got
	list()
	if w.fake.got != before {
		t.Errorf("%d sessions were read", w.fake.got-before)
	}
	w.fake.end(runs.ID(a.SessionID), sessions.TurnCompleted, 0)
	before = w.fake.got
	list()
	if w.fake.got != before+1 {
		t.Errorf("%d sessions were read", w.fake.got-before)
	}
}

func TestStopEndsTheTurn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, targets := w.project("api")
	task := w.task(p, "x")
	a := w.start(task, targets)
	for range 2 {
		if got := must(w.b.StopAttempt(t.Context(), Ask{}, a.ID, false))(t); got.State != Failed || got.FailureSummary != "killed" {
			t.Errorf("%+v", got)
		}
	}
	if w.status(task) != InReview {
		t.Errorf("%s", w.status(task))
	}
	_, err := w.b.StopAttempt(t.Context(), Ask{}, task.ID, true)
	wants(t, "no such attempt", err, fault.AttemptNotFound)
}

func TestAFolderBelongsToTheAttemptWhoseWorktreeItIsIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, targets := w.project("api", "web")
	task := w.task(p, "x")
	a := w.start(task, targets)
	w.sh(a.Dir, "mkdir api/deep; ln -s "+a.Dir+"/api/deep "+w.dir+"/link")
	for _, dir := range []string{a.Dir, a.Repos[1].Worktree, a.Repos[0].Worktree + "/deep", w.dir + "/link"} {
		c, err := w.b.Context(t.Context(), dir)
		if err != nil || c.Attempt.ID != a.ID || c.Task.ID != task.ID || c.Project.ID != p.ID || len(c.Attempt.Repos) != 2 {
			t.Errorf("%s: %+v %v", dir, c, err)
		}
	}
	for _, dir := range []string{w.dir, w.dir + "/api", w.b.o.Dir, w.b.o.Dir + "/attempts", w.dir + "/none", ""} {
		_, err := w.b.Context(t.Context(), dir)
		wants(t, dir, err, fault.NoContext)
	}
	if got := must(w.b.AttemptOf(t.Context(), a.SessionID))(t); got.ID != a.ID {
		t.Errorf("%+v", got)
	}
	_, err := w.b.AttemptOf(t.Context(), "x")
	wants(t, "no such session", err, fault.AttemptNotFound)
}
