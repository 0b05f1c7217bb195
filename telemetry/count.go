package telemetry

import (
	"context"
	"encoding/json"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/gantry-run/gantry/internal/fault"
)

// sample is what the metrics take of a call. Toolset and tool are labels already.
type sample struct {
	method, toolset, tool string
	errorType             string
	outcome               Outcome
	code                  fault.Code
	reason                string // of a refusal
	took, guard           time.Duration
}

// measure adds one call to every metric of calls. The span in ctx becomes their exemplar.
func (t *Telemetry) measure(ctx context.Context, s sample) {
	m := t.metrics
	m.operation.Record(ctx, s.took.Seconds(), set(
		keyMethod.String(methodLabel(s.method)), keyTool.String(s.tool), keyErrorType.String(s.errorType)))
	m.guard.Record(ctx, s.guard.Seconds())
	m.calls.Add(ctx, 1, set(keyToolset.String(s.toolset), keyTool.String(s.tool),
		keyOutcome.String(outcomeLabel(s.outcome)), keyErrorCode.String(codeLabel(s.code))))
	if s.reason != "" {
		m.rejections.Add(ctx, 1, set(keyReason.String(s.reason)))
	}
}

// atOnce is how many calls of other processes are counted in one transaction.
const atOnce = 500

// CountCalls counts the calls that were made in other processes on the same records,
// those of servers over standard input and output above all, whose metrics nobody reads.
// However many processes do so, each call is counted once. A process whose own metrics
// nobody reads counts nothing.
func (t *Telemetry) CountCalls(ctx context.Context) error {
	if t.store == nil || !t.claims.wants(claimMetrics) {
		return nil
	}
	if _, err := t.claims.begun(ctx, claimMetrics); err != nil {
		return err
	}
	for {
		calls, err := t.store.takeUncounted(ctx, atOnce)
		if err != nil {
			return err
		}
		for _, r := range calls {
			t.measureRecord(ctx, r)
		}
		if len(calls) < atOnce {
			return nil
		}
	}
}

// measureRecord counts a call by its record.
func (t *Telemetry) measureRecord(ctx context.Context, r Record) {
	var c callContext
	var m callMetrics
	if json.Unmarshal(r.Context, &c) != nil || json.Unmarshal(r.Metrics, &m) != nil {
		return // no record of this program's
	}
	if span := remoteParent("00-"+c.TraceID+"-"+c.SpanID+"-01", ""); span.IsValid() {
		ctx = trace.ContextWithRemoteSpanContext(ctx, span)
	}
	s := sample{
		method: c.Method, toolset: t.labels.toolset(c.Toolset), tool: t.labels.tool(c.Toolset, c.Tool), errorType: errorTypeLabel(c.ErrorType),
		outcome: Outcome(r.Status), code: fault.Code(c.ErrorCode), took: ms(m.DurationMS), guard: ms(m.GuardMS),
	}
	if c.Rejected != "" {
		s.reason = reasonLabel(c.Rejected)
	}
	t.measure(ctx, s)
}

func ms(n float64) time.Duration { return time.Duration(n * float64(time.Millisecond)) }
