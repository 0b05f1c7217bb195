package runs_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/runs"
)

// decide gives a paused run the command that leads on: open_pr, else fix.
func (w *walker) decide(t *testing.T) bool {
	if w.view.Paused == nil {
		return false
	}
	c := runs.Command{ID: fmt.Sprint("on-", w.view.Seq), Type: "fix"}
	if slices.Contains(w.view.Paused.Await, "open_pr") {
		c.Type = "open_pr"
	}
	w.command(t, c)
	return true
}

// However often a run is resumed and failed, also while it walks over what is done,
// and whether somebody or the autopilot decides, it executes what an undisturbed run
// executes, once and in the same order, and comes to the same end.
func TestResumingAgainAndAgainRepeatsNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		auto := rapid.Bool().Draw(rt, "auto")
		flags := map[string]bool{"fix": auto, "open_pr": auto}
		give := failing(rapid.IntRange(0, 3).Draw(rt, "failing validations"))
		whole := newWalker(t, flags)
		for whole.run(t, give); whole.decide(t); whole.run(t, give) {
		}

		w := newWalker(t, flags)
		for i := 0; w.view.State != runs.StateDone; i++ {
			if i == 2000 {
				rt.Fatalf("no end: %s at %s, replay %d", w.view.State, w.view.Node, w.view.Replay)
			}
			ruin := false
			if i < 100 {
				switch rapid.IntRange(0, 11).Draw(rt, "disturbance") {
				case 0, 1:
					w.command(t, runs.Command{ID: fmt.Sprint("resume-", i), Type: runs.Resume})
				case 2:
					ruin = true
				}
			}
			again := w.step(t, func(work runs.Work) runs.Draft {
				if ruin {
					return runs.Draft{Type: runs.WorkItemFailed, Payload: runs.ItemFailed{WorkItemID: work.Key, Final: true, Failure: runs.Failure{Code: "X"}}}
				}
				return give(work)
			})
			switch {
			case again || w.decide(t):
			case w.view.State == runs.StateFailed:
				w.command(t, runs.Command{ID: fmt.Sprint("mend-", i), Type: runs.Resume})
			}
		}
		if diff := cmp.Diff(whole.executed(), w.executed()); diff != "" {
			rt.Fatal(diff)
		}
		// Results name the same visits: nothing was done under another number.
		if diff := cmp.Diff(whole.view.Results, w.view.Results); diff != "" {
			rt.Fatal(diff)
		}
	})
}

// Wherever a node is forced, also inside a fix loop or while a rewound run walks its
// trail, no item of work finishes twice, the run does not get stuck, and what was forced
// is visited anew.
func TestForcingAnywhereNeverRepeatsAnItem(t *testing.T) {
	nodes := launchWorkflow(t).Nodes
	rapid.Check(t, func(rt *rapid.T) {
		w := newWalker(t, map[string]bool{"fix": true, "open_pr": true})
		give := failing(rapid.IntRange(0, 3).Draw(rt, "failing validations"))
		for i := range 150 {
			if rapid.IntRange(0, 14).Draw(rt, "force") == 0 {
				c := runs.Command{ID: fmt.Sprint("force-", i), Type: runs.Resume}
				if rapid.IntRange(0, 3).Draw(rt, "plain") > 0 {
					c.Force = nodes[rapid.IntRange(0, len(nodes)-1).Draw(rt, "node")].Name
				}
				visits := w.view.Visits[c.Force]
				w.command(t, c)
				for state, _ := w.view.Command(c.ID); state.Receipt == nil; state, _ = w.view.Command(c.ID) {
					w.step(t, give)
				}
				if state, _ := w.view.Command(c.ID); c.Force != "" && state.Status == runs.CommandDone {
					w.step(t, give)
					if w.view.Node != c.Force || w.view.Visits[c.Force] != visits+1 {
						rt.Fatalf("forced %s, at %s, visit %d after %d", c.Force, w.view.Node, w.view.Visits[c.Force], visits)
					}
				}
			}
			w.step(t, give)
		}
		w.run(t, give)
		if w.view.State != runs.StateDone {
			rt.Fatalf("the run is %s at %s", w.view.State, w.view.Node)
		}
		done := w.executed()
		slices.Sort(done)
		if len(slices.Compact(slices.Clone(done))) != len(done) {
			rt.Fatalf("an item finished twice: %v", done)
		}
	})
}

// Fan-out items may finish in any order.
func TestResultsDoNotDependOnWhichItemFinishesFirst(t *testing.T) {
	var want []byte
	rapid.Check(t, func(rt *rapid.T) {
		w := newWalker(t, nil)
		for w.view.Node != "draft_sections" || len(runs.Next(w.view).Execute) == 0 {
			w.step(t, happy)
		}
		for _, work := range rapid.Permutation(runs.Next(w.view).Execute).Draw(rt, "order") {
			f := runs.ItemFinished{WorkItemID: work.Key, Attempt: 1, Data: json.RawMessage(`"` + work.Item + `"`)}
			if work.Item != "docs" {
				f.Outcome = "by " + work.Item
			}
			w.add(t, runs.Draft{Type: runs.WorkItemFinished, Payload: f})
		}
		got, err := json.Marshal(w.view.Results)
		if err != nil {
			rt.Fatal(err)
		}
		if want == nil {
			want = got
		}
		if string(got) != string(want) {
			rt.Fatalf("%s, and in another order %s", got, want)
		}
	})
}

// Two requests under one key may both be posted before either is seen.
func TestOfTwoRequestsUnderOneKeyTheSecondIsRefused(t *testing.T) {
	w := newWalker(t, nil)
	w.run(t, happy)
	w.command(t, runs.Command{ID: "one", Type: "validate", Once: &runs.Once{Key: "k", Hash: "1"}})
	w.command(t, runs.Command{ID: "two", Type: "validate", Once: &runs.Once{Key: "k", Hash: "2"}})
	w.run(t, happy)
	one, _ := w.view.Command("one")
	two, _ := w.view.Command("two")
	if one.Status != runs.CommandDone || two.Status != runs.Refused || two.Receipt.Failure.Code != string(fault.IdempotencyConflict) {
		t.Errorf("%+v; %+v", one.Receipt, two.Receipt)
	}
	w.command(t, runs.Command{ID: "three", Type: "fix", Once: &runs.Once{Key: "refused", Hash: "1"}})
	w.command(t, runs.Command{ID: "four", Type: "validate", Once: &runs.Once{Key: "refused", Hash: "2"}})
	w.run(t, happy)
	if four, _ := w.view.Command("four"); four.Status != runs.CommandDone {
		t.Errorf("a refused command has not freed its key: %+v", four.Receipt)
	}
}
