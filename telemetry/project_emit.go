package telemetry

import (
	"context"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/runs"
)

// An emission is what an event gives besides records: a span, or samples.
type emission struct {
	seq  int64
	at   time.Time
	what string // claimSpans, claimMetrics, or withRecords: by whoever wrote the records
	do   func(context.Context)
}

// add keeps an emission if somebody gets what it gives.
func (f *runFold) add(e runs.Event, what string, do func(context.Context)) {
	if f.t.claims.wants(what) {
		f.pending = append(f.pending, emission{e.Seq, e.TS, what, do})
	}
}

// emit does the emissions of the events that are this process's, and forgets all. The
// records of events up to before were somebody's. After an error those that are left
// wait for the next time.
func (f *runFold) emit(ctx context.Context, before int64) error {
	f.do(ctx, withRecords, before, time.Time{})
	for _, what := range []string{claimSpans, claimMetrics} {
		if !slices.ContainsFunc(f.pending, func(e emission) bool { return e.what == what }) {
			continue
		}
		since, err := f.t.claims.begun(ctx, what)
		if err != nil {
			return err
		}
		before, err := f.t.claims.claim(ctx, what, f.run, f.seq)
		if err != nil {
			return err
		}
		f.do(ctx, what, before, since)
	}
	return nil
}

// do does the emissions of one sort and forgets them.
func (f *runFold) do(ctx context.Context, what string, before int64, since time.Time) {
	for _, e := range f.pending {
		if e.what == what && e.seq > before && !e.at.Before(since) {
			e.do(ctx)
		}
	}
	f.pending = slices.DeleteFunc(f.pending, func(e emission) bool { return e.what == what })
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

// emitRun tells of the end of the run.
func (f *runFold) emitRun(e runs.Event, start time.Time, status Status, failure runs.Failure) {
	pipeline := keyPipeline.String(kindLabel(f.created.Kind))
	result := keyPipelineResult.String(pipelineResult(status))
	errorType := keyErrorType.String(codeLabel(fault.Code(failure.Code)))
	opts := []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindServer), trace.WithTimestamp(start), trace.WithNewRoot()}
	if call := spanOfCall(f.created.CallID); call.IsValid() {
		opts = append(opts, trace.WithLinks(trace.Link{SpanContext: call}))
	}
	message := f.t.clean(failure.Message, maxSummary)
	f.add(e, claimSpans, func(context.Context) {
		span := f.t.replay.start(f.spanContext(""), trace.SpanContext{}, "RUN "+pipeline.Value.AsString(), opts...)
		span.SetAttributes(pipeline, keyPipelineRun.String(string(f.run)), keyAction.String("RUN"), result, keyRun.String(string(f.run)))
		if status == StatusFailure {
			span.SetAttributes(errorType)
			span.SetStatus(codes.Error, message)
		}
		span.End(trace.WithTimestamp(e.TS))
	})
	f.add(e, claimMetrics, func(ctx context.Context) {
		ctx = trace.ContextWithRemoteSpanContext(ctx, f.spanContext("")) // the exemplar
		f.t.metrics.runDuration.Record(ctx, e.TS.Sub(start).Seconds(), set(pipeline, keyPipelineState.String("executing"), result, errorType))
		if status == StatusFailure {
			f.t.metrics.runErrors.Add(ctx, 1, set(pipeline, errorType))
		}
	})
}

// emitItem tells of the end of a work item.
func (f *runFold) emitItem(e runs.Event, id string, it *itemFold, status Status, end itemEnd) {
	message := f.t.clean(end.failure.Message, maxSummary)
	node := f.t.clean(nodeOf(id), maxName)
	f.add(e, claimSpans, func(context.Context) {
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
	})
}

// emitGate counts a gate run.
func (f *runFold) emitGate(e runs.Event, gate, result string) {
	f.add(e, claimMetrics, func(ctx context.Context) {
		f.t.metrics.gates.Add(ctx, 1, set(keyGate.String(f.t.labels.gate(gate)), keyResult.String(result)))
	})
}

// emitOutput counts what a process wrote, when it has ended.
func (f *runFold) emitOutput(e runs.Event, p runs.Process) {
	if p.OutputBytes > 0 {
		f.add(e, claimMetrics, func(ctx context.Context) {
			f.t.metrics.output.Add(ctx, p.OutputBytes, set(keyKind.String(kindLabel(f.created.Kind))))
		})
	}
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
