package telemetry

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A rig is a Telemetry whose ways out all end in memory, but for the real store.
type rig struct {
	*Telemetry
	t      testing.TB
	spans  *tracetest.SpanRecorder
	reader *sdkmetric.ManualReader
	log    *bytes.Buffer
}

func newRig(t testing.TB, change func(*Options)) *rig {
	t.Helper()
	r := &rig{t: t, spans: tracetest.NewSpanRecorder(), reader: sdkmetric.NewManualReader(), log: new(bytes.Buffer)}
	redactor := NewRedactor([]string{"known-secret-value"}).WithRoots("/srv/site")
	o := Options{Version: "1.2.3", DBPath: filepath.Join(t.TempDir(), "telemetry.db"), Redactor: redactor,
		Logger: slog.New(NewLogHandler(r.log, LogOptions{Redactor: redactor})),
		Tools:  map[string][]string{"worktree": {"read_file"}, "launch": {"launch_run"}},
		Gates:  []string{"G1"}, MetricReaders: []sdkmetric.Reader{r.reader}, SpanProcessors: []sdktrace.SpanProcessor{r.spans}}
	began := time.Now()
	o.Now = func() time.Time { return storyStart.Add(time.Since(began)) } // so that stories are not history
	if change != nil {
		change(&o)
	}
	var err error
	if r.Telemetry, err = Open(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Shutdown(context.Background()); err != nil {
			t.Errorf("Shutdown: %v", err)
		}
	})
	return r
}

func (r *rig) page(q Query) Page {
	r.t.Helper()
	p, err := r.Records(r.t.Context(), q)
	if err != nil {
		r.t.Fatal(err)
	}
	return p
}

func (r *rig) metrics() map[string]metricdata.Aggregation {
	r.t.Helper()
	var rm metricdata.ResourceMetrics
	if err := r.reader.Collect(r.t.Context(), &rm); err != nil {
		r.t.Fatal(err)
	}
	got := map[string]metricdata.Aggregation{}
	for _, s := range rm.ScopeMetrics {
		for _, m := range s.Metrics {
			got[m.Name] = m.Data
		}
	}
	return got
}

// points renders a metric's points as "label=value … → count or sum", one each.
func (r *rig) points(name string) map[string]int64 {
	r.t.Helper()
	got := map[string]int64{}
	add := func(s attribute.Set, n int64) {
		var labels []string
		for _, kv := range s.ToSlice() {
			labels = append(labels, fmt.Sprintf("%s=%s", kv.Key, kv.Value.AsString()))
		}
		got[strings.Join(labels, " ")] += n
	}
	switch d := r.metrics()[name].(type) {
	case metricdata.Histogram[float64]:
		for _, p := range d.DataPoints {
			add(p.Attributes, int64(p.Count))
		}
	case metricdata.Sum[int64]:
		for _, p := range d.DataPoints {
			add(p.Attributes, p.Value)
		}
	case metricdata.Gauge[int64]:
		for _, p := range d.DataPoints {
			add(p.Attributes, p.Value)
		}
	}
	return got
}

func total(points map[string]int64) (n int64) {
	for _, v := range points {
		n += v
	}
	return n
}

func (r *rig) logLines() []string {
	text := strings.TrimSuffix(r.log.String(), "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

func attrs(s sdktrace.ReadOnlySpan) map[string]string {
	got := map[string]string{}
	for _, kv := range s.Attributes() {
		got[string(kv.Key)] = kv.Value.String()
	}
	return got
}

// everything is all that left the rig: spans, metrics, records and log lines.
func (r *rig) everything() string {
	r.t.Helper()
	var all strings.Builder
	for _, s := range r.spans.Ended() {
		fmt.Fprintf(&all, "%s %v %v %v %v\n", s.Name(), s.Attributes(), s.Events(), s.Status(), s.SpanContext().TraceState())
	}
	for name, data := range r.metrics() {
		fmt.Fprintf(&all, "%s %+v\n", name, data)
	}
	raw, err := json.Marshal(r.page(Query{Limit: maxLimit}))
	if err != nil {
		r.t.Fatal(err)
	}
	all.Write(raw)
	all.WriteString(r.log.String())
	return all.String()
}

func TestOpenTouchesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "missing")
	tel, err := Open(t.Context(), Options{DBPath: filepath.Join(dir, "telemetry.db")})
	if err != nil {
		t.Fatal(err)
	}
	if err := tel.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the store's folder was made without a record to keep")
	}
}

func BenchmarkOpen(b *testing.B) {
	for b.Loop() {
		tel, err := Open(b.Context(), Options{DBPath: filepath.Join(b.TempDir(), "telemetry.db")})
		if err != nil {
			b.Fatal(err)
		}
		if err := tel.Shutdown(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

func TestShutdownTwiceAndCallsAfterIt(t *testing.T) {
	r := newRig(t, nil)
	_, before := r.StartCall(t.Context(), CallStart{Toolset: "worktree", Tool: "read_file"})
	if err := r.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	before.End(CallEnd{Outcome: Success})
	_, after := r.StartCall(t.Context(), CallStart{Toolset: "worktree", Tool: "read_file"})
	after.End(CallEnd{Outcome: Success})
	if err := r.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if r.Dropped() != 2 {
		t.Errorf("dropped %d", r.Dropped())
	}
}
