package runs_test

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/runs"
)

// walker drives a run in memory, as an engine would, and remembers its events.
type walker struct {
	view   *runs.View
	events []runs.Event
	now    time.Time
}

func newWalker(t testing.TB, flags map[string]bool) *walker {
	t.Helper()
	w := &walker{view: new(runs.View), now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	w.add(t, runs.Draft{Type: runs.RunCreated, Payload: runs.Created{
		Kind: runs.Launch, Workflow: launchWorkflow(t), Input: json.RawMessage(`{}`), Flags: flags,
	}})
	return w
}

func launchWorkflow(t testing.TB) runs.Workflow {
	t.Helper()
	raw, err := os.ReadFile("../specs/workflows/launch.json")
	if err != nil {
		t.Fatal(err)
	}
	var w runs.Workflow
	if err := json.Unmarshal(raw, &w); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *walker) add(t testing.TB, drafts ...runs.Draft) {
	t.Helper()
	for _, d := range drafts {
		w.now = w.now.Add(time.Millisecond)
		e, err := runs.NewEvent("r_20260102_abcdefgh", d, w.now)
		if err != nil {
			t.Fatal(err)
		}
		e.Seq, e.PrevHash, e.EventHash = w.view.Seq+1, w.view.Head, e.EventID
		if err := w.view.Apply(e); err != nil {
			t.Fatal(err)
		}
		w.events = append(w.events, e)
	}
}

// step does what the planner says and returns false when it waits or is over.
// give decides the outcome of a work item.
func (w *walker) step(t testing.TB, give func(runs.Work) runs.Draft) bool {
	t.Helper()
	d := runs.Next(w.view)
	w.add(t, d.Write...)
	for _, work := range d.Execute {
		w.add(t, runs.Draft{Type: runs.WorkItemStarted, Payload: runs.ItemStarted{WorkItemID: work.Key, Attempt: work.Tries + 1}}, give(work))
	}
	return len(d.Write)+len(d.Execute) > 0
}

func (w *walker) run(t testing.TB, give func(runs.Work) runs.Draft) {
	t.Helper()
	for range 500 {
		if !w.step(t, give) {
			return
		}
	}
	t.Fatalf("no end: the run is at %s in %s", w.view.Node, w.view.State)
}

func (w *walker) command(t testing.TB, c runs.Command) {
	t.Helper()
	w.add(t, runs.Draft{Type: runs.CommandReceived, Payload: c})
}

// states returns the states that the run has been in.
func (w *walker) states() []runs.State {
	out := []runs.State{runs.StateCreated}
	for _, e := range w.events {
		switch e.Type {
		case runs.RunStateChanged:
			var c runs.StateChange
			json.Unmarshal(e.Payload, &c)
			out = append(out, c.NewState)
		case runs.ResumeRewind:
			var r runs.Rewind
			json.Unmarshal(e.Payload, &r)
			out = append(out, r.ToState)
		}
	}
	return out
}

// executed returns the keys of the finished work items, in order.
func (w *walker) executed() []string {
	var out []string
	for _, e := range w.events {
		if e.Type == runs.WorkItemFinished {
			var f runs.ItemFinished
			json.Unmarshal(e.Payload, &f)
			out = append(out, f.WorkItemID)
		}
	}
	return out
}

func finished(work runs.Work, outcome string) runs.Draft {
	f := runs.ItemFinished{WorkItemID: work.Key, Attempt: work.Tries + 1, Outcome: outcome}
	if work.Node.Name == "build_plan" {
		f.Items = []string{"docs", "reference", "blog"}
	}
	return runs.Draft{Type: runs.WorkItemFinished, Payload: f}
}

// happy lets everything succeed and every validation pass.
func happy(work runs.Work) runs.Draft {
	if work.Node.Name == "validate" {
		return finished(work, "ok")
	}
	return finished(work, "")
}

// failing lets the first n validations fail.
func failing(n int) func(runs.Work) runs.Draft {
	return func(work runs.Work) runs.Draft {
		switch {
		case work.Node.Name == "validate" && work.Visit <= n:
			return finished(work, "failed")
		case work.Node.Name == "fix_next":
			return finished(work, "fixed")
		}
		return happy(work)
	}
}

var toReady = []runs.State{
	runs.StateCreated, runs.StateClonedInputs, runs.StateIngested, runs.StateFactsReady, runs.StatePlanReady, runs.StateDrafting,
	runs.StateDraftReady, runs.StateLinking, runs.StateValidating, runs.StateReadyForPR,
}

func TestLaunchPausesBeforeThePullRequest(t *testing.T) {
	w := newWalker(t, nil)
	w.run(t, happy)
	if diff := cmp.Diff(toReady, w.states()); diff != "" {
		t.Error(diff)
	}
	if w.view.Paused == nil || !slices.Equal(w.view.Paused.Await, []string{"open_pr", "validate"}) {
		t.Errorf("paused = %+v", w.view.Paused)
	}
	w.command(t, runs.Command{ID: "c1", Type: "open_pr"})
	w.run(t, happy)
	if w.view.State != runs.StateDone || w.view.FinishedAt == nil {
		t.Errorf("state = %s, finished at %v", w.view.State, w.view.FinishedAt)
	}
	if c, _ := w.view.Command("c1"); c.Status != runs.CommandDone {
		t.Errorf("command is %s", c.Status)
	}
}

func TestAutopilotGoesThroughFixesToDone(t *testing.T) {
	w := newWalker(t, map[string]bool{"fix": true, "open_pr": true})
	w.run(t, failing(2))
	want := append(slices.Clone(toReady[:len(toReady)-1]), runs.StateFixing, runs.StateValidating, runs.StateFixing, runs.StateValidating,
		runs.StateReadyForPR, runs.StatePROpened, runs.StateDone)
	if diff := cmp.Diff(want, w.states()); diff != "" {
		t.Error(diff)
	}
}

func TestValidateWhenReadyGoesBackOnlyIfItFails(t *testing.T) {
	w := newWalker(t, nil)
	w.run(t, happy)
	w.command(t, runs.Command{ID: "c1", Type: "validate"})
	w.run(t, happy)
	if diff := cmp.Diff(toReady, w.states()); diff != "" {
		t.Errorf("a passing validation changed the state: %s", diff)
	}
	w.command(t, runs.Command{ID: "c2", Type: "validate"})
	w.run(t, failing(9))
	if w.view.State != runs.StateValidating || w.view.Paused == nil {
		t.Errorf("state = %s, paused = %v", w.view.State, w.view.Paused)
	}
}

func TestCancelEndsAnyUnfinishedRunAndOnlyThose(t *testing.T) {
	for stop := range 40 {
		w := newWalker(t, map[string]bool{"fix": true, "open_pr": true})
		for range stop {
			w.step(t, failing(1))
		}
		before := w.view.State
		w.command(t, runs.Command{ID: "c1", Type: runs.Cancel})
		w.run(t, failing(1))
		c, _ := w.view.Command("c1")
		if before == runs.StateDone {
			if c.Status != runs.Refused || c.Receipt.Failure.Code != string(fault.IllegalState) {
				t.Errorf("cancelling a finished run: %+v", c.Receipt)
			}
			continue
		}
		if w.view.State != runs.StateCancelled || c.Status != runs.CommandDone {
			t.Errorf("cancelled in %s: state %s, command %s", before, w.view.State, c.Status)
		}
		w.command(t, runs.Command{ID: "c2", Type: runs.Cancel})
		w.run(t, happy)
		if c, _ := w.view.Command("c2"); c.Status != runs.CommandDone {
			t.Errorf("a second cancel is %s", c.Status)
		}
	}
}

// An interruption at any point, followed by launch_resume, leads to the end and
// executes nothing twice that was finished.
func TestResumeRepeatsNoFinishedWork(t *testing.T) {
	flags := map[string]bool{"fix": true, "open_pr": true}
	whole := newWalker(t, flags)
	whole.run(t, failing(2))
	for stop := range 60 {
		w := newWalker(t, flags)
		for range stop {
			w.step(t, failing(2))
		}
		if w.view.State.Terminal() {
			break
		}
		w.command(t, runs.Command{ID: "c1", Type: runs.Resume})
		w.run(t, failing(2))
		if diff := cmp.Diff(whole.executed(), w.executed()); diff != "" {
			t.Errorf("resumed after %d steps: %s", stop, diff)
		}
		if w.view.State != runs.StateDone {
			t.Errorf("resumed after %d steps: state %s", stop, w.view.State)
		}
	}
}

func TestResumeRewindsToTheLastStableState(t *testing.T) {
	for _, c := range []struct {
		at   string
		want runs.State
	}{
		{"build_facts", runs.StateIngested}, {"draft_sections", runs.StatePlanReady}, {"merge_and_link", runs.StateDraftReady},
		{"validate", runs.StateDraftReady}, {"fix_next", runs.StateDraftReady}, {"open_pr", runs.StateReadyForPR},
	} {
		w := newWalker(t, map[string]bool{"fix": true, "open_pr": true})
		for w.view.Node != c.at || len(runs.Next(w.view).Execute) == 0 {
			w.step(t, failing(1))
		}
		w.command(t, runs.Command{ID: "c1", Type: runs.Resume})
		w.step(t, happy)
		if got := w.states(); got[len(got)-1] != c.want {
			t.Errorf("resume at %s rewinds to %s, want %s", c.at, got[len(got)-1], c.want)
		}
	}
}

func TestFailedRunCanBeResumed(t *testing.T) {
	w := newWalker(t, nil)
	broken := true
	give := func(work runs.Work) runs.Draft {
		if broken && work.Node.Name == "merge_and_link" {
			return runs.Draft{Type: runs.WorkItemFailed, Payload: runs.ItemFailed{WorkItemID: work.Key, Attempt: 1, Final: true,
				Failure: runs.Failure{Code: "LINKER_PATCH_CONFLICT", Message: "no"}}}
		}
		return happy(work)
	}
	w.run(t, give)
	if w.view.State != runs.StateFailed || w.view.Failure.Code != "LINKER_PATCH_CONFLICT" {
		t.Fatalf("state %s, failure %+v", w.view.State, w.view.Failure)
	}
	broken = false
	w.command(t, runs.Command{ID: "c1", Type: runs.Resume})
	w.run(t, give)
	if w.view.State != runs.StateReadyForPR || w.view.Failure != nil {
		t.Errorf("state %s, failure %+v", w.view.State, w.view.Failure)
	}
}

func TestForceIsRefusedWhereTheRunHasNotBeen(t *testing.T) {
	w := newWalker(t, nil)
	w.run(t, happy)
	w.command(t, runs.Command{ID: "c2", Type: runs.Resume, Force: "finalize"})
	w.run(t, happy)
	if c, _ := w.view.Command("c2"); c.Status != runs.Refused {
		t.Errorf("forcing a node that the run has not come to is %s", c.Status)
	}
}

func TestCommandsOutOfPlaceAreRefused(t *testing.T) {
	w := newWalker(t, nil)
	w.step(t, happy)
	w.command(t, runs.Command{ID: "busy", Type: "fix"})
	w.run(t, happy)
	w.command(t, runs.Command{ID: "early", Type: "fix"})
	w.run(t, happy)
	for id, code := range map[string]fault.Code{"busy": fault.RunLocked, "early": fault.IllegalState} {
		if c, _ := w.view.Command(id); c.Status != runs.Refused || c.Receipt.Failure.Code != string(code) {
			t.Errorf("%s: %s %+v", id, c.Status, c.Receipt)
		}
	}
}

func TestUnlistedTransitionsAreRefusedAndRecorded(t *testing.T) {
	flow := runs.Workflow{Name: "odd", Version: "1", Kind: runs.Launch, Nodes: []runs.Node{
		{Name: "a", Worker: "a", Exit: runs.StateReadyForPR, TimeoutS: 1},
	}}
	w := &walker{view: new(runs.View), now: time.Unix(0, 0)}
	w.add(t, runs.Draft{Type: runs.RunCreated, Payload: runs.Created{Kind: runs.Launch, Workflow: flow}})
	w.run(t, happy)
	if w.view.State != runs.StateFailed || w.view.Failure.Code != string(fault.IllegalState) {
		t.Errorf("state %s, failure %+v", w.view.State, w.view.Failure)
	}
	if !slices.ContainsFunc(w.events, func(e runs.Event) bool { return e.Type == runs.TransitionRefused }) {
		t.Error("the refusal is not in the journal")
	}

	// A journal that claims such a transition was not written by this program.
	for _, from := range runs.States(runs.Launch) {
		for _, to := range runs.States(runs.Launch) {
			v := *w.view
			v.State = from
			e, _ := runs.NewEvent(v.RunID, runs.Draft{Type: runs.RunStateChanged, Payload: runs.StateChange{OldState: from, NewState: to}}, w.now)
			e.Seq = v.Seq + 1
			err := v.Apply(e)
			if allowed := runs.Allowed(runs.Launch, from, to); allowed != (err == nil) {
				t.Errorf("%s to %s: allowed %v, fold says %v", from, to, allowed, err)
			}
			var f *fault.Fault
			if err != nil && (!errors.As(err, &f) || f.Code != fault.EventChainBroken) {
				t.Errorf("%s to %s: %v", from, to, err)
			}
		}
	}
}

// Whatever happens to a run, each transition is in the table, replaying its events
// gives its snapshot byte for byte, and cutting its journal anywhere and going on leads to
// a decision.
func TestAnyHistoryReplaysToItsSnapshot(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWalker(t, map[string]bool{"fix": rapid.Bool().Draw(rt, "fix"), "open_pr": rapid.Bool().Draw(rt, "open_pr")})
		give := func(work runs.Work) runs.Draft {
			switch rapid.SampledFrom([]string{"ok", "ok", "ok", "failed", "retry", "fatal"}).Draw(rt, "result") {
			case "retry":
				return runs.Draft{Type: runs.WorkItemFailed, Payload: runs.ItemFailed{WorkItemID: work.Key, Attempt: work.Tries + 1}}
			case "fatal":
				return runs.Draft{Type: runs.WorkItemFailed, Payload: runs.ItemFailed{WorkItemID: work.Key, Final: true, Failure: runs.Failure{Code: "X"}}}
			case "failed":
				if work.Node.Name == "validate" {
					return finished(work, "failed")
				}
				return finished(work, "fixed")
			}
			return happy(work)
		}
		for i := range rapid.IntRange(5, 60).Draw(rt, "steps") {
			if rapid.IntRange(0, 9).Draw(rt, "command") == 0 {
				c := runs.Command{ID: string(rune('a' + i)), Type: rapid.SampledFrom([]string{"fix", "validate", "open_pr", runs.Resume, runs.Resume, runs.Cancel}).Draw(rt, "type")}
				if c.Type == runs.Resume && rapid.Bool().Draw(rt, "force") {
					c.Force = rapid.SampledFrom([]string{"clone_inputs", "build_plan", "validate"}).Draw(rt, "node")
				}
				w.command(t, c)
			}
			w.step(t, give)
		}
		replayed := new(runs.View)
		for _, e := range w.events {
			if err := replayed.Apply(e); err != nil {
				rt.Fatal(err)
			}
		}
		a, _ := w.view.Snapshot()
		b, _ := replayed.Snapshot()
		if string(a) != string(b) {
			rt.Fatal(cmp.Diff(string(a), string(b)))
		}

		cut := &walker{view: new(runs.View), now: w.now}
		for _, e := range w.events[:rapid.IntRange(1, len(w.events)).Draw(rt, "cut")] {
			cut.events = append(cut.events, e)
			if err := cut.view.Apply(e); err != nil {
				rt.Fatal(err)
			}
		}
		cut.run(t, happy)
		if c := cut.view; c.Busy() || slices.ContainsFunc(c.Commands, func(c runs.CommandState) bool { return c.Receipt == nil }) {
			rt.Fatalf("a cut journal does not come to rest: %s at %s, %+v", c.State, c.Node, c.Commands)
		}
	})
}

func TestCloneSharesNothingThatChanges(t *testing.T) {
	w := newWalker(t, map[string]bool{"fix": true, "open_pr": true})
	before := w.view.Clone()
	want, _ := before.Snapshot()
	w.run(t, failing(1))
	got, _ := before.Snapshot()
	if string(want) != string(got) {
		t.Error(cmp.Diff(string(want), string(got)))
	}
}
