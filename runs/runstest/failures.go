package runstest

import (
	"testing"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/runs"
)

func testRetry(t *testing.T, _ Options) {
	l := newLab(t)
	const pause = 40 * time.Millisecond
	h := l.host(hostConfig{BackoffMS: int(pause.Milliseconds())})
	id := l.started(h, Request(Script{Items: three, Flaky: map[string]int{"draft.1.docs": 3}}, "publish"))
	if v := l.over(id); v.State != runs.StateDone {
		t.Fatalf("the run is %s, %+v", v.State, v.Failure)
	}
	key := runs.WorkKey(id, "draft", 1, "docs")
	var failed time.Time
	failures, starts := 0, 0
	for _, e := range l.events(id) {
		switch e.SpanID {
		case id.SpanID(key):
		default:
			continue
		}
		switch e.Type {
		case runs.WorkItemFailed:
			failures++
			failed = e.TS
		case runs.WorkItemStarted:
			starts++
			// Timestamps are cut to milliseconds.
			if want := time.Duration(failures) * pause; failures > 0 && e.TS.Sub(failed) < want-time.Millisecond {
				t.Errorf("attempt %d came %v after the failure, want %v", starts, e.TS.Sub(failed), want)
			}
		}
	}
	if failures != 3 || starts != 4 {
		t.Errorf("%d failures and %d starts", failures, starts)
	}
	exhausted := l.started(h, Request(Script{Items: three, Flaky: map[string]int{"facts.1": 99}}))
	v := l.over(exhausted)
	if v.State != runs.StateFailed || v.Failure.Code != string(fault.ProcessFailed) || !v.Failure.Retryable {
		t.Errorf("after the last attempt the run is %s, %+v", v.State, v.Failure)
	}
	if got := payloads[runs.ItemFailed](l, exhausted, runs.WorkItemFailed); len(got) != 4 || !got[3].Final {
		t.Errorf("%d failures: %+v", len(got), got)
	}
	l.sound(id)
}

func testFailure(t *testing.T, _ Options) {
	l := newLab(t)
	h := l.host(hostConfig{})
	for _, c := range []struct {
		ruin string
		code fault.Code
	}{{Fail, fault.PatchConflict}, {Panic, fault.Internal}, {Stray, fault.Internal}} {
		id := l.started(h, Request(Script{Items: three, Ruin: map[string]string{"draft.1.docs": c.ruin}}, "publish"))
		v := l.over(id)
		if v.State != runs.StateFailed || v.Failure.Code != string(c.code) || v.Failure.Node != "draft" {
			t.Errorf("%s: the run is %s, %+v", c.ruin, v.State, v.Failure)
		}
		if got := payloads[runs.ItemFailed](l, id, runs.WorkItemFailed); len(got) != 1 || !got[0].Final {
			t.Errorf("%s: failures %+v", c.ruin, got)
		}
		l.sound(id)
		if c.ruin != Fail {
			continue
		}
		l.mend(id)
		if r := l.told(h, id, runs.Command{Type: runs.Resume}); r.Status != runs.CommandDone {
			t.Errorf("resume: %+v", r)
		}
		if v := l.over(id); v.State != runs.StateDone || v.Visits["draft"] != 1 {
			t.Errorf("resumed, the run is %s after %d visits of draft", v.State, v.Visits["draft"])
		}
		l.sound(id)
	}
	nobody := Request(Script{Items: three})
	nobody.Workflow.Nodes[1].Worker = "nobody"
	if v := l.over(l.started(h, nobody)); v.State != runs.StateFailed || v.Failure.Code != string(fault.WorkerMissing) {
		t.Errorf("without its worker the run is %s, %+v", v.State, v.Failure)
	}
	h.close()
}

func testTimeout(t *testing.T, _ Options) {
	l := newLab(t)
	h := l.host(hostConfig{})
	id := l.started(h, Request(Script{Items: three, Ruin: map[string]string{"link.1": Late}}, "publish"))
	v := l.over(id)
	got := payloads[runs.ItemFailed](l, id, runs.WorkItemFailed)
	if v.State != runs.StateDone || len(got) != 1 || got[0].Code != string(fault.NodeTimeout) || !got[0].Retryable {
		t.Errorf("the run is %s, failures %+v", v.State, got)
	}
	l.sound(id)
}

func testClose(t *testing.T, _ Options) {
	l := newLab(t)
	a := l.host(hostConfig{})
	id := l.started(a, Request(Script{Items: three, Ruin: map[string]string{"facts.1": Hang}}, "publish"))
	l.executing(id, "facts.1")
	a.close()
	v, err := l.store.View(id)
	if err != nil || v.State != runs.StateIngested || status(v, "facts.1") == runs.Finished {
		t.Fatalf("closed, the run is %s, %v", describe(v), err)
	}
	b := l.host(hostConfig{AdoptMS: 20})
	l.until(id, "is executed by another", func(v *runs.View) bool { return status(v, "facts.1") == runs.Running && attempt(v, "facts.1") == 2 })
	if r := l.told(b, id, runs.Command{Type: runs.Cancel}); r.Status != runs.CommandDone {
		t.Errorf("%+v", r)
	}
	b.close()
	l.sound(id)
}

func attempt(v *runs.View, item string) int {
	for _, w := range v.WorkItems {
		if w.ID == string(v.RunID)+"/"+item {
			return w.Attempt
		}
	}
	return 0
}
