package telemetry

import (
	"context"
	"encoding/json"

	"go.opentelemetry.io/otel/attribute"

	"github.com/gantry-run/gantry/runs"
)

// turnData is what the result of an agent's turn says that is counted.
type turnData struct {
	Executor string `json:"executor"`
	Summary  struct {
		Usage tokenUsage `json:"usage"`
	} `json:"summary"`
}

// tokenUsage are the tokens of a turn. Those that were cached are part of the input, those of
// reasoning part of the output.
type tokenUsage struct {
	Input  int64 `json:"input_tokens"`
	Output int64 `json:"output_tokens"`
}

// emitTokens counts the tokens of a turn that has finished.
func (f *runFold) emitTokens(e runs.Event, data json.RawMessage) {
	var turn turnData
	if f.created.Kind != runs.Session || json.Unmarshal(data, &turn) != nil {
		return
	}
	executor := keyExecutor.String(executorLabel(turn.Executor))
	for _, n := range []struct {
		kind   attribute.KeyValue
		tokens int64
	}{{keyTokenType.String("input"), turn.Summary.Usage.Input}, {keyTokenType.String("output"), turn.Summary.Usage.Output}} {
		if n.tokens > 0 {
			f.add(e, claimMetrics, func(ctx context.Context) {
				f.t.metrics.tokens.Add(ctx, n.tokens, set(executor, n.kind))
			})
		}
	}
}
