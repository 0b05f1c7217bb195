package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/gantry-run/gantry/runs"
)

func keyed(repo, key string) args {
	return args{"run_config": args{"github_repo_url": repo}, "idempotency_key": key}
}

// One key starts one run, however often, under whichever name, from whichever
// process and at whichever moment.
func TestOneKeyStartsOneRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	servers := []*peer{w.serve(stateful), w.serve(stateless)}
	tools := []string{"launch_start_run", "launch_run"}
	var answers []<-chan answer
	for i := range 20 {
		answers = append(answers, servers[i%2].beginCall(tools[i/2%2], keyed("product", "same")))
	}
	ids := map[string]int{}
	for i, c := range answers {
		a := servers[i%2].wait(c)
		if a.Error != nil && a.Error.Data.Code == "IDEMPOTENCY_IN_PROGRESS" && a.Error.Data.Retryable {
			continue
		}
		ids[field(t, servers[i%2].success("launch_start_run", a), "run_id")]++
	}
	again := field(t, servers[0].must("launch_run", keyed("product", "same")), "run_id")
	if ids[again]++; len(ids) != 1 {
		t.Errorf("one key started %v", ids)
	}
	w.rest(again)
	if got := field(t, servers[1].must("launch_start_run", keyed("product", "same")), "run_id"); got != again {
		t.Errorf("the key leads to %s once the run rests, to %s before", got, again)
	}
	asRequestID := args{"run_config": args{"github_repo_url": "product"}, "request_id": "same"}
	if got := field(t, servers[1].must("launch_start_run", asRequestID), "run_id"); got != again {
		t.Errorf("as request_id, the key leads to %s", got)
	}
	for _, p := range servers {
		p.refused("launch_start_run", keyed("plain", "same"), "IDEMPOTENCY_CONFLICT")
	}
	var page struct {
		Runs []struct {
			ID string `json:"run_id"`
		}
	}
	if err := json.Unmarshal(servers[0].must("launch_list_runs", args{}), &page); err != nil || len(page.Runs) != 1 {
		t.Errorf("%d runs, %v", len(page.Runs), err)
	}
	two := keyed("product", "one")
	two["request_id"] = "two"
	servers[0].refused("launch_start_run", two, "INVALID_INPUT")
	two["request_id"] = "one"
	servers[0].must("launch_start_run", two)
}

// A call that is repeated with its key tells what came of the first one, also when
// that has led the run to where the call would be refused.
func TestRepeatedVerbTellsWhatCameOfIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.serve(stateful, "--rate-limit=0")
	id := w.ready(p, nil)
	w.spoil(id, docsIndex, addLine("See {{ token }}."))
	p.must("launch_validate", args{"run_id": id, "idempotency_key": "v"})
	verbs := []string{"launch_fix_next", "launch_open_pr"}
	for _, verb := range verbs {
		p.must(verb, args{"run_id": id, "idempotency_key": verb})
		seq := w.rest(id).Seq
		p.must(verb, args{"run_id": id, "idempotency_key": verb})
		if now := w.rest(id).Seq; now != seq {
			t.Errorf("%s, repeated, added %d events", verb, now-seq)
		}
	}
	p.inState(id, runs.StateDone)
	p.must("launch_fix_next", args{"run_id": id, "idempotency_key": "launch_fix_next"})
	p.must("launch_validate", args{"run_id": id, "idempotency_key": "v"})
	p.refused("launch_fix_next", args{"run_id": id, "idempotency_key": "another"}, "ILLEGAL_STATE")
	p.refused("launch_resume", args{"run_id": id, "idempotency_key": "v"}, "IDEMPOTENCY_CONFLICT")
	w.verify(id)
}

// Two mutating calls on one run are done one after the other, or one of them is told
// to come again; never both at once, across processes too.
func TestMutatingCallsOnOneRunDoNotOverlap(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	servers := []*peer{w.serve(stateful), w.serve(stateless)}
	id := w.ready(servers[0], nil)
	for i := range 8 {
		w.spoil(id, docsIndex, addLine(fmt.Sprintf("See {{ token%d }} in chapter %d.", i, i)))
	}
	servers[0].must("launch_validate", args{"run_id": id})
	var answers []<-chan answer
	for i := range 8 {
		answers = append(answers, servers[i%2].beginCall("launch_fix_next", args{"run_id": id}))
	}
	var fixed []string
	for i, c := range answers {
		a := servers[i%2].wait(c)
		if a.Error != nil {
			if a.Error.Data.Code != "RUN_LOCKED" || !a.Error.Data.Retryable {
				t.Errorf("refused with %s", a.Error)
			}
			continue
		}
		issue := field(t, servers[i%2].success("launch_fix_next", a), "fixed_issue_id")
		if slices.Contains(fixed, issue) {
			t.Errorf("issue %s was fixed twice at once", issue)
		}
		fixed = append(fixed, issue)
	}
	if len(fixed) == 0 {
		t.Error("none of eight calls got through")
	}
	w.verify(id)
}

// While another process holds the call lock of a run, mutating calls are told to come
// again; readers and cancel get through.
func TestOnlyMutatingCallsWaitForTheCallLock(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.serve(stateful)
	id := w.ready(p, nil)
	release, err := w.store.LockCall(t.Context(), runs.ID(id), patience)
	if err != nil {
		t.Fatal(err)
	}
	mutating := []string{"launch_validate", "launch_fix_next", "launch_open_pr", "launch_resume"}
	var answers []<-chan answer
	for _, tool := range mutating { // they wait side by side
		answers = append(answers, p.beginCall(tool, args{"run_id": id}))
	}
	p.must("launch_get_status", args{"run_id": id})
	p.must("launch_get_artifact", args{"run_id": id, "artifact_name": "page_plan.json"})
	p.must("get_telemetry", args{"run_id": id})
	for i, c := range answers {
		if a := p.wait(c); a.Error == nil || a.Error.Data.Code != "RUN_LOCKED" || !a.Error.Data.Retryable {
			t.Errorf("%s: %s %.200s", mutating[i], a.Error, a.Result)
		}
	}
	p.must("launch_cancel", args{"run_id": id})
	release()
	p.inState(id, runs.StateCancelled)
}
