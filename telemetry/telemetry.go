// Package telemetry makes what happened visible, and nothing secret with it.
//
// Every tool call, refused ones too, leaves exactly one span, one sample in each
// call metric, one record and one log line: [Telemetry.StartCall] and [Call.End].
// Runs are not observed while they happen: [Telemetry.Project] reads their journal
// afterwards, by sequence number, and turns it into records, spans with the
// journal's own times and derived ids, and metrics. So a slow reader holds nobody,
// a resumed run goes on in its trace, and reading a journal twice adds nothing.
//
// Records are kept in a local SQLite file (telemetry.db), which several processes
// may share, and forwarded to another place if one is given ([Forwarder]). They are
// queued: a call never waits for a disk. What a kill loses of
// mutating calls is rebuilt from the journals at the next start; those carry the
// call's id.
//
// One [Redactor] stands on every way out. Names, labels and texts that a client
// chose are stripped of terminal escapes, redacted and cut before they are kept,
// and none of them becomes a metric label: unknown names are _OTHER.
//
// Nothing here is global: providers belong to their [Telemetry], exporters are
// given as span processors and metric readers.
package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Options configure [Open]. The zero value records spans and metrics that nobody
// reads, keeps no records and logs nothing.
type Options struct {
	ServiceName string // default "gantry"
	Version     string // of the program
	DBPath      string // the record store; empty means no records
	Redactor    *Redactor
	Logger      *slog.Logger // gets one line a call; make it with [NewLogHandler]

	// Tools are the names, aliases included, that may become metric labels, by
	// toolset; Gates are the gates'. A nil Gates admits every name that looks like one.
	Tools map[string][]string
	Gates []string

	MetricReaders  []sdkmetric.Reader
	SpanProcessors []sdktrace.SpanProcessor
	Resource       []attribute.KeyValue // what else is said of this process; wins over what is said by itself

	// SampleRatio is the share of traces whose spans are exported, above 0 up to 1;
	// 0 means all. A client's sampled flag cannot raise it, its absence switches a
	// call's span off. Metrics, records and log lines are written regardless.
	SampleRatio float64

	// Forward gets a copy of every record of this program, besides the store; it needs
	// DBPath. It is closed by who made it, after Shutdown.
	Forward Forwarder

	SpanArguments bool             // put the redacted arguments on the span
	Now           func() time.Time // default time.Now
}

// Telemetry is one process's telemetry. Its methods may be called from several
// goroutines.
type Telemetry struct {
	opts    Options
	redact  *Redactor
	labels  labels
	tracing *sdktrace.TracerProvider
	replay  *replayTracer
	meters  *sdkmetric.MeterProvider
	tracer  trace.Tracer
	metrics *instruments
	store   *store    // nil without records
	queue   *recorder // nil without records
	forward Forwarder
	opened  time.Time
	claims  *claims
	runs    *projector
}

// Open sets telemetry up. It starts no goroutine and opens no file: the record
// store is opened with the first record. Call [Telemetry.Shutdown] at the end.
func Open(ctx context.Context, o Options) (*Telemetry, error) {
	if o.ServiceName == "" {
		o.ServiceName = "gantry"
	}
	if o.Redactor == nil {
		o.Redactor = NewRedactor(nil)
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.SampleRatio <= 0 || o.SampleRatio > 1 {
		o.SampleRatio = 1
	}
	if o.Forward == nil {
		o.Forward = nowhere{}
	}
	t := &Telemetry{opts: o, redact: o.Redactor, labels: newLabels(o), forward: o.Forward, opened: o.Now()}
	res := resource.NewSchemaless(append([]attribute.KeyValue{
		attribute.String("service.name", o.ServiceName), attribute.String("service.version", o.Version)}, o.Resource...)...)
	t.tracing = newTracerProvider(o, res)
	t.tracer = t.tracing.Tracer(scope)
	t.replay = newReplayTracer(o, res)
	t.meters = newMeterProvider(o, res)
	var err error
	if t.metrics, err = newInstruments(t.meters.Meter(scope)); err != nil {
		return nil, fmt.Errorf("set up metrics: %w", err)
	}
	if o.DBPath != "" {
		t.store = &store{path: o.DBPath, forward: o.Forward, counts: len(o.MetricReaders) > 0}
		t.queue = newRecorder(t.store, o.Forward, o.Logger)
	}
	t.claims = newClaims(t)
	t.runs = newProjector(t)
	return t, ctx.Err()
}

// Shutdown writes the queued records, flushes the exporters and releases
// everything. It gives up when ctx ends. Spans and metrics that could not be delivered
// are logged and are no error. Later calls are neither recorded nor
// exported; the second Shutdown does nothing.
func (t *Telemetry) Shutdown(ctx context.Context) error {
	var wait sync.WaitGroup
	wait.Go(func() { t.tellUndelivered("spans", t.tracing.Shutdown(ctx)) })
	wait.Go(func() { t.tellUndelivered("metrics", t.meters.Shutdown(ctx)) })
	defer wait.Wait() // the ways out do not wait for each other
	if t.queue == nil {
		return nil
	}
	return errors.Join(t.queue.close(ctx), t.store.close())
}

func (t *Telemetry) tellUndelivered(what string, err error) {
	if err != nil && !errors.Is(err, sdkmetric.ErrReaderShutdown) {
		t.opts.Logger.Warn("the last "+what+" could not be delivered", "error", err.Error())
	}
}

// Redactor returns the redactor that stands on every way out.
func (t *Telemetry) Redactor() *Redactor { return t.redact }

// Dropped returns how many records were lost because the queue was full or the
// store could not be written.
func (t *Telemetry) Dropped() int64 {
	if t.queue == nil {
		return 0
	}
	return t.queue.dropped.Load()
}
