package runs_test

import (
	"encoding/json"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gantry-run/gantry/runs"
)

// talk is a walker through the workflow of a session. Its turns end when they are told to.
type talk struct {
	*walker
	t *testing.T
}

func newTalk(t *testing.T) *talk {
	t.Helper()
	raw, err := os.ReadFile("../specs/workflows/session.json")
	if err != nil {
		t.Fatal(err)
	}
	var flow runs.Workflow
	if err := json.Unmarshal(raw, &flow); err != nil {
		t.Fatal(err)
	}
	if err := flow.Check(); err != nil {
		t.Fatal(err)
	}
	w := &walker{view: new(runs.View), now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	w.add(t, runs.Draft{Type: runs.RunCreated, Payload: runs.Created{Kind: runs.Session, Workflow: flow, Input: json.RawMessage(`{}`)}})
	k := &talk{w, t}
	k.rest()
	return k
}

// rest writes what is to be written until there is work, or nothing, to do.
func (k *talk) rest() {
	k.t.Helper()
	for range 50 {
		d := runs.Next(k.view)
		if len(d.Write) == 0 {
			return
		}
		k.add(k.t, d.Write...)
	}
	k.t.Fatal("no end")
}

// turn ends the work under way.
func (k *talk) turn(outcome string) {
	k.t.Helper()
	d := runs.Next(k.view)
	if len(d.Execute) != 1 {
		k.t.Fatalf("there is no turn: %+v", d)
	}
	f := runs.ItemFinished{WorkItemID: d.Execute[0].Key, Attempt: 1, Outcome: outcome, Data: json.RawMessage(`{"said":"` + outcome + `"}`)}
	k.add(k.t, runs.Draft{Type: runs.WorkItemFinished, Payload: f})
	k.rest()
}

// ask leaves a command, as an engine does that executes work, and returns what became of it.
func (k *talk) ask(id, kind string) string {
	k.t.Helper()
	k.command(k.t, runs.Command{ID: id, Type: kind})
	if len(runs.Next(k.view).Execute) > 0 {
		k.t.Fatal("the planner executes and a command waits")
	}
	for d := runs.Answer(k.view); len(d) > 0; d = runs.Answer(k.view) {
		k.add(k.t, d...)
	}
	k.rest()
	return k.became(id)
}

func (k *talk) became(id string) string {
	c, ok := k.view.Command(id)
	if !ok {
		k.t.Fatalf("no command %s", id)
	}
	if c.Receipt != nil && c.Receipt.Failure != nil {
		return c.Status + " " + c.Receipt.Failure.Code
	}
	return c.Status
}

func (k *talk) is(state runs.State, visits int) {
	k.t.Helper()
	if k.view.State != state || k.view.Visits["turn"] != visits {
		k.t.Fatalf("the session is %s on turn %d, want %s on %d", k.view.State, k.view.Visits["turn"], state, visits)
	}
}

func TestASessionTurnsBetweenRunningAndIdle(t *testing.T) {
	k := newTalk(t)
	k.is(runs.StateRunning, 1)
	k.turn("completed")
	k.is(runs.StateIdle, 1)
	if got := k.ask("a", "follow_up"); got != runs.Active {
		t.Errorf("a follow-up is %s", got)
	}
	k.is(runs.StateRunning, 2)
	k.turn("failed")
	k.is(runs.StateDied, 2)
	k.ask("b", "follow_up")
	k.turn("completed")
	k.is(runs.StateIdle, 3)
	k.ask("c", "archive")
	k.turn("")
	k.is(runs.StateArchived, 3)
	for _, kind := range []string{"follow_up", "queue", "stop", "archive"} {
		if got := k.ask("after "+kind, kind); got != "refused ILLEGAL_STATE" {
			t.Errorf("%s on an archived session is %s", kind, got)
		}
	}
	want := []string{`completed by "" said {"said":"completed"}`, `failed by "a" said {"said":"failed"}`, `completed by "b" said {"said":"completed"}`}
	var got []string
	for _, w := range k.view.WorkItems {
		if w.Node == "turn" {
			got = append(got, w.Outcome+` by "`+w.CommandID+`" said `+string(w.Data))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestASessionTakesOneTurnAtATime(t *testing.T) {
	k := newTalk(t)
	for _, kind := range []string{"follow_up", "archive", "holiday"} {
		if got := k.ask(kind, kind); got != "refused RUN_LOCKED" {
			t.Errorf("%s in mid turn is %s", kind, got)
		}
	}
	k.is(runs.StateRunning, 1)
}

func TestOneMessageIsQueuedAndBecomesATurnWhenTheTurnIsComplete(t *testing.T) {
	k := newTalk(t)
	if a, b := k.ask("a", "queue"), k.ask("b", "queue"); a != runs.Held || b != runs.Held || k.became("a") != runs.Dropped {
		t.Errorf("the first is %s and then %s, the second %s", a, k.became("a"), b)
	}
	k.turn("completed")
	k.is(runs.StateRunning, 2)
	if got := k.became("b"); got != runs.Active {
		t.Errorf("the message that became a turn is %s", got)
	}
	if slices.Contains(k.states(), runs.StateDied) || !slices.Contains(k.states(), runs.StateIdle) {
		t.Errorf("%v", k.states())
	}
	k.turn("completed")
	k.is(runs.StateIdle, 2)
	if got := k.became("b"); got != runs.CommandDone {
		t.Errorf("the message whose turn is over is %s", got)
	}
}

func TestAQueuedMessageIsDroppedWhenTheTurnFailsOrIsStopped(t *testing.T) {
	for outcome, state := range map[string]runs.State{"failed": runs.StateDied, "killed": runs.StateIdle, "": runs.StateDied} {
		k := newTalk(t)
		k.ask("a", "queue")
		k.turn(outcome)
		k.is(state, 1)
		if got := k.became("a"); got != runs.Dropped {
			t.Errorf("after %q it is %s", outcome, got)
		}
	}
	k := newTalk(t)
	k.ask("a", "queue")
	k.ask("b", "stop")
	if got := k.became("a"); got != runs.Dropped || !slices.Equal(k.view.Told, []string{"b"}) {
		t.Errorf("after a stop it is %s, and the worker is told %v", got, k.view.Told)
	}
	k.turn("completed") // it was over before the stop came to it
	k.is(runs.StateIdle, 1)
	k.ask("c", "follow_up")
	if len(k.view.Told) != 0 {
		t.Errorf("a later turn is told %v", k.view.Told)
	}
}

func TestAQueuedMessageCanBeTakenBack(t *testing.T) {
	k := newTalk(t)
	k.ask("a", "queue")
	if got := k.ask("b", "unqueue"); got != runs.CommandDone || k.became("a") != runs.Dropped {
		t.Errorf("the taking back is %s, the message %s", got, k.became("a"))
	}
	k.turn("completed")
	k.is(runs.StateIdle, 1)
	for _, kind := range []string{"unqueue", "stop"} {
		if got := k.ask(kind, kind); got != runs.CommandDone {
			t.Errorf("%s of an idle session is %s", kind, got)
		}
	}
	k.is(runs.StateIdle, 1)
	if got := k.ask("c", "queue"); got != runs.Active {
		t.Errorf("a message that is queued while no turn is under way is %s", got)
	}
	k.is(runs.StateRunning, 2)
}
