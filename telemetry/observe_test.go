package telemetry

import (
	"context"
	"maps"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/runs"
)

func TestGaugesAreReadWhenSomebodyCollects(t *testing.T) {
	r := newRig(t, nil)
	counted := 0
	if err := r.Observe(func(context.Context) ([]runs.Count, error) {
		counted++
		return []runs.Count{
			{Kind: runs.Launch, State: runs.StateValidating, Busy: true, Runs: 2}, {Kind: runs.Launch, State: runs.StateValidating, Runs: 3},
			{Kind: runs.Launch, State: runs.StateDone, Runs: 4}, {Kind: runs.Target, State: runs.StateRunning, Busy: true, Runs: 1},
			{Kind: "odd", State: "odd", Runs: 5}, {Kind: "odder", State: "/etc/passwd", Runs: 6},
		}, nil
	}, func(context.Context) ([]ProcessCount, error) {
		return []ProcessCount{{runs.Target, 0}, {runs.Session, 2}}, nil
	}); err != nil {
		t.Fatal(err)
	}
	if counted != 0 {
		t.Error("counted before anybody asked")
	}
	for name, want := range map[string]map[string]int64{
		"gantry.runs": {
			"gantry.run.kind=launch gantry.run.state=VALIDATING": 5, "gantry.run.kind=launch gantry.run.state=DONE": 4,
			"gantry.run.kind=target gantry.run.state=RUNNING": 1, "gantry.run.kind=_OTHER gantry.run.state=_OTHER": 11,
		},
		"cicd.pipeline.run.active": {
			"cicd.pipeline.name=launch cicd.pipeline.run.state=executing": 2, "cicd.pipeline.name=launch cicd.pipeline.run.state=pending": 3,
			"cicd.pipeline.name=target cicd.pipeline.run.state=executing": 1, "cicd.pipeline.name=target cicd.pipeline.run.state=pending": 0,
			"cicd.pipeline.name=session cicd.pipeline.run.state=executing": 0, "cicd.pipeline.name=session cicd.pipeline.run.state=pending": 0,
			"cicd.pipeline.name=_OTHER cicd.pipeline.run.state=pending": 11,
		},
		"gantry.processes": {"gantry.run.kind=target": 0, "gantry.run.kind=session": 2},
	} {
		if got := r.points(name); !maps.Equal(got, want) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestSessionsAreTimed(t *testing.T) {
	r := newRig(t, nil)
	r.SessionEnded(t.Context(), "2025-11-25", "tcp", time.Minute)
	r.SessionEnded(t.Context(), "my secret", "carrier pigeon", -time.Minute)
	want := map[string]int64{"mcp.protocol.version=2025-11-25 network.transport=tcp": 1, "mcp.protocol.version=_OTHER network.transport=_OTHER": 1}
	if got := r.points("mcp.server.session.duration"); !maps.Equal(got, want) {
		t.Errorf("%v", got)
	}
}

func TestOtherRequestsAreTimedByTheirMethod(t *testing.T) {
	r := newRig(t, nil)
	r.Operation(t.Context(), "tools/list", time.Millisecond, 0)
	r.Operation(t.Context(), "resources/read", time.Millisecond, -32603)
	r.Operation(t.Context(), "resources/read", time.Millisecond, -32602) // the client's own fault
	r.Operation(t.Context(), "steal/secrets", time.Millisecond, 0)
	want := map[string]int64{"mcp.method.name=tools/list": 1, "error.type=-32603 mcp.method.name=resources/read": 1, "mcp.method.name=resources/read": 1, "mcp.method.name=_OTHER": 1}
	if got := r.points("mcp.server.operation.duration"); !maps.Equal(got, want) {
		t.Errorf("%v", got)
	}
}

func TestAppendsAreReadFromTheStore(t *testing.T) {
	buckets := make([]uint64, len(runs.AppendBounds())+1)
	buckets[4] = 3
	reader := sdkmetric.NewManualReader(sdkmetric.WithProducer(Appends(func() []runs.Appends {
		return []runs.Appends{{Kind: runs.Launch, Count: 3, Sum: 2 * time.Millisecond, Buckets: buckets}}
	})))
	newRig(t, func(o *Options) { o.MetricReaders = []sdkmetric.Reader{reader} })
	var rm metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &rm); err != nil {
		t.Fatal(err)
	}
	if len(rm.ScopeMetrics) != 1 || len(rm.ScopeMetrics[0].Metrics) != 1 {
		t.Fatalf("%+v", rm.ScopeMetrics)
	}
	m := rm.ScopeMetrics[0].Metrics[0]
	h, ok := m.Data.(metricdata.Histogram[float64])
	if !ok || m.Name != "gantry.journal.append.duration" || m.Description == "" || len(h.DataPoints) != 1 {
		t.Fatalf("%+v", m)
	}
	p := h.DataPoints[0]
	if kind, _ := p.Attributes.Value("gantry.run.kind"); p.Count != 3 || p.Sum != 0.002 || p.BucketCounts[4] != 3 || kind.AsString() != "launch" {
		t.Errorf("%+v", p)
	}
}

// Each metric has no labels but those that the table names.
func TestTheTableOfMetricsIsWhatIsRecorded(t *testing.T) {
	r := newRig(t, nil)
	r.everyMetric()
	rows := map[string]Metric{}
	for _, m := range Metrics() {
		rows[m.Name] = m
	}
	delete(rows, "gantry.journal.append.duration") // from the store: TestAppendsAreReadFromTheStore
	seen := map[string]map[attribute.Key]bool{}
	for name, data := range r.metrics() {
		seen[name] = labelsOf(data)
	}
	for name, row := range rows {
		if seen[name] == nil {
			t.Errorf("%s is in the table and is not recorded", name)
		}
		for _, label := range row.Labels {
			if !seen[name][label] {
				t.Errorf("%s has no %s", name, label)
			}
			delete(seen[name], label)
		}
		for label := range seen[name] {
			t.Errorf("%s has the label %s, which the table does not name", name, label)
		}
		delete(seen, name)
	}
	for name := range seen {
		t.Errorf("%s is recorded and is not in the table", name)
	}
}

// everyMetric leaves a value in each metric and each of its labels.
func (r *rig) everyMetric() {
	r.t.Helper()
	_, call := r.StartCall(r.t.Context(), CallStart{Toolset: "worktree", Tool: "read_file", Transport: "pipe"})
	call.Rejected("lock")
	call.End(CallEnd{Outcome: Failure, RPCCode: -32603, Code: fault.RunLocked})
	r.SessionEnded(r.t.Context(), "2025-11-25", "tcp", time.Minute)
	s := launchStory(r.t)
	r.project(s, 0, int64(len(s.events)))
	turn := sessionStory(r.t)
	r.project(turn, 0, int64(len(turn.events)))
	if err := r.Observe(
		func(context.Context) ([]runs.Count, error) {
			return []runs.Count{{Kind: runs.Launch, State: runs.StateDrafting, Runs: 1}}, nil
		},
		func(context.Context) ([]ProcessCount, error) { return []ProcessCount{{runs.Target, 1}}, nil },
	); err != nil {
		r.t.Fatal(err)
	}
}

func labelsOf(data metricdata.Aggregation) map[attribute.Key]bool {
	out := map[attribute.Key]bool{}
	add := func(s attribute.Set) {
		for _, kv := range s.ToSlice() {
			out[kv.Key] = true
		}
	}
	switch d := data.(type) {
	case metricdata.Histogram[float64]:
		for _, p := range d.DataPoints {
			add(p.Attributes)
		}
	case metricdata.Sum[int64]:
		for _, p := range d.DataPoints {
			add(p.Attributes)
		}
	case metricdata.Gauge[int64]:
		for _, p := range d.DataPoints {
			add(p.Attributes)
		}
	}
	return out
}
