package telemetry

import (
	"context"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/runs"
)

// An emission is what an event gives besides records: done once, by the process
// that projects the event first.
type emission struct {
	seq int64
	do  func(context.Context)
}

// emit does the emissions of the events after before and forgets all.
func (f *runFold) emit(ctx context.Context, before int64) {
	for _, e := range f.pending {
		if e.seq > before {
			e.do(ctx)
		}
	}
	f.pending = nil
}

// spanContext returns the ids of the span of a work item, or of the run for "".
func (f *runFold) spanContext(item string) trace.SpanContext {
	id, _ := trace.TraceIDFromHex(f.run.TraceID())     // hex by contract
	span, _ := trace.SpanIDFromHex(f.run.SpanID(item)) // hex by contract
	return trace.NewSpanContext(trace.SpanContextConfig{TraceID: id, SpanID: span, TraceFlags: trace.FlagsSampled})
}

// spanOfCall returns the span of the call that an id made by [Call.ID] names.
func spanOfCall(call string) trace.SpanContext {
	parts := strings.Split(call, "-")
	if len(parts) != 3 {
		return trace.SpanContext{}
	}
	return remoteParent("00-"+parts[1]+"-"+parts[2]+"-01", "")
}

func (f *runFold) runEmission(e runs.Event, start time.Time, status Status, failure runs.Failure) emission {
	pipeline := kindLabel(f.created.Kind)
	result := pipelineResult(status)
	errorType := codeLabel(fault.Code(failure.Code))
	attrs := []attribute.KeyValue{keyPipeline.String(pipeline), keyPipelineRun.String(string(f.run)), keyAction.String("RUN"),
		keyPipelineResult.String(result), keyRun.String(string(f.run))}
	opts := []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindServer), trace.WithTimestamp(start), trace.WithNewRoot()}
	if call := spanOfCall(f.created.CallID); call.IsValid() {
		opts = append(opts, trace.WithLinks(trace.Link{SpanContext: call}))
	}
	message := f.t.clean(failure.Message, maxSummary)
	return emission{e.Seq, func(ctx context.Context) {
		span := f.t.replay.start(f.spanContext(""), trace.SpanContext{}, "RUN "+pipeline, opts...)
		span.SetAttributes(attrs...)
		if status == StatusFailure {
			span.SetAttributes(keyErrorType.String(errorType))
			span.SetStatus(codes.Error, message)
		}
		span.End(trace.WithTimestamp(e.TS))
		name := keyPipeline.String(pipeline)
		f.t.metrics.runDuration.Record(ctx, e.TS.Sub(start).Seconds(),
			set(name, keyPipelineState.String("executing"), keyPipelineResult.String(result), keyErrorType.String(errorType)))
		if status == StatusFailure {
			f.t.metrics.runErrors.Add(ctx, 1, set(name, keyErrorType.String(errorType)))
		}
	}}
}

func (f *runFold) itemEmission(e runs.Event, id string, it *itemFold, status Status, end itemEnd) emission {
	message := f.t.clean(end.failure.Message, maxSummary)
	node := f.t.clean(nodeOf(id), maxName)
	return emission{e.Seq, func(context.Context) {
		span := f.t.replay.start(f.spanContext(id), f.spanContext(""), node, trace.WithTimestamp(it.start))
		span.SetAttributes(keyTask.String(node), keyTaskRun.String(f.t.clean(id, maxName)), keyTaskResult.String(pipelineResult(status)),
			keyPipeline.String(kindLabel(f.created.Kind)), keyRun.String(string(f.run)), keyAttempt.Int(it.attempts))
		for _, a := range it.failures {
			span.AddEvent("WORK_ITEM_FAILED", trace.WithTimestamp(a.at), trace.WithAttributes(
				keyAttempt.Int(a.attempt), keyErrorCode.String(codeLabel(fault.Code(a.code)))))
		}
		if end.failure.Code != "" {
			span.SetAttributes(keyErrorType.String(codeLabel(fault.Code(end.failure.Code))))
			span.SetStatus(codes.Error, message)
		}
		span.End(trace.WithTimestamp(e.TS))
	}}
}

func (f *runFold) gateEmission(e runs.Event, gate, result string) emission {
	return emission{e.Seq, func(ctx context.Context) {
		f.t.metrics.gates.Add(ctx, 1, set(keyGate.String(f.t.labels.gate(gate)), keyResult.String(result)))
	}}
}

// pipelineResult is a status in the words of the CI/CD conventions.
func pipelineResult(s Status) string {
	switch s {
	case StatusSuccess:
		return "success"
	case StatusCancelled:
		return "cancellation"
	case StatusTimeout:
		return "timeout"
	}
	return "failure"
}
