package telemetry

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"

	"github.com/gantry-run/gantry/runs"
)

// instruments are the metrics. Durations are in seconds.
type instruments struct {
	meter       metric.Meter
	operation   metric.Float64Histogram
	guard       metric.Float64Histogram
	rejections  metric.Int64Counter
	calls       metric.Int64Counter
	runDuration metric.Float64Histogram
	runActive   metric.Int64UpDownCounter
	runErrors   metric.Int64Counter
	gates       metric.Int64Counter
	appends     metric.Float64Histogram
	runs        metric.Int64ObservableGauge
}

func newMeterProvider(o Options, res *resource.Resource) *sdkmetric.MeterProvider {
	opts := []sdkmetric.Option{sdkmetric.WithResource(res)}
	for _, r := range o.MetricReaders {
		opts = append(opts, sdkmetric.WithReader(r))
	}
	return sdkmetric.NewMeterProvider(opts...)
}

func newInstruments(m metric.Meter) (*instruments, error) {
	var errs []error
	seconds := func(name, what string, buckets ...float64) metric.Float64Histogram {
		h, err := m.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(what),
			metric.WithExplicitBucketBoundaries(buckets...))
		errs = append(errs, err)
		return h
	}
	count := func(name, unit, what string) metric.Int64Counter {
		c, err := m.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(what))
		errs = append(errs, err)
		return c
	}
	active, err := m.Int64UpDownCounter("cicd.pipeline.run.active", metric.WithUnit("{run}"),
		metric.WithDescription("Runs under way that this process follows."))
	errs = append(errs, err)
	gauge, err := m.Int64ObservableGauge("gantry.runs", metric.WithUnit("{run}"), metric.WithDescription("Runs in the store."))
	errs = append(errs, err)
	i := &instruments{
		meter: m, runActive: active, runs: gauge,
		operation: seconds("mcp.server.operation.duration", "Duration of an MCP request as the server sees it.",
			0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300), // the conventions' buckets
		guard: seconds("gantry.guard.duration", "Time from the arrival of a call to its handler, or to its refusal.",
			10e-6, 25e-6, 50e-6, 100e-6, 250e-6, 500e-6, 1e-3, 2.5e-3, 5e-3, 10e-3, 50e-3, 0.25, 1, 2.5),
		rejections: count("gantry.guard.rejections", "{call}", "Calls refused before their handler."),
		calls:      count("gantry.tool.calls", "{call}", "Tool calls."),
		runDuration: seconds("cicd.pipeline.run.duration", "Duration of a run from its start to its end.",
			0.1, 0.5, 1, 5, 10, 30, 60, 300, 600, 1800, 3600, 7200, 14400),
		runErrors: count("cicd.pipeline.run.errors", "{error}", "Runs that failed."),
		gates:     count("gantry.gate.results", "{gate}", "Gate runs."),
		appends: seconds("gantry.journal.append.duration", "Time to append to a journal, its sync included.",
			50e-6, 100e-6, 250e-6, 500e-6, 1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3, 50e-3, 0.1, 0.25, 1),
	}
	return i, errors.Join(errs...)
}

// RunCount is how many runs of a kind are in a state.
type RunCount struct {
	Kind  runs.Kind
	State string // runs.State of a launch, or the state of another kind of run
	Count int64
}

// ObserveRuns lets the gauge gantry.runs read its values from count whenever
// metrics are collected. An error leaves the gauge out of that collection.
func (t *Telemetry) ObserveRuns(count func(context.Context) ([]RunCount, error)) error {
	_, err := t.metrics.meter.RegisterCallback(func(ctx context.Context, o metric.Observer) error {
		counts, err := count(ctx)
		if err != nil {
			return err
		}
		for _, c := range counts {
			o.ObserveInt64(t.metrics.runs, c.Count,
				metric.WithAttributes(keyKind.String(kindLabel(c.Kind)), keyState.String(stateLabel(c.State))))
		}
		return nil
	}, t.metrics.runs)
	return err
}

// stateLabel admits the launch's states and those of the other kinds.
func stateLabel(state string) string {
	switch state {
	case "running", "exited", "failed", "idle", "died", "archived":
		return state
	}
	if runs.Known(runs.Launch, runs.State(state)) {
		return state
	}
	return other
}

// JournalAppended records how long one append to a run's journal took.
func (t *Telemetry) JournalAppended(ctx context.Context, kind runs.Kind, took time.Duration) {
	t.metrics.appends.Record(ctx, took.Seconds(), metric.WithAttributes(keyKind.String(kindLabel(kind))))
}

// set is a label set for one measurement; attributes without a value are left out.
func set(attrs ...attribute.KeyValue) metric.MeasurementOption {
	kept := attrs[:0]
	for _, a := range attrs {
		if a.Value.AsString() != "" {
			kept = append(kept, a)
		}
	}
	return metric.WithAttributes(kept...)
}
