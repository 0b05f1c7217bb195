package local_test

import (
	"context"
	"encoding/json"
	"os"
	"testing"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/runs/local"
)

// Commands that a node takes are answered while it works, by whichever engine drives the
// run, and what the node does not take is refused at once.
func TestCommandsAreAnsweredWhileANodeWorks(t *testing.T) {
	raw, err := os.ReadFile("../../specs/workflows/session.json")
	if err != nil {
		t.Fatal(err)
	}
	var flow runs.Workflow
	if err := json.Unmarshal(raw, &flow); err != nil {
		t.Fatal(err)
	}
	dir, finish := t.TempDir(), make(chan string)
	worker := func(ctx context.Context, w runs.Work, _ runs.Try) (runs.Result, error) {
		select {
		case outcome := <-finish:
			return runs.Result{Outcome: outcome, Data: w.Visit}, nil
		case <-ctx.Done():
			return runs.Result{}, context.Cause(ctx)
		}
	}
	workers := map[string]runs.Activity{"turn": worker, "archive": worker}
	e, s := engineOn(t, dir, local.Options{Workers: workers})
	other, _ := engineOn(t, dir, local.Options{Workers: workers})
	id := started(t, e, runs.StartRequest{Kind: runs.Session, Workflow: flow, Input: json.RawMessage(`{}`)})
	until(t, s, id, func(v *runs.View) bool { return v.State == runs.StateRunning })
	ask := func(kind string) runs.Receipt {
		t.Helper()
		command, err := other.Command(t.Context(), id, runs.Command{Type: kind, Args: json.RawMessage(`{"k":"` + kind + `"}`)})
		if err != nil {
			t.Fatal(err)
		}
		r, err := other.Await(t.Context(), id, command)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := ask("follow_up"); r.Status != runs.Refused || r.Failure.Code != string(fault.RunLocked) || !r.Failure.Retryable {
		t.Errorf("%+v", r)
	}
	if r := ask("queue"); r.Status != runs.Held {
		t.Errorf("%+v", r)
	}
	finish <- "completed" // and the message that is held becomes the next turn
	v := until(t, s, id, func(v *runs.View) bool { return v.Visits["turn"] == 2 && v.State == runs.StateRunning })
	if c, _ := v.Command(v.WorkItems[1].CommandID); string(c.Args) != `{"k":"queue"}` || string(v.WorkItems[0].Data) != "1" {
		t.Errorf("%+v, %s", c, v.WorkItems[0].Data)
	}
	if r := ask("stop"); r.Status != runs.CommandDone || !r.Told {
		t.Errorf("%+v", r)
	}
	finish <- "killed"
	until(t, s, id, paused)
	go func() { finish <- "" }()
	if r := ask("archive"); r.Status != runs.CommandDone || r.State != runs.StateArchived {
		t.Errorf("%+v", r)
	}
}
