package telemetry

import (
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
)

// instruments are what values are recorded with. Gauges, and the times that others
// keep, are read when somebody collects: see [Telemetry.Observe].
type instruments struct {
	meter       metric.Meter
	operation   metric.Float64Histogram
	session     metric.Float64Histogram
	guard       metric.Float64Histogram
	rejections  metric.Int64Counter
	calls       metric.Int64Counter
	runDuration metric.Float64Histogram
	runErrors   metric.Int64Counter
	gates       metric.Int64Counter
	output      metric.Int64Counter
	tokens      metric.Int64Counter
	runs        metric.Int64ObservableGauge
	active      metric.Int64ObservableGauge
	processes   metric.Int64ObservableGauge
}

func newMeterProvider(o Options, res *resource.Resource) *sdkmetric.MeterProvider {
	opts := []sdkmetric.Option{sdkmetric.WithResource(res)}
	for _, r := range o.MetricReaders {
		opts = append(opts, sdkmetric.WithReader(r))
	}
	return sdkmetric.NewMeterProvider(opts...)
}

func newInstruments(m metric.Meter) (*instruments, error) {
	rows := map[string]Metric{}
	for _, row := range Metrics() {
		rows[row.Name] = row
	}
	var errs []error
	seconds := func(name string) metric.Float64Histogram {
		h, err := m.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(rows[name].Help),
			metric.WithExplicitBucketBoundaries(rows[name].Buckets...))
		errs = append(errs, err)
		return h
	}
	count := func(name string) metric.Int64Counter {
		c, err := m.Int64Counter(name, metric.WithUnit(rows[name].Unit), metric.WithDescription(rows[name].Help))
		errs = append(errs, err)
		return c
	}
	gauge := func(name string) metric.Int64ObservableGauge {
		g, err := m.Int64ObservableGauge(name, metric.WithUnit(rows[name].Unit), metric.WithDescription(rows[name].Help))
		errs = append(errs, err)
		return g
	}
	i := &instruments{
		meter:       m,
		operation:   seconds("mcp.server.operation.duration"),
		session:     seconds("mcp.server.session.duration"),
		guard:       seconds("gantry.guard.duration"),
		rejections:  count("gantry.guard.rejections"),
		calls:       count("gantry.tool.calls"),
		runDuration: seconds("cicd.pipeline.run.duration"),
		runErrors:   count("cicd.pipeline.run.errors"),
		gates:       count("gantry.gate.results"),
		output:      count("gantry.process.output.bytes"),
		tokens:      count("gantry.agent.tokens"),
		runs:        gauge("gantry.runs"),
		active:      gauge("cicd.pipeline.run.active"),
		processes:   gauge("gantry.processes"),
	}
	return i, errors.Join(errs...)
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
