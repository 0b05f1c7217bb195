package main

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/gantry-run/gantry/runs"
)

// Of 101 calls at once exactly one is told to wait, and how long. Calls that are
// refused for their arguments, or name no tool, count as well.
func TestOneOfAHundredAndOneCallsIsLimited(t *testing.T) {
	for _, era := range []string{stateful, stateless} {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			for range 5 { // on a machine so slow that a token is refilled meanwhile, once more
				began := time.Now()
				limited := w.serve(era, "--max-in-flight=200").callsAtOnce(101)
				if took := time.Since(began); limited == 0 && took > 500*time.Millisecond {
					continue
				}
				if limited != 1 {
					t.Errorf("%d of 101 calls were limited", limited)
				}
				return
			}
			t.Skip("this machine is too slow to send 101 calls while no token is refilled")
		})
	}
}

// callsAtOnce makes calls, good and bad, and returns how many were limited.
func (p *peer) callsAtOnce(n int) (limited int) {
	p.t.Helper()
	calls := []struct {
		tool      string
		arguments args
		code      string
	}{
		{"launch_list_runs", args{}, ""},
		{"launch_list_runs", args{"limit": 0}, "SCHEMA_VALIDATION_FAILED"},
		{"no_such_tool", args{}, "UNKNOWN_TOOL"},
		{"get_run_status", args{"run_id": "r_00000000"}, "RUN_NOT_FOUND"},
	}
	var answers []<-chan answer
	for i := range n {
		answers = append(answers, p.beginCall(calls[i%4].tool, calls[i%4].arguments))
	}
	for i, c := range answers {
		a := p.wait(c)
		if a.Error == nil {
			p.success(calls[i%4].tool, a)
			continue
		}
		if a.Error.Data.Code != "RATE_LIMITED" {
			if a.Error.Data.Code != calls[i%4].code {
				p.t.Errorf("%s: %s", calls[i%4].tool, a.Error)
			}
			continue
		}
		limited++
		var details struct {
			Wait float64 `json:"retry_after_ms"`
		}
		if err := json.Unmarshal(a.Error.Data.Details, &details); err != nil || details.Wait < 1 || details.Wait > 600 || !a.Error.Data.Retryable {
			p.t.Errorf("limited with %s", a.Error)
		}
	}
	if a := p.request("tools/list", nil); a.Error != nil {
		p.t.Errorf("tools/list is limited: %s", a.Error)
	}
	return limited
}

// A client that has used up its calls does not keep another process from cancelling
// the run.
func TestCancelGetsThroughBesideALimitedClient(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	reached, _ := w.holdGit()
	p := w.serve(stateless, "--rate-limit=2")
	id := p.start(nil)
	reached()
	p.status(id)
	p.refused("launch_cancel", args{"run_id": id}, "RATE_LIMITED")
	w.serve(stateful).must("launch_cancel", args{"run_id": id})
	if v := w.rest(id); v.State != runs.StateCancelled {
		t.Errorf("the run is %s", v.State)
	}
}

// Calls beyond those that may be under way wait for their turn; none is lost.
func TestCallsBeyondTheCapWait(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.serve(stateful, "--rate-limit=0", "--max-in-flight=2")
	var answers []<-chan answer
	for range 300 {
		answers = append(answers, p.beginCall("launch_list_runs", args{}))
	}
	for _, c := range answers {
		p.success("launch_list_runs", p.wait(c))
	}
}
