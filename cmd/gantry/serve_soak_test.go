package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gantry-run/gantry/telemetry"
)

// soakFor is how long the soak lasts: GANTRY_SOAK, such as 2m, else a few seconds.
func soakFor(t *testing.T) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(os.Getenv("GANTRY_SOAK"))
	if err != nil {
		return 3 * time.Second
	}
	return d
}

// mayHappen are the refusals that a crowd may meet; all of them are retryable.
var mayHappen = []string{"RUN_LOCKED", "SERVER_BUSY", "RATE_LIMITED", "SHUTTING_DOWN", "IDEMPOTENCY_IN_PROGRESS"}

// tally is what a client of the soak has seen.
type tally struct{ calls, refused atomic.Int64 }

func (n *tally) take(t *testing.T, who, tool string, a answer) {
	n.calls.Add(1)
	if a.Error == nil {
		return
	}
	n.refused.Add(1)
	if !slices.Contains(mayHappen, a.Error.Data.Code) || !a.Error.Data.Retryable {
		t.Errorf("%s: %s: %s", who, tool, a.Error)
	}
}

// mixed is the n-th call of a client: reads of every toolset, and a change now and then.
func mixed(n int, run string) (path, tool string, a args) {
	switch n % 7 {
	case 0:
		return "/mcp/x/launch", "launch_list_runs", args{"limit": 5}
	case 1:
		return "/mcp/x/tasks", "list_tasks", args{}
	case 2:
		return "/mcp/x/launch", "launch_get_artifact", args{"run_id": run, "artifact_name": "snapshot.json", "max_bytes": 4096}
	case 3:
		return "/mcp/x/tasks", "status", args{}
	case 4:
		return "/mcp/x/launch", "get_telemetry", args{"run_id": run, "limit": 5}
	case 5:
		return "/mcp/x/launch/readonly", "get_run_status", args{"run_id": run}
	default:
		if n%49 != 6 {
			return "/mcp/x/launch", "launch_get_status", args{"run_id": run}
		}
		return "/mcp/x/launch", "launch_validate", args{"run_id": run}
	}
}

// Ten clients over HTTP and ten servers over stdio share a state directory: no call fails but
// by a refusal that may be repeated, nothing leaks, every call is counted once and recorded
// once.
func TestTwentyClientsOnOneStateDirectory(t *testing.T) {
	const each = 10
	w := newWorld(t)
	flags := []string{"--toolsets", "launch,tasks", "--rate-limit", "0"}
	h := w.serveHTTP(flags...)
	ann := h.as(tokenOfAnn, "")
	local := w.serve(stateful, flags...)
	run := local.start(nil) // of the local user, so everybody sees it
	w.rest(run)
	var pipes []*peer
	for i := range each {
		pipes = append(pipes, w.serve([]string{stateful, stateless}[i%2], flags...))
	}
	before, counted := w.callRecords(), ann.sample("gantry_tool_calls_total")

	var web, pipe tally
	crowd := func(d time.Duration) {
		var all sync.WaitGroup
		end := time.Now().Add(d)
		for i := range each {
			v := h.as([]string{tokenOfAnn, tokenOfBob}[i%2], "")
			all.Go(func() {
				for n := i; time.Now().Before(end); n++ {
					path, tool, arguments := mixed(n, run)
					v.path = path
					a, _, err := v.send(v.post(t.Context(), "tools/call", map[string]any{"name": tool, "arguments": arguments}))
					if err != nil {
						t.Errorf("over HTTP: %s: %v", tool, err)
						return
					}
					web.take(t, "over HTTP", tool, a)
				}
			})
			all.Go(func() {
				for n := i; time.Now().Before(end); n++ {
					_, tool, arguments := mixed(n, run)
					a, ok := pipes[i].tries(tool, arguments)
					if !ok {
						t.Errorf("over stdio: %s has no answer", tool)
						return
					}
					pipe.take(t, "over stdio", tool, a)
				}
			})
		}
		all.Wait()
		h.web.CloseIdleConnections()
	}
	usage := func() map[string]float64 {
		out := map[string]float64{}
		for _, m := range []string{"go_goroutines", "process_open_fds", "process_resident_memory_bytes"} {
			out[m] = ann.sample(m)
		}
		return out
	}
	crowd(soakFor(t) / 5) // what is opened once is open after this
	h.quiet(usage)
	warm := usage()
	crowd(soakFor(t))
	h.quiet(usage)
	after := usage()

	t.Logf("%d calls over HTTP (%d refused), %d over stdio (%d refused); before %v, after %v",
		web.calls.Load(), web.refused.Load(), pipe.calls.Load(), pipe.refused.Load(), warm, after)
	if web.calls.Load() < each || pipe.calls.Load() < each {
		t.Error("hardly anything was called")
	}
	if after["go_goroutines"] > warm["go_goroutines"]+20 || after["process_open_fds"] > warm["process_open_fds"]+20 { // connections come and go
		t.Errorf("goroutines or files leak: %v, then %v", warm, after)
	}
	if after["process_resident_memory_bytes"] > 2*warm["process_resident_memory_bytes"]+64<<20 {
		t.Errorf("memory leaks: %v, then %v", warm, after)
	}
	made := web.calls.Load() + pipe.calls.Load()
	eventually(t, fmt.Sprintf("/metrics counts %d calls, those of the other servers too", made), func() bool {
		return int64(ann.sample("gantry_tool_calls_total")-counted) >= made // records are written a little later
	})
	for _, p := range pipes {
		p.end()
	}
	local.end()
	if got := int64(ann.sample("gantry_tool_calls_total") - counted); got != made {
		t.Errorf("/metrics counts %d calls, %d were made", got, made)
	}
	if code := h.stop(); code != 0 {
		t.Errorf("exit code %d: %s", code, h.err)
	}
	if got := int64(w.callRecords() - before); got != made {
		t.Errorf("%d calls are recorded, %d were made", got, made)
	}
	w.verify(run)
}

// quiet waits until nothing is under way any more: what closes a connection does it a little
// later.
func (h *host) quiet(usage func() map[string]float64) {
	h.t.Helper()
	last := ""
	eventually(h.t, "the server comes to rest", func() bool {
		h.web.CloseIdleConnections()
		u := usage()
		now := fmt.Sprint(u["go_goroutines"], u["process_open_fds"])
		same := now == last
		last = now
		return same
	})
}

// tries calls a tool and reports whether an answer came in time.
func (p *peer) tries(tool string, arguments any) (answer, bool) {
	select {
	case a := <-p.beginCall(tool, arguments):
		return a, true
	case <-time.After(patience):
		return answer{}, false
	}
}

// callRecords counts the records of calls.
func (w *world) callRecords() (n int) {
	w.t.Helper()
	tel, err := telemetry.Open(w.t.Context(), telemetry.Options{DBPath: filepath.Join(w.state, "telemetry.db")})
	if err != nil {
		w.t.Fatal(err)
	}
	defer tel.Shutdown(w.t.Context())
	for q := (telemetry.Query{Limit: 1000}); ; {
		page, err := tel.Records(w.t.Context(), q)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, r := range page.Records {
			if r.JobType == "mcp_tool_call" {
				n++
			}
		}
		if q.Cursor = page.NextCursor; q.Cursor == "" {
			return n
		}
	}
}
