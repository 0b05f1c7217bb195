package outbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/gantry-run/gantry/telemetry"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	aRun  = "r_20261120T100000Z_aaaaaaaaaaaa"
	noRun = "call-00000000000000000000000000000001-0000000000000001"
)

// api is a telemetry API in memory. mode is how it answers: an HTTP status, "down",
// "hangs", or "" for as it should.
type api struct {
	mu       sync.Mutex
	mode     string
	refuse   string // event id that it does not take
	requests []request
	records  map[string]map[string]any
	created  []string // event ids, in order
	commits  map[string]string
}

type request struct {
	at   time.Time
	line string // method and path
	auth string
}

func newAPI() *api { return &api{records: map[string]map[string]any{}, commits: map[string]string{}} }

func (a *api) set(mode string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.mode = mode
}

func (a *api) asked() []request {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.requests)
}

// arrived returns the ids of the records that were made, in order.
func (a *api) arrived() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.created)
}

// RoundTrip implements [http.RoundTripper].
func (a *api) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body.Close()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.requests = append(a.requests, request{time.Now(), r.Method + " " + r.URL.Path, r.Header.Get("Authorization")})
	switch a.mode {
	case "":
		return a.answer(r, body)
	case "down":
		return nil, errors.New("connection refused")
	case "hangs":
		a.mu.Unlock()
		<-r.Context().Done()
		a.mu.Lock()
		return nil, r.Context().Err()
	}
	var status int
	fmt.Sscan(a.mode, &status)
	return response(r, status, `{"detail":"no"}`), nil
}

func (a *api) answer(r *http.Request, body []byte) (*http.Response, error) {
	var in map[string]any
	if err := json.Unmarshal(body, &in); err != nil {
		return response(r, 400, "{}"), nil
	}
	if r.URL.Path == "/base"+runsPath {
		id := in["event_id"].(string)
		switch {
		case id == a.refuse:
			return response(r, 422, `{}`), nil
		case a.records[id] != nil:
			return response(r, 201, `{"status":"duplicate"}`), nil
		}
		a.records[id], a.created = in, append(a.created, id)
		return response(r, 201, `{"status":"created"}`), nil
	}
	id, verb, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/base"+runsPath+"/"), "/")
	switch {
	case a.records[id] == nil:
		return response(r, 404, `{}`), nil
	case verb == "associate-commit":
		a.commits[id] = in["commit_hash"].(string)
	default:
		maps.Copy(a.records[id], in)
	}
	return response(r, 200, `{}`), nil
}

func response(r *http.Request, status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(body)), Header: http.Header{}, Request: r}
}

// place is a state directory with one run.
func place(t *testing.T) Options {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "runs", aRun), 0o700); err != nil {
		t.Fatal(err)
	}
	base, _ := url.Parse("http://api.test/base")
	return Options{API: base, Token: "the-token", StateDir: dir, RunsDir: filepath.Join(dir, "runs")}
}

// begin delivers to the API from the place until the test ends.
func begin(t *testing.T, o Options, a *api) *Outbox {
	t.Helper()
	o.Transport = a
	out := New(o)
	t.Cleanup(func() { closeNow(out) })
	return out
}

// closeNow closes without a last try.
func closeNow(o *Outbox) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	o.Close(ctx)
}

func record(id, run string, status telemetry.Status) telemetry.Record {
	return telemetry.Record{EventID: id, RunID: run, AgentName: "gantry", JobType: telemetry.JobCall, StartTime: time.Unix(1, 0).UTC(),
		Status: status, OutputSummary: "a <b> é", Context: json.RawMessage(`{"tool":"read_file"}`)}
}

// left returns the lines of the outboxes.
func left(t *testing.T, o Options) (n int) {
	t.Helper()
	for _, dir := range []string{o.StateDir, filepath.Join(o.RunsDir, aRun)} {
		raw, err := os.ReadFile(filepath.Join(dir, Name))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		if err == nil && len(raw) == 0 {
			t.Errorf("an empty outbox is left")
		}
		n += bytes.Count(raw, newline)
	}
	return n
}

func TestRecordsReachTheAPIAndLeaveNothingBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, a := place(t), newAPI()
		out := begin(t, o, a)
		out.Forward([]telemetry.Record{record("e1", aRun, telemetry.StatusRunning), record("e2", noRun, telemetry.StatusSuccess)})
		out.Associate(aRun, []string{"e1"}, telemetry.Commit{Hash: "6700066", Source: "ci", Time: time.Unix(5, 0)})
		synctest.Wait()
		out.Forward([]telemetry.Record{record("e1", aRun, telemetry.StatusFailure), record("e2", noRun, telemetry.StatusSuccess)})
		synctest.Wait()
		if got := slices.Sorted(slices.Values(a.arrived())); !slices.Equal(got, []string{"e1", "e2"}) || a.records["e1"]["status"] != "failure" || a.commits["e1"] != "6700066" {
			t.Errorf("created %v, %v, commits %v", a.arrived(), a.records["e1"], a.commits)
		}
		if r := a.records["e2"]; r["output_summary"] != "a <b> é" || r["context_json"].(map[string]any)["tool"] != "read_file" {
			t.Errorf("%v", r)
		}
		if a.requests[0].auth != "Bearer the-token" {
			t.Errorf("authorization %q", a.requests[0].auth)
		}
		if n := left(t, o); n != 0 {
			t.Errorf("%d lines left", n)
		}
	})
}

func TestNothingIsLostAndEachIsDeliveredOnceWhenTheAPIIsBack(t *testing.T) {
	for _, mode := range []string{"down", "hangs", "500", "503", "400", "401", "404", "429", "302"} {
		t.Run(mode, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o, a := place(t), newAPI()
				a.set(mode)
				out := begin(t, o, a)
				var want []string
				began := time.Now()
				for i := range 300 {
					id := fmt.Sprintf("e%03d", i)
					want = append(want, id)
					out.Forward([]telemetry.Record{record(id, []string{aRun, noRun}[i%2], telemetry.StatusSuccess)})
				}
				if time.Since(began) != 0 {
					t.Errorf("who forwards waits for %s", time.Since(began))
				}
				time.Sleep(55 * time.Second) // of the bubble's clock: the API is given up
				if n := left(t, o); n != 300 {
					t.Fatalf("%d lines in the outboxes", n)
				}
				a.set("")
				out.Flush() // a run has reached a stable state
				synctest.Wait()
				if got := slices.Sorted(slices.Values(a.arrived())); !slices.Equal(got, want) {
					t.Errorf("%d records arrived", len(a.arrived()))
				}
				if n := left(t, o); n != 0 || out.Dropped() != 0 {
					t.Errorf("%d lines left, %d dropped", n, out.Dropped())
				}
			})
		})
	}
}

func TestARequestIsTriedThreeTimesUnlessItIsRefused(t *testing.T) {
	for mode, want := range map[string][]time.Duration{
		"500": {0, time.Second, 3 * time.Second}, "down": {0, time.Second, 3 * time.Second}, "hangs": {0, 11 * time.Second, 23 * time.Second},
		"400": {0}, "401": {0}, "422": {0}, "429": {0},
	} {
		t.Run(mode, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o, a := place(t), newAPI()
				a.set(mode)
				out := begin(t, o, a)
				began := time.Now()
				out.Forward([]telemetry.Record{record("e1", aRun, telemetry.StatusSuccess)})
				time.Sleep(58 * time.Second)
				var got []time.Duration
				for _, r := range a.asked() {
					got = append(got, r.at.Sub(began))
				}
				if !slices.Equal(got, want) {
					t.Errorf("tried after %v, want %v", got, want)
				}
			})
		})
	}
}

func TestAFailingAPIIsAskedAgainAfterARest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, a := place(t), newAPI()
		a.set("down")
		out := begin(t, o, a)
		for range 50 {
			out.Forward([]telemetry.Record{record("e1", aRun, telemetry.StatusSuccess)})
			time.Sleep(time.Second)
		}
		if n := len(a.asked()); n != 3 {
			t.Errorf("it was asked %d times", n)
		}
		a.set("")
		time.Sleep(2 * restTime)
		if len(a.arrived()) != 1 || left(t, o) != 0 {
			t.Errorf("created %v", a.arrived())
		}
	})
}

func TestARefusedRecordDoesNotHoldUpTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, a := place(t), newAPI()
		a.refuse = "e1"
		out := begin(t, o, a)
		out.Forward([]telemetry.Record{record("e1", aRun, telemetry.StatusSuccess), record("e2", aRun, telemetry.StatusSuccess)})
		synctest.Wait()
		out.Forward([]telemetry.Record{record("e3", aRun, telemetry.StatusSuccess)})
		synctest.Wait()
		if !slices.Equal(a.arrived(), []string{"e2", "e3"}) || left(t, o) != 1 {
			t.Errorf("created %v, %d left", a.arrived(), left(t, o))
		}
		a.mu.Lock()
		a.refuse = "" // the API has learned to take it
		a.mu.Unlock()
		out.Flush()
		synctest.Wait()
		if !slices.Equal(a.arrived(), []string{"e2", "e3", "e1"}) || left(t, o) != 0 {
			t.Errorf("created %v, %d left", a.arrived(), left(t, o))
		}
	})
}

func TestWhatAKilledProcessLeftIsDeliveredAtTheNextStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, a := place(t), newAPI()
		a.set("down")
		out := begin(t, o, a)
		out.Forward([]telemetry.Record{record("e1", aRun, telemetry.StatusSuccess), record("e2", noRun, telemetry.StatusSuccess)})
		synctest.Wait()
		closeNow(out)
		path := filepath.Join(o.StateDir, Name)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, append(whole, whole[:30]...), 0o600); err != nil { // killed in the middle of a write
			t.Fatal(err)
		}
		a.set("")
		next := begin(t, o, a)
		next.Forward([]telemetry.Record{record("e3", noRun, telemetry.StatusSuccess)})
		synctest.Wait()
		if got := slices.Sorted(slices.Values(a.arrived())); !slices.Equal(got, []string{"e1", "e2", "e3"}) || left(t, o) != 0 || next.Dropped() != 1 {
			t.Errorf("created %v, %d left, %d dropped", a.arrived(), left(t, o), next.Dropped())
		}
	})
}

func TestAFullOutboxGivesUpItsOldestLinesAndCountsThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, a := place(t), newAPI()
		o.MaxBytes = 20_000
		a.set("down")
		out := begin(t, o, a)
		for i := range 200 {
			out.Forward([]telemetry.Record{record(fmt.Sprintf("e%03d", i), aRun, telemetry.StatusSuccess)})
			if i == 0 {
				time.Sleep(10 * time.Second) // until the API is given up
			}
			if info, err := os.Stat(filepath.Join(o.RunsDir, aRun, Name)); err != nil || info.Size() > o.MaxBytes {
				t.Fatalf("%d bytes, %v", info.Size(), err)
			}
		}
		n := left(t, o)
		if n < 30 || n+int(out.Dropped()) != 200 {
			t.Errorf("%d lines left, %d dropped", n, out.Dropped())
		}
		a.set("")
		out.Flush()
		time.Sleep(5 * time.Second)
		if got := a.arrived(); len(got) != n || got[0] != fmt.Sprintf("e%03d", 200-n) || got[n-1] != "e199" {
			t.Errorf("%d arrived, from %s to %s", len(got), got[0], got[len(got)-1])
		}
	})
}

func TestProcessesOnOneStateDirectoryLoseNothing(t *testing.T) {
	o, a := place(t), newAPI()
	var all sync.WaitGroup
	for p := range 3 {
		out := begin(t, o, a)
		all.Go(func() {
			for i := range 100 {
				out.Forward([]telemetry.Record{record(fmt.Sprintf("e%d-%03d", p, i), []string{aRun, noRun}[i%2], telemetry.StatusSuccess)})
			}
			out.Close(t.Context())
		})
	}
	all.Wait()
	if len(a.arrived()) != 300 || left(t, o) != 0 {
		t.Errorf("%d arrived, %d left", len(a.arrived()), left(t, o))
	}
}

// busy forwards to the run's outbox whenever something of it is delivered.
type busy struct {
	*api
	more func()
}

func (b busy) RoundTrip(r *http.Request) (*http.Response, error) {
	b.more()
	return b.api.RoundTrip(r)
}

func TestABusyRunHoldsUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, a := place(t), newAPI()
		var out *Outbox
		n := 0
		o.Transport = busy{a, func() {
			if n++; n < 50 {
				out.Forward([]telemetry.Record{record(fmt.Sprintf("e%02d", n), aRun, telemetry.StatusSuccess)})
			}
		}}
		out = New(o)
		defer closeNow(out)
		out.Forward([]telemetry.Record{record("e00", aRun, telemetry.StatusSuccess), record("other", noRun, telemetry.StatusSuccess)})
		synctest.Wait()
		if got := a.arrived(); len(got) != 51 || slices.Index(got, "other") > 10 {
			t.Errorf("%v", got)
		}
	})
}

func TestClosingDoesNotWaitForAHangingAPI(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, a := place(t), newAPI()
		a.set("hangs")
		out := begin(t, o, a)
		out.Forward([]telemetry.Record{record("e1", aRun, telemetry.StatusSuccess)})
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		out.Close(ctx)
		if took := time.Since(began); took > time.Second || left(t, o) != 1 {
			t.Errorf("closed after %s, %d left", took, left(t, o))
		}
	})
}

func TestLinesAreWrittenWithSortedMembers(t *testing.T) {
	got := string(recordLine(record("e1", aRun, telemetry.StatusSuccess), time.Unix(9, 0).UTC()))
	want := `{"endpoint":"/api/v1/runs","method":"POST","payload":{"agent_name":"gantry","context_json":{"tool":"read_file"},"duration_ms":0,` +
		`"event_id":"e1","job_type":"mcp_tool_call","output_summary":"a <b> é","run_id":"` + aRun + `","start_time":"1970-01-01T00:00:01Z","status":"success"},` +
		`"timestamp":"1970-01-01T00:00:09Z"}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for _, foreign := range []string{`{}`, `[]`, `x`, `{"endpoint":"http://elsewhere/api/v1/runs","method":"POST","payload":{}}`,
		`{"endpoint":"/api/v1/runs","method":"DELETE","payload":{}}`, `{"endpoint":"/api/v1/runsx","method":"POST","payload":{}}`} {
		if _, ok := parseLine([]byte(foreign)); ok {
			t.Errorf("taken for ours: %s", foreign)
		}
	}
}
