package telemetry

import (
	"maps"
	"testing"
	"time"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/gantry-run/gantry/internal/fault"
)

// unread is a process whose metrics nobody reads, on the records of another.
func unread(t *testing.T, of *rig) *rig {
	return newRig(t, func(o *Options) { o.DBPath, o.MetricReaders = of.opts.DBPath, nil })
}

func (r *rig) flushRecords() {
	r.t.Helper()
	if err := r.queue.flush(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) countCalls() {
	r.t.Helper()
	if err := r.CountCalls(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) aCall(e CallEnd, reason string) string {
	_, call := r.StartCall(r.t.Context(), CallStart{Toolset: "worktree", Tool: "read_file", Start: r.opts.Now().Add(-2 * time.Second)})
	call.GuardDone(300 * time.Millisecond)
	if reason != "" {
		call.Rejected(reason)
	}
	call.End(e)
	return call.TraceID()
}

// A call is counted once, by the process that it was made in if somebody reads that
// one's metrics, else by one of those that are read.
func TestEachCallIsCountedByOneProcess(t *testing.T) {
	served := newRig(t, nil)
	served.countCalls() // from now on nothing is history
	quiet := unread(t, served)
	other := newRig(t, func(o *Options) { o.DBPath = served.opts.DBPath })
	served.aCall(CallEnd{Outcome: Success}, "")
	trace := quiet.aCall(CallEnd{Outcome: Failure, RPCCode: -32603, Code: fault.RunLocked}, "lock")
	quiet.aCall(CallEnd{Outcome: Success}, "")
	for _, r := range []*rig{served, quiet} {
		r.flushRecords()
	}
	served.countCalls()
	for _, r := range []*rig{other, served, quiet} {
		r.countCalls()
	}

	same := func(name string, want map[string]int64) {
		t.Helper()
		if got := served.points(name); !maps.Equal(got, want) {
			t.Errorf("%s: %v", name, got)
		}
	}
	same("gantry.tool.calls", map[string]int64{
		"gantry.outcome=success gantry.toolset=worktree gen_ai.tool.name=read_file":                              2,
		"gantry.error.code=RUN_LOCKED gantry.outcome=failure gantry.toolset=worktree gen_ai.tool.name=read_file": 1,
	})
	same("mcp.server.operation.duration", map[string]int64{
		"gen_ai.tool.name=read_file mcp.method.name=tools/call":                   2,
		"error.type=-32603 gen_ai.tool.name=read_file mcp.method.name=tools/call": 1,
	})
	same("gantry.guard.rejections", map[string]int64{"gantry.reason=lock": 1})
	same("gantry.guard.duration", map[string]int64{"": 3})
	if got := total(other.points("gantry.tool.calls")); got != 0 {
		t.Errorf("the other process counts %d", got)
	}

	hist := served.metrics()["mcp.server.operation.duration"].(metricdata.Histogram[float64])
	found := false
	for _, p := range hist.DataPoints {
		if p.Sum < 2*float64(p.Count) || p.Sum > 2.5*float64(p.Count) {
			t.Errorf("%d calls took %v s", p.Count, p.Sum)
		}
		for _, e := range p.Exemplars {
			found = found || traceHex(e.TraceID) == trace
		}
	}
	if !found {
		t.Error("no exemplar leads to the other process's trace")
	}
}

func traceHex(id []byte) string {
	const hex = "0123456789abcdef"
	out := make([]byte, 0, 32)
	for _, b := range id {
		out = append(out, hex[b>>4], hex[b&15])
	}
	return string(out)
}

// What was done before anybody exported is history: it is not counted as if it were new.
func TestHistoryIsNotCounted(t *testing.T) {
	first := newRig(t, nil)
	quiet := unread(t, first)
	quiet.aCall(CallEnd{Outcome: Success}, "")
	quiet.flushRecords()
	s := launchStory(t)
	quiet.project(s, 0, 8) // its gate came eight seconds into the story
	late := newRig(t, func(o *Options) {
		o.DBPath = first.opts.DBPath
		o.Now = func() time.Time { return storyStart.Add(7500 * time.Millisecond) }
	})
	late.countCalls()
	late.project(s, 0, 16)
	if n := total(late.points("gantry.tool.calls")); n != 0 {
		t.Errorf("%d calls", n)
	}
	if n := total(late.points("gantry.gate.results")); n != 1 {
		t.Errorf("%d gates, want the one after", n)
	}
}

// A process that exports neither spans nor samples leaves both to one that does.
func TestAProcessThatExportsNothingTakesNothing(t *testing.T) {
	served := newRig(t, nil)
	served.countCalls()
	quiet := newRig(t, func(o *Options) {
		o.DBPath, o.SpanProcessors, o.MetricReaders = served.opts.DBPath, nil, []sdkmetric.Reader(nil)
	})
	s := launchStory(t)
	quiet.project(s, 0, 16)
	served.project(s, 0, 16)
	if a, b := len(served.spans.Ended()), total(served.points("gantry.gate.results")); a != 4 || b != 2 {
		t.Errorf("%d spans, %d gates", a, b)
	}
}
