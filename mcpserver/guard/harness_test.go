package guard

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.uber.org/goleak"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/specs"
	"github.com/gantry-run/gantry/telemetry"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// secret is a value that nothing outside may see.
const secret = "correct-horse-battery-staple"

// rig is a guard whose telemetry ends in memory and whose clock stands still.
type rig struct {
	*Guard
	t      *testing.T
	tel    *telemetry.Telemetry
	spans  *tracetest.SpanRecorder
	reader *sdkmetric.ManualReader
	log    *bytes.Buffer
	locks  *locks

	mu  sync.Mutex
	now time.Time
}

func newRig(t *testing.T, change func(*Options)) *rig {
	t.Helper()
	r := &rig{
		t: t, spans: tracetest.NewSpanRecorder(), reader: sdkmetric.NewManualReader(), log: new(bytes.Buffer),
		locks: &locks{}, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	}
	redactor := telemetry.NewRedactor([]string{secret})
	var err error
	r.tel, err = telemetry.Open(t.Context(), telemetry.Options{
		DBPath: filepath.Join(t.TempDir(), "telemetry.db"), Redactor: redactor,
		Logger:        slog.New(telemetry.NewLogHandler(r.log, telemetry.LogOptions{Redactor: redactor})),
		Tools:         map[string][]string{"launch": {"act", "look", "stop", "act_too"}, "board": {"card"}},
		MetricReaders: []sdkmetric.Reader{r.reader}, SpanProcessors: []sdktrace.SpanProcessor{r.spans},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.tel.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	o := Options{Telemetry: r.tel, Redactor: redactor, Locks: r.locks, Now: r.clock}
	if change != nil {
		change(&o)
	}
	r.Guard = New(o)
	return r
}

func (r *rig) clock() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now
}

func (r *rig) pass(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now = r.now.Add(d)
}

// locks is a Locker that waits for nobody.
type locks struct {
	mu   sync.Mutex
	held map[runs.ID]bool
	took int
}

func (l *locks) LockCall(_ context.Context, id runs.ID, _ time.Duration) (func(), error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held == nil {
		l.held = map[runs.ID]bool{}
	}
	if l.held[id] {
		return nil, fault.Retry(fault.RunLocked, "another call is working on run %s", id)
	}
	l.held[id] = true
	l.took++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.held, id)
	}, nil
}

const runArgument = `{"type":"object","required":["run_id"],"additionalProperties":false,"properties":{
	"run_id":{"type":"string","pattern":"^[a-zA-Z0-9_-]{8,64}$"},"deep":{},
	"note":{"type":"string","maxLength":100},"idempotency_key":{"type":"string"},"request_id":{"type":"string"}}}`

// act changes a run, look reads it, stop ends it, act_too is another name of act and
// card is of a toolset whose errors are results.
func act() *specs.Tool {
	return &specs.Tool{
		Toolset: "launch", Name: "act", Effect: specs.Run, Lock: "run_id", Idempotency: []string{"idempotency_key", "request_id"},
		TimeoutS: 60, Input: json.RawMessage(runArgument),
	}
}

func look() *specs.Tool {
	return &specs.Tool{Toolset: "launch", Name: "look", Effect: specs.Read, TimeoutS: 60, Input: json.RawMessage(runArgument)}
}

func stop() *specs.Tool {
	t := act()
	t.Name, t.Effect, t.Lock = "stop", specs.Destroy, ""
	return t
}

func actToo() *specs.Tool {
	t := act()
	t.Name, t.SameAs = "act_too", "act"
	return t
}

func card() *specs.Tool {
	t := act()
	t.Toolset, t.Name = "board", "card"
	return t
}

// on returns a call of a tool on the run r_12345678; members are added to its
// arguments.
func on(t *specs.Tool, members string) *Call {
	c := &Call{Tool: t, Arguments: json.RawMessage(`{"run_id":"r_12345678"` + members + `}`)}
	if t != nil {
		c.Start = telemetry.CallStart{Toolset: t.Toolset, Tool: t.Name, Transport: "pipe"}
	}
	return c
}

func answer(context.Context) (json.RawMessage, string, error) {
	return json.RawMessage(`{"ok":true}`), "", nil
}

// do makes a call and returns its fault, nil for a success.
func (r *rig) do(c *Call, do func(context.Context) (json.RawMessage, string, error)) *fault.Fault {
	_, _, err := r.Do(r.t.Context(), c, do)
	var f *fault.Fault
	if err != nil && !errors.As(err, &f) {
		r.t.Errorf("the guard lets out an error that is no fault: %v", err)
	}
	return f
}

// refused fails the test unless the call is refused with the code.
func (r *rig) refused(c *Call, code fault.Code) *fault.Fault {
	r.t.Helper()
	f := r.do(c, func(context.Context) (json.RawMessage, string, error) {
		r.t.Errorf("the call was let through instead of %s", code)
		return answer(r.t.Context())
	})
	if f == nil || f.Code != code {
		r.t.Errorf("got %v, want %s", f, code)
		return new(fault.Fault)
	}
	return f
}

func (r *rig) passes(c *Call) {
	r.t.Helper()
	if f := r.do(c, answer); f != nil {
		r.t.Errorf("got %v, want a success", f)
	}
}

// counts is what the telemetry holds.
type counts struct {
	Spans, Samples, Calls, Records, Rejections int
}

func (r *rig) counts() counts {
	r.t.Helper()
	page, err := r.tel.Records(r.t.Context(), telemetry.Query{Limit: 1000})
	if err != nil {
		r.t.Fatal(err)
	}
	return counts{
		Spans: len(r.spans.Ended()), Records: len(page.Records), Samples: r.metric("mcp.server.operation.duration"),
		Calls: r.metric("gantry.tool.calls"), Rejections: r.metric("gantry.guard.rejections"),
	}
}

// metric sums a counter, or the samples of a histogram.
func (r *rig) metric(name string) (n int) {
	var rm metricdata.ResourceMetrics
	if err := r.reader.Collect(r.t.Context(), &rm); err != nil {
		r.t.Fatal(err)
	}
	for _, s := range rm.ScopeMetrics {
		for _, m := range s.Metrics {
			if m.Name != name {
				continue
			}
			switch d := m.Data.(type) {
			case metricdata.Histogram[float64]:
				for _, p := range d.DataPoints {
					n += int(p.Count)
				}
			case metricdata.Sum[int64]:
				for _, p := range d.DataPoints {
					n += int(p.Value)
				}
			}
		}
	}
	return n
}
