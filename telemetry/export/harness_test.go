package export_test

import (
	"context"
	"encoding/json"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/telemetry"
	"github.com/gantry-run/gantry/telemetry/export"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open is a telemetry with exporters. What it has to say goes to log.
func open(t *testing.T, o export.Options) (*telemetry.Telemetry, *export.Exporters, *logged) {
	t.Helper()
	log := new(logged)
	o.Log = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	x, err := export.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	opts := telemetry.Options{
		Version: "1.2.3", DBPath: filepath.Join(t.TempDir(), "telemetry.db"), Logger: o.Log,
		Tools: map[string][]string{"worktree": {"read_file"}}, Gates: []string{"links"},
	}
	x.Join(&opts)
	tel, err := telemetry.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := tel.Shutdown(ctx); err != nil {
			t.Error(err)
		}
	})
	return tel, x, log
}

type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// appends are figures as a store keeps them.
func appends() []runs.Appends {
	buckets := make([]uint64, len(runs.AppendBounds())+1)
	buckets[3] = 2
	return []runs.Appends{{Kind: runs.Launch, Count: 2, Sum: time.Millisecond, Buckets: buckets}}
}

// oneOfEach leaves a value in every metric, with every label, and returns the trace of
// the call.
func oneOfEach(t *testing.T, tel *telemetry.Telemetry) string {
	t.Helper()
	_, call := tel.StartCall(t.Context(), telemetry.CallStart{Toolset: "worktree", Tool: "read_file", Transport: "tcp"})
	call.Rejected("lock")
	call.End(telemetry.CallEnd{Outcome: telemetry.Failure, RPCCode: -32603, Code: fault.RunLocked})
	tel.SessionEnded(t.Context(), "2025-11-25", "tcp", time.Minute)
	if err := tel.Observe(
		func(context.Context) ([]runs.Count, error) {
			return []runs.Count{{Kind: runs.Launch, State: runs.StateDrafting, Busy: true, Runs: 1}}, nil
		},
		func(context.Context) ([]telemetry.ProcessCount, error) {
			return []telemetry.ProcessCount{{Kind: runs.Target, Count: 1}}, nil
		},
	); err != nil {
		t.Fatal(err)
	}
	story := stories(t)
	for _, id := range []runs.ID{launchRun, sessionRun} {
		if err := tel.Project(t.Context(), id, story[id]); err != nil {
			t.Fatal(err)
		}
	}
	return call.TraceID()
}

const (
	launchRun  runs.ID = "r_20261120T100000Z_launchlaunch"
	sessionRun runs.ID = "r_20261120T100000Z_sessionsessi"
)

// stories are journals of a launch that failed and of a session.
func stories(t *testing.T) map[runs.ID]iter.Seq2[runs.Event, error] {
	t.Helper()
	item := func(id runs.ID, node string) string { return string(id) + "/" + node + ".1.main" }
	clone, turn := item(launchRun, "clone"), item(sessionRun, "turn")
	return map[runs.ID]iter.Seq2[runs.Event, error]{
		launchRun: journal(t, launchRun,
			runs.Draft{Type: runs.RunCreated, Payload: runs.Created{Kind: runs.Launch}},
			runs.Draft{Type: runs.WorkItemStarted, Span: clone, Payload: runs.ItemStarted{WorkItemID: clone, Worker: "W1", Attempt: 1}},
			runs.Draft{Type: runs.GateRunFinished, Span: clone, Payload: runs.GateRun{Gate: "links", OK: true}},
			runs.Draft{Type: runs.WorkItemFinished, Span: clone, Payload: runs.ItemFinished{WorkItemID: clone, Worker: "W1", Attempt: 1}},
			runs.Draft{Type: runs.RunFailed, Payload: runs.Failure{Code: string(fault.CloneFailed), Message: "it is gone"}}),
		sessionRun: journal(t, sessionRun,
			runs.Draft{Type: runs.RunCreated, Payload: runs.Created{Kind: runs.Session}},
			runs.Draft{Type: runs.ProcessEnded, Span: turn, Payload: runs.Process{Key: "k", State: "exited", OutputBytes: 1234}},
			runs.Draft{Type: runs.WorkItemFinished, Span: turn, Payload: runs.ItemFinished{WorkItemID: turn, Worker: "turn", Attempt: 1,
				Data: json.RawMessage(`{"executor":"CODEX","summary":{"usage":{"input_tokens":100,"output_tokens":7}}}`)}}),
	}
}

func journal(t *testing.T, run runs.ID, drafts ...runs.Draft) iter.Seq2[runs.Event, error] {
	t.Helper()
	var events []runs.Event
	began := time.Now().Add(time.Second) // after telemetry was opened: it is no history
	for i, d := range drafts {
		e, err := runs.NewEvent(run, d, began.Add(time.Duration(i)*time.Second))
		if err != nil {
			t.Fatal(err)
		}
		e.Seq = int64(i + 1)
		events = append(events, e)
	}
	return func(yield func(runs.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func scrape(t *testing.T, h http.Handler, accept string) string {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	r.Header.Set("Accept", accept)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		t.Fatalf("%d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}
