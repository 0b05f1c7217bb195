// Package export brings metrics and traces out of the process: to Prometheus, which
// scrapes them, and to an OTLP collector, which they are sent to.
//
// It is apart from package telemetry so that telemetry knows no wire: that one takes
// metric readers and span processors, this one makes them. Nothing is made before it is
// wanted. A server over standard input and output without a collector pays for none of
// it but what the libraries do before main.
//
// Prometheus gets the names of package telemetry in its own spelling, with exemplars
// that lead from a bucket to the trace of a call or a run, beside the metrics of the Go
// runtime and of the process. docs/telemetry.md lists them all.
//
// OTLP is configured by the environment variables of OpenTelemetry alone, which the
// exporters read themselves. A collector that is down or slow costs spans and samples,
// never a call and never the exit code.
package export

import (
	"context"
	"fmt"
	"log/slog"

	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/gantry-run/gantry/telemetry"
)

// Options say what to bring out.
type Options struct {
	Env        []string           // of the process, as NAME=value: OTLP is on when OTEL_EXPORTER_OTLP_ENDPOINT is in it
	Prometheus bool               // there will be somebody to scrape
	Appends    sdkmetric.Producer // of [telemetry.Appends]; nil for none
	Log        *slog.Logger       // told of deliveries that fail
}

// Exporters are the ways out of a process.
type Exporters struct {
	log        *slog.Logger
	prometheus *registry // nil without
	readers    []sdkmetric.Reader
	processors []sdktrace.SpanProcessor
	resource   []attribute.KeyValue
}

// New makes the exporters. It sends nothing and listens nowhere. They are shut down by
// the telemetry that they are given to.
func New(ctx context.Context, o Options) (*Exporters, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	x := &Exporters{log: o.Log}
	if o.Prometheus {
		if err := x.addPrometheus(o); err != nil {
			return nil, fmt.Errorf("set up the metrics for Prometheus: %w", err)
		}
	}
	if err := x.addOTLP(ctx, o); err != nil {
		return nil, fmt.Errorf("set up the export to OTLP: %w", err)
	}
	return x, nil
}

// Join makes the exporters those of a telemetry that is about to be opened.
func (x *Exporters) Join(o *telemetry.Options) {
	o.MetricReaders = append(o.MetricReaders, x.readers...)
	o.SpanProcessors = append(o.SpanProcessors, x.processors...)
	o.Resource = append(o.Resource, x.resource...)
}

// Any reports whether there is a way out at all.
func (x *Exporters) Any() bool { return len(x.readers)+len(x.processors) > 0 }
