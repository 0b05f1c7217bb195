package telemetry

import (
	"context"

	"go.opentelemetry.io/otel/attribute"

	"github.com/gantry-run/gantry/runs"
)

// modelExecutor is what calls to models are counted under, beside the agents.
const modelExecutor = "MODEL"

// modelContext is the context_json of a call to a model.
type modelContext struct {
	CallID  string `json:"call_id"`
	Model   string `json:"model"`
	SpanID  string `json:"span_id"`
	TraceID string `json:"trace_id"`
}

// modelMetrics is the metrics_json of a call to a model.
type modelMetrics struct {
	Input   int64    `json:"input_tokens"`
	Output  int64    `json:"output_tokens"`
	CostUSD *float64 `json:"api_cost_usd,omitempty"` // absent where the price is not known
}

// modelAnswered records a call that was answered, and counts its tokens.
func (f *runFold) modelAnswered(e runs.Event, p runs.ModelAnswer) {
	r := f.modelCall(e, p.CallID, p.LatencyMS, StatusSuccess)
	r.OutputSummary = p.FinishReason
	f.put(r, f.modelContext(e, p.CallID, p.Model), modelMetrics{p.TokenUsage.Input, p.TokenUsage.Output, p.CostUSD})
	for _, n := range []struct {
		kind   attribute.KeyValue
		tokens int64
	}{{keyTokenType.String("input"), p.TokenUsage.Input}, {keyTokenType.String("output"), p.TokenUsage.Output}} {
		f.add(e, claimMetrics, func(ctx context.Context) {
			f.t.metrics.tokens.Add(ctx, max(n.tokens, 0), set(keyExecutor.String(modelExecutor), n.kind))
		})
	}
}

// modelFailed records a call that got no answer.
func (f *runFold) modelFailed(e runs.Event, p runs.ModelFailure) {
	status := StatusFailure
	switch p.ErrorClass {
	case "timeout":
		status = StatusTimeout
	case "interrupted":
		status = StatusCancelled
	}
	r := f.modelCall(e, p.CallID, p.LatencyMS, status)
	r.ErrorSummary = p.ErrorClass + ": " + p.Summary
	f.put(r, f.modelContext(e, p.CallID, p.Model), nil)
}

// modelCall returns the record of a call. Its id is the run's and the call's, which
// begins with "llm-".
func (f *runFold) modelCall(e runs.Event, call string, took int64, status Status) Record {
	r := f.part(JobLLM, call, before(e.TS, took), e.TS, status)
	r.EventID = string(f.run) + "-" + call
	r.RunID = r.EventID
	return r
}

func (f *runFold) modelContext(e runs.Event, call, model string) modelContext {
	return modelContext{CallID: call, Model: f.t.clean(model, maxName), SpanID: e.SpanID, TraceID: e.TraceID}
}
