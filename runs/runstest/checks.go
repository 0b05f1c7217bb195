package runstest

import (
	"context"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/runs"
)

func contextFor(t *testing.T, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(t.Context(), d)
}

var three = []string{"docs", "blog", "reference"}

func testEnd(t *testing.T, _ Options) {
	l := newLab(t)
	h := l.host(hostConfig{})
	id := l.started(h, Request(Script{Items: three, Outcomes: map[string]string{"validate.1": "failed"}}, "publish", "fix"))
	v := l.over(id)
	want := []runs.State{
		runs.StateClonedInputs, runs.StateIngested, runs.StateFactsReady, runs.StatePlanReady, runs.StateDrafting, runs.StateDraftReady,
		runs.StateLinking, runs.StateValidating, runs.StateFixing, runs.StateValidating, runs.StateReadyForPR, runs.StatePROpened, runs.StateDone,
	}
	var got []runs.State
	for _, c := range payloads[runs.StateChange](l, id, runs.RunStateChanged) {
		got = append(got, c.NewState)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, item := range three {
		if status(v, "draft.1."+item) != runs.Finished || v.SectionStates[item] != "drafted" {
			t.Errorf("section %s is %s, %s", item, status(v, "draft.1."+item), v.SectionStates[item])
		}
	}
	if len(v.Artifacts) != len(v.WorkItems) || len(payloads[runs.GateRun](l, id, runs.GateRunStarted)) == 0 {
		t.Errorf("%d artifacts of %d items; events that workers report are missing", len(v.Artifacts), len(v.WorkItems))
	}
	events := l.events(id)
	if last := events[len(events)-1]; last.Type != runs.RunStateChanged {
		t.Errorf("the last event is %s", last.Type)
	}
	h.close()
	l.sound(id)
}

func paused(v *runs.View) bool { return v.Paused != nil }

func testPause(t *testing.T, _ Options) {
	l := newLab(t)
	a, b := l.host(hostConfig{}), l.host(hostConfig{})
	id := l.started(a, Request(Script{Items: three}))
	v := l.until(id, "is paused", paused)
	if !slices.Equal(v.Paused.Await, []string{"publish", "validate"}) || v.State != runs.StateReadyForPR {
		t.Errorf("%s, paused %+v", v.State, v.Paused)
	}
	if r := l.told(b, id, runs.Command{Type: "fix"}); r.Status != runs.Refused || r.Failure.Code != string(fault.IllegalState) {
		t.Errorf("a command out of place: %+v", r)
	}
	if r := l.told(b, id, runs.Command{Type: "validate"}); r.Status != runs.CommandDone {
		t.Errorf("validate: %+v", r)
	}
	if r := l.told(a, id, runs.Command{Type: "publish"}); r.Status != runs.CommandDone || r.State != runs.StateDone {
		t.Errorf("publish: %+v", r)
	}
	if r := l.told(b, id, runs.Command{Type: runs.Cancel}); r.Status != runs.Refused {
		t.Errorf("cancelling what is done: %+v", r)
	}
	if _, err := a.command("r_20260101T000000Z_missing", runs.Command{Type: runs.Cancel}); !fault.Is(err, fault.RunNotFound) {
		t.Errorf("a command for no run: %v", err)
	}
	a.close()
	b.close()
	l.sound(id)
}

func testCommandOnce(t *testing.T, _ Options) {
	l := newLab(t)
	hosts := []*remote{l.host(hostConfig{}), l.host(hostConfig{})}
	id := l.started(hosts[0], Request(Script{Items: three}))
	l.until(id, "is paused", paused)
	validate := runs.Command{Type: "validate", Once: &runs.Once{Key: "again", Hash: "1"}}
	ids := make([]string, 8)
	var calls sync.WaitGroup
	for i := range ids {
		calls.Go(func() {
			var err error
			if ids[i], err = hosts[i%2].command(id, validate); err != nil {
				t.Error(err)
			}
		})
	}
	calls.Wait()
	if slices.Sort(ids); ids[0] != ids[len(ids)-1] {
		t.Errorf("one key made the commands %v", ids)
	}
	for _, h := range hosts {
		if r, err := h.await(id, ids[0]); err != nil || r.Status != runs.CommandDone {
			t.Errorf("%+v, %v", r, err)
		}
	}
	other := validate
	other.Once = &runs.Once{Key: "again", Hash: "2"}
	if _, err := hosts[1].command(id, other); !fault.Is(err, fault.IdempotencyConflict) {
		t.Errorf("the key with another request: %v", err)
	}
	if got := len(payloads[runs.Command](l, id, runs.CommandReceived)); got != 1 {
		t.Errorf("the journal has %d commands", got)
	}
	if v, _ := l.store.View(id); v.Visits["validate"] != 2 {
		t.Errorf("validated %d times", v.Visits["validate"])
	}
	// The same key with two requests at once: one of them is what happens.
	var wg sync.WaitGroup
	done := make(chan bool, 2)
	for i, hash := range []string{"x", "y"} {
		wg.Go(func() {
			c := runs.Command{Type: "validate", Once: &runs.Once{Key: "race", Hash: hash}}
			command, err := hosts[i].command(id, c)
			if err == nil {
				var r runs.Receipt
				if r, err = hosts[i].await(id, command); r.Failure != nil {
					err = fault.New(fault.Code(r.Failure.Code), "%s", r.Failure.Message)
				}
			}
			if err != nil && !fault.Is(err, fault.IdempotencyConflict) && !fault.Is(err, fault.RunLocked) {
				t.Error(err)
			}
			done <- err == nil
		})
	}
	wg.Wait()
	if one, two := <-done, <-done; one == two {
		t.Errorf("of two requests under one key both or none succeeded: %v, %v", one, two)
	}
	l.sound(id)
}

func testStartOnce(t *testing.T, _ Options) {
	l := newLab(t)
	hosts := []*remote{l.host(hostConfig{AdoptMS: 20}), l.host(hostConfig{AdoptMS: 20}), l.host(hostConfig{AdoptMS: 20})}
	byID := Request(Script{Items: three}, "publish")
	byID.ID = "run_with_an_id"
	byKey := Request(Script{Items: three}, "publish")
	byKey.Once = &runs.Once{Key: "launch", Hash: "1"}
	for _, r := range []runs.StartRequest{byID, byKey} {
		id := l.startAll(hosts, r)
		l.over(id)
		for _, item := range readLog(t, l.log) {
			if item.Run != id {
				t.Errorf("another run was executed: %s", item.Key)
			}
		}
		l.sound(id)
		if err := os.Truncate(l.log, 0); err != nil {
			t.Fatal(err)
		}
	}
	byID.Input = []byte(`{"items":["other"]}`)
	if _, _, err := hosts[1].start(byID); !fault.Is(err, fault.IdempotencyConflict) {
		t.Errorf("the id with another input: %v", err)
	}
	byKey.Once = &runs.Once{Key: "launch", Hash: "2"}
	if _, _, err := hosts[2].start(byKey); !fault.Is(err, fault.IdempotencyConflict) {
		t.Errorf("the key with another request: %v", err)
	}
	bad := Request(Script{})
	bad.Workflow.Nodes = nil
	if _, _, err := hosts[0].start(bad); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("a workflow without nodes: %v", err)
	}
}

// startAll starts one run many times at once on all hosts and returns its id.
func (l *lab) startAll(hosts []*remote, r runs.StartRequest) runs.ID {
	l.t.Helper()
	type result struct {
		id      runs.ID
		created bool
	}
	results := make(chan result, 24)
	var calls sync.WaitGroup
	for i := range cap(results) {
		calls.Go(func() {
			id, created, err := hosts[i%len(hosts)].start(r)
			for fault.Is(err, fault.IdempotencyInProgress) {
				id, created, err = hosts[i%len(hosts)].start(r)
			}
			if err != nil {
				l.t.Error(err)
			}
			results <- result{id, created}
		})
	}
	calls.Wait()
	close(results)
	ids, created := map[runs.ID]bool{}, 0
	var id runs.ID
	for r := range results {
		id = r.id
		ids[id] = true
		if r.created {
			created++
		}
	}
	if len(ids) != 1 || created != 1 {
		l.t.Fatalf("%d runs, created %d times", len(ids), created)
	}
	return id
}

func testCancel(t *testing.T, o Options) {
	l := newLab(t)
	a, b := l.host(hostConfig{}), l.host(hostConfig{})
	for _, c := range []struct {
		name string
		from *remote
	}{{"by the process that executes", a}, {"by another process", b}} {
		id := l.started(a, Request(Script{Items: three, Ruin: map[string]string{"draft.1.blog": Hang}}))
		l.executing(id, "draft.1.blog")
		began := time.Now()
		r := l.told(c.from, id, runs.Command{Type: runs.Cancel})
		if took := time.Since(began); took > o.Cancel {
			t.Errorf("%s: it took %v", c.name, took)
		}
		v := l.over(id)
		if r.Status != runs.CommandDone || v.State != runs.StateCancelled || status(v, "draft.1.blog") != runs.Skipped {
			t.Errorf("%s: %+v, %s, item %s", c.name, r, v.State, status(v, "draft.1.blog"))
		}
		if r := l.told(b, id, runs.Command{Type: runs.Cancel}); r.Status != runs.CommandDone {
			t.Errorf("%s: a second cancel is %+v", c.name, r)
		}
		if r := l.told(b, id, runs.Command{Type: runs.Resume}); r.Status != runs.Refused {
			t.Errorf("%s: resuming what is cancelled: %+v", c.name, r)
		}
		l.sound(id)
	}
}
