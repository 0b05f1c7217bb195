package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/telemetry"
)

// recordAPI is a telemetry API of somebody else. How it answers can be changed: by an HTTP
// status, by nothing at all ("hangs"), by closing the connection ("down"), or ("") as it
// should.
type recordAPI struct {
	*httptest.Server
	t    *testing.T
	over chan struct{}

	mu      sync.Mutex
	mode    string
	hung    int
	tries   int
	records map[string]telemetry.Run
	created map[string]int
	commits map[string]string
	strange []string // requests that were not understood
}

func newRecordAPI(t *testing.T, w *world, mode string) *recordAPI {
	a := &recordAPI{t: t, over: make(chan struct{}), mode: mode, records: map[string]telemetry.Run{}, created: map[string]int{}, commits: map[string]string{}}
	a.Server = httptest.NewServer(a)
	t.Cleanup(func() {
		close(a.over)
		a.Close()
		if len(a.strange) > 0 {
			t.Errorf("requests that the API does not have: %q", a.strange)
		}
	})
	w.env = append(w.env, "TELEMETRY_API_URL="+a.URL, "TELEMETRY_API_TOKEN=the-token-of-the-api")
	return a
}

// asked returns how many requests have come.
func (a *recordAPI) asked() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.tries
}

// ServeHTTP implements [http.Handler].
func (a *recordAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tries++
	switch a.mode {
	case "":
		a.answer(w, r, body)
	case "hangs":
		a.hung++
		a.mu.Unlock()
		select {
		case <-r.Context().Done():
		case <-a.over:
		}
		a.mu.Lock()
	case "down":
		panic(http.ErrAbortHandler)
	default:
		status := 0
		fmt.Sscan(a.mode, &status)
		w.WriteHeader(status)
	}
}

func (a *recordAPI) answer(w http.ResponseWriter, r *http.Request, body []byte) {
	if r.Header.Get("Authorization") != "Bearer the-token-of-the-api" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	id, verb, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/api/v1/runs/"), "/")
	known, ok := a.records[id]
	switch {
	case r.Method == "POST" && r.URL.Path == "/api/v1/runs":
		var in telemetry.Run
		if err := json.Unmarshal(body, &in); err != nil {
			a.strange = append(a.strange, string(body))
		}
		status := "duplicate"
		if a.created[in.EventID] == 0 {
			status = "created"
			a.created[in.EventID]++
			a.records[in.EventID] = in
		}
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, `{"status":%q,"event_id":%q}`, status, in.EventID)
	case !ok:
		a.strange = append(a.strange, r.Method+" "+r.URL.Path)
		w.WriteHeader(http.StatusNotFound)
	case r.Method == "PATCH" && verb == "":
		if err := json.Unmarshal(body, &known); err != nil {
			a.strange = append(a.strange, string(body))
		}
		a.records[id] = known
	case r.Method == "POST" && verb == "associate-commit":
		var in struct {
			Hash   string `json:"commit_hash"`
			Source string `json:"commit_source"`
		}
		if err := json.Unmarshal(body, &in); err != nil || in.Source != "ci" {
			a.strange = append(a.strange, string(body))
		}
		a.commits[id] = in.Hash
	default:
		a.strange = append(a.strange, r.Method+" "+r.URL.Path)
	}
}

func (a *recordAPI) set(mode string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.mode = mode
}

// statuses returns the status of each record that the API has.
func (a *recordAPI) statuses() map[string]telemetry.Status {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := map[string]telemetry.Status{}
	for id, r := range a.records {
		out[id] = r.Status
	}
	return out
}

// kept returns the status of each record in the world's own store.
func (w *world) kept() map[string]telemetry.Status {
	out := map[string]telemetry.Status{}
	for _, r := range w.records() {
		out[r.EventID] = r.Status
	}
	return out
}

// outboxes returns how many lines wait for the API.
func (w *world) outboxes() (lines int) {
	w.t.Helper()
	all, err := filepath.Glob(filepath.Join(w.state, "runs", "*", "telemetry_outbox.jsonl"))
	if err != nil {
		w.t.Fatal(err)
	}
	for _, path := range append(all, filepath.Join(w.state, "telemetry_outbox.jsonl")) {
		raw, err := os.ReadFile(path)
		if err == nil {
			lines += strings.Count(string(raw), "\n")
		}
	}
	return lines
}

// Whatever the API does, calls are answered, nothing is lost, and the API has everything
// once when it is back. It hangs for as long as the calls and the run take: no call can
// have waited for it.
func TestTheTelemetryAPIHoldsUpNobodyAndGetsEverythingOnce(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"", "down", "hangs", "500", "400"} {
		t.Run("mode="+mode, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			a := newRecordAPI(t, w, mode)
			p := w.serve(stateful, "--rate-limit=0")
			id := p.start(args{"autopilot": args{"open_pr": true}})
			if v := w.until(id, func(v *runs.View) bool { return v.State.Terminal() }); v.State != runs.StateDone {
				t.Fatalf("the run ends in %s: %+v", v.State, v.Failure)
			}
			for range 20 {
				p.must("launch_get_status", args{"run_id": id})
				p.must("launch_list_runs", args{})
				p.refused("launch_get_status", args{"run_id": "r_00000000"}, "RUN_NOT_FOUND")
			}
			if p.end() != 0 {
				t.Error("the server failed")
			}
			want := w.kept()
			if len(want) < 80 {
				t.Fatalf("only %d records", len(want))
			}
			if a.asked() == 0 {
				t.Error("the API was never asked")
			}
			if mode != "" && w.outboxes() == 0 {
				t.Error("there is no outbox")
			}
			a.set("")
			q := w.serve(stateful)
			eventually(t, "the outboxes are empty", func() bool { return w.outboxes() == 0 })
			q.end()
			if got := a.statuses(); !maps.Equal(got, want) {
				t.Errorf("the API has %d records of %d; %s", len(got), len(want), differing(got, want))
			}
			a.mu.Lock()
			defer a.mu.Unlock()
			v, err := w.store.View(runs.ID(id))
			if err != nil {
				t.Fatal(err)
			}
			if a.commits[id] == "" || len(a.commits) < 9 { // the run, and the nodes and gates before its commit
				t.Errorf("%d records have a commit", len(a.commits))
			}
			for of, hash := range a.commits {
				if hash != v.Published.CommitSHA || of != id && !strings.HasPrefix(of, id+"-") {
					t.Errorf("%s has the commit %s", of, hash)
				}
			}
		})
	}
}

func differing(got, want map[string]telemetry.Status) string {
	var out []string
	for id, s := range want {
		if got[id] != s {
			out = append(out, fmt.Sprintf("%s is %q, want %q", id, got[id], s))
		}
	}
	for id, s := range got {
		if want[id] == "" {
			out = append(out, fmt.Sprintf("%s is %q, nobody knows it", id, s))
		}
	}
	slices.Sort(out)
	return strings.Join(out[:min(len(out), 5)], "; ")
}

// What one Gantry posts, another keeps as it was.
func TestOneGantryKeepsTheRecordsOfAnother(t *testing.T) {
	t.Parallel()
	there := newWorld(t)
	api := there.serveAPIs()
	w := newWorld(t)
	w.env = append(w.env, "TELEMETRY_API_URL="+api.base, "TELEMETRY_API_TOKEN="+writerToken)
	p := w.serve(stateless)
	id := w.done(p)
	p.refused("launch_get_status", args{"run_id": "r_00000000"}, "RUN_NOT_FOUND")
	p.end()
	q := w.serve(stateful)
	eventually(t, "the outboxes are empty", func() bool { return w.outboxes() == 0 })
	q.end()
	var list []telemetry.Run
	if err := json.Unmarshal(api.get("/api/v1/runs?limit=1000"), &list); err != nil {
		t.Fatal(err)
	}
	got := map[string]telemetry.Status{}
	for _, r := range list {
		got[r.EventID] = r.Status
		if r.EventID == id && (r.GitCommitHash == "" || r.GitCommitSource != "ci") {
			t.Errorf("the run has the commit %q", r.GitCommitHash)
		}
	}
	if want := w.kept(); !maps.Equal(got, want) {
		t.Errorf("there are %d records of %d; %s", len(got), len(want), differing(got, want))
	}
	if raw := api.get("/telemetry/" + id + "?limit=1000"); field(t, raw, "summary.by_job_type.launch") != "1" {
		t.Errorf("%.300s", raw)
	}
}

// Records that wait survive the kill of their process; the record of a call that changed
// something is made anew from the journal when the kill took it.
func TestRecordsThatWaitSurviveAKill(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := newRecordAPI(t, w, "hangs")
	p := w.serve(stateful, "--rate-limit=0", "--no-worker")
	for range 30 {
		p.must("launch_list_runs", args{})
	}
	eventually(t, "the records wait for the API", func() bool { return w.outboxes() >= 30 })
	id := p.start(nil) // and its record may be lost
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.exit()
	a.set("")
	q := w.serve(stateful)
	eventually(t, "all is delivered", func() bool {
		got := map[string]int{}
		a.mu.Lock()
		defer a.mu.Unlock()
		for _, r := range a.records {
			var c struct{ Tool string }
			if err := json.Unmarshal(r.Context, &c); err != nil {
				t.Fatal(err)
			}
			if r.JobType == telemetry.JobCall && r.Status == telemetry.StatusSuccess {
				got[c.Tool]++
			}
		}
		return got["launch_list_runs"] == 30 && got["launch_start_run"] == 1 && a.created[id] == 1
	})
	w.rest(id)
	if q.signal(syscall.SIGTERM) != 0 {
		t.Error("the server failed")
	}
}

// A program that keeps its records to itself leaves no outbox; an address that is none is
// refused.
func TestWithoutATelemetryAPIThereIsNoOutbox(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.serve(stateful)
	p.must("launch_list_runs", args{})
	p.end()
	for name := range tree(t, w.state) {
		if strings.Contains(name, "outbox") {
			t.Error(name)
		}
	}
	for _, address := range []string{"ftp://example.com", "localhost:8765", "http://user:hunter2-but-longer@example.com", "http://", "http://x/?a=b"} {
		code, _, said := w.gantry("runs", "list", "--telemetry-api-url", address)
		if code != 2 || !strings.Contains(said, "CONFIG_INVALID") || strings.Contains(said, "hunter2") {
			t.Errorf("%s: %d %s", address, code, said)
		}
	}
}
