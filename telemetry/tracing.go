package telemetry

import (
	"context"
	"math/rand/v2"
	"sync"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

func newTracerProvider(o Options, res *resource.Resource) *sdktrace.TracerProvider {
	sampler := sdktrace.ParentBased(share(o.SampleRatio), sdktrace.WithRemoteParentSampled(share(o.SampleRatio)))
	return sdktrace.NewTracerProvider(tracerOptions(o, res, sampler)...)
}

func tracerOptions(o Options, res *resource.Resource, s sdktrace.Sampler) []sdktrace.TracerProviderOption {
	opts := []sdktrace.TracerProviderOption{sdktrace.WithResource(res), sdktrace.WithSampler(s)}
	for _, p := range o.SpanProcessors {
		opts = append(opts, sdktrace.WithSpanProcessor(p))
	}
	return opts
}

// share samples a share of traces by its own dice. A sampler by trace id would let
// the client choose: the id is the client's.
type share float64

// ShouldSample implements the SDK's Sampler.
func (r share) ShouldSample(p sdktrace.SamplingParameters) sdktrace.SamplingResult {
	decision := sdktrace.Drop
	if r >= 1 || rand.Float64() < float64(r) {
		decision = sdktrace.RecordAndSample
	}
	return sdktrace.SamplingResult{Decision: decision, Tracestate: trace.SpanContextFromContext(p.ParentContext).TraceState()}
}

// Description implements the SDK's Sampler.
func (r share) Description() string { return "ShareOfTraces" }

// remoteParent parses a W3C traceparent. The result is invalid if the text is.
func remoteParent(traceparent, tracestate string) trace.SpanContext {
	const longestState = 512
	carrier := propagation.MapCarrier{"traceparent": traceparent}
	if len(tracestate) <= longestState {
		carrier["tracestate"] = tracestate
	}
	ctx := propagation.TraceContext{}.Extract(context.Background(), carrier)
	return trace.SpanContextFromContext(ctx)
}

// A replayTracer makes spans whose ids are given, for runs. The tracer asks its
// generator for ids, so one span is started at a time.
type replayTracer struct {
	mu     sync.Mutex
	ids    *givenIDs
	tracer trace.Tracer
}

func newReplayTracer(o Options, res *resource.Resource) *replayTracer {
	ids := new(givenIDs)
	opts := append(tracerOptions(o, res, sdktrace.TraceIDRatioBased(o.SampleRatio)), sdktrace.WithIDGenerator(ids))
	return &replayTracer{ids: ids, tracer: sdktrace.NewTracerProvider(opts...).Tracer(scope)}
}

// start begins a span with the ids of sc below parent, or a new root if parent is invalid.
func (r *replayTracer) start(sc, parent trace.SpanContext, name string, opts ...trace.SpanStartOption) trace.Span {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ids.trace, r.ids.span = sc.TraceID(), sc.SpanID()
	_, span := r.tracer.Start(trace.ContextWithRemoteSpanContext(context.Background(), parent), name, opts...)
	return span
}

type givenIDs struct {
	trace trace.TraceID
	span  trace.SpanID
}

// NewIDs implements the SDK's IDGenerator.
func (g *givenIDs) NewIDs(context.Context) (trace.TraceID, trace.SpanID) { return g.trace, g.span }

// NewSpanID implements the SDK's IDGenerator.
func (g *givenIDs) NewSpanID(context.Context, trace.TraceID) trace.SpanID { return g.span }
