package telemetry

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/gantry-run/gantry/runs"
)

// ProcessCount is how many processes that runs of a kind have started run now.
type ProcessCount struct {
	Kind  runs.Kind
	Count int64
}

// Observe lets the gauges read their values whenever metrics are collected. An error
// leaves the gauge out of that collection.
func (t *Telemetry) Observe(count func(context.Context) ([]runs.Count, error), processes func(context.Context) ([]ProcessCount, error)) error {
	m := t.metrics
	if _, err := m.meter.RegisterCallback(func(ctx context.Context, o metric.Observer) error {
		counts, err := count(ctx)
		if err == nil {
			m.observeRuns(o, counts)
		}
		return err
	}, m.runs, m.active); err != nil {
		return err
	}
	_, err := m.meter.RegisterCallback(func(ctx context.Context, o metric.Observer) error {
		counts, err := processes(ctx)
		for _, c := range counts {
			o.ObserveInt64(m.processes, c.Count, set(keyKind.String(kindLabel(c.Kind))))
		}
		return err
	}, m.processes)
	return err
}

// observeRuns adds up what different labels of the store are one label of a metric.
func (m *instruments) observeRuns(o metric.Observer, counts []runs.Count) {
	type key struct{ kind, state string }
	all, active := map[key]int64{}, map[key]int64{}
	for _, kind := range []runs.Kind{runs.Launch, runs.Target, runs.Session} { // none is a number too
		active[key{string(kind), "executing"}], active[key{string(kind), "pending"}] = 0, 0
	}
	for _, c := range counts {
		kind := kindLabel(c.Kind)
		all[key{kind, stateLabel(c.Kind, c.State)}] += c.Runs
		switch {
		case c.State.Terminal():
		case c.Busy:
			active[key{kind, "executing"}] += c.Runs
		default:
			active[key{kind, "pending"}] += c.Runs
		}
	}
	for k, n := range all {
		o.ObserveInt64(m.runs, n, set(keyKind.String(k.kind), keyState.String(k.state)))
	}
	for k, n := range active {
		o.ObserveInt64(m.active, n, set(keyPipeline.String(k.kind), keyPipelineState.String(k.state)))
	}
}

// Operation counts a request of the protocol that is no tool call, such as tools/list.
// rpcCode is the code of its error, 0 for none.
func (t *Telemetry) Operation(ctx context.Context, method string, took time.Duration, rpcCode int) {
	t.metrics.operation.Record(ctx, max(0, took).Seconds(),
		set(keyMethod.String(methodLabel(method)), keyErrorType.String(CallEnd{Outcome: Success, RPCCode: rpcCode}.errorType())))
}

// SessionEnded counts a session of a client with a revision of the protocol that has
// sessions. The transport is "pipe" or "tcp".
func (t *Telemetry) SessionEnded(ctx context.Context, revision, transport string, took time.Duration) {
	t.metrics.session.Record(ctx, max(0, took).Seconds(),
		set(keyProtocol.String(revisionLabel(revision)), keyTransport.String(transportLabel(transport))))
}

// Appends returns the source of gantry.journal.append.duration for a metric reader. The
// store keeps the figures itself, for it is above telemetry and calls nobody; read is
// [runs.Store.Appends].
func Appends(read func() []runs.Appends) sdkmetric.Producer { return appendsProducer{time.Now(), read} }

type appendsProducer struct {
	since time.Time
	read  func() []runs.Appends
}

// Produce implements the SDK's Producer.
func (p appendsProducer) Produce(context.Context) ([]metricdata.ScopeMetrics, error) {
	now := time.Now()
	h := metricdata.Histogram[float64]{Temporality: metricdata.CumulativeTemporality}
	for _, a := range p.read() {
		h.DataPoints = append(h.DataPoints, metricdata.HistogramDataPoint[float64]{
			Attributes: attribute.NewSet(keyKind.String(kindLabel(a.Kind))), StartTime: p.since, Time: now,
			Count: a.Count, Sum: a.Sum.Seconds(), Bounds: appendBuckets(), BucketCounts: a.Buckets,
		})
	}
	if len(h.DataPoints) == 0 {
		return nil, nil
	}
	const name = "gantry.journal.append.duration"
	m := metricdata.Metrics{Name: name, Unit: "s", Data: h}
	for _, row := range Metrics() {
		if row.Name == name {
			m.Description = row.Help
		}
	}
	return []metricdata.ScopeMetrics{{Scope: instrumentation.Scope{Name: scope}, Metrics: []metricdata.Metrics{m}}}, nil
}

func appendBuckets() (seconds []float64) {
	for _, d := range runs.AppendBounds() {
		seconds = append(seconds, d.Seconds())
	}
	return seconds
}
