package telemetry

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/gantry-run/gantry/runs"
)

func TestCallsToModelsAreRecordedAndTheirTokensCounted(t *testing.T) {
	r := newRig(t, nil)
	s := &story{t: t, run: "r_20261120T100000Z_modelmodelmo"}
	dollars := 0.5
	s.add(runs.RunCreated, "", runs.Created{Kind: runs.Launch})
	s.add(runs.LLMCallStarted, s.item("draft"), runs.ModelCall{CallID: "llm-1", Model: "m"})
	s.add(runs.LLMCallFinished, s.item("draft"), runs.ModelAnswer{CallID: "llm-1", Model: "m", LatencyMS: 40, FinishReason: "stop",
		TokenUsage: runs.ModelTokens{Input: 100, Output: 7, Total: 107}, CostUSD: &dollars})
	s.add(runs.LLMCallFailed, s.item("draft"), runs.ModelFailure{CallID: "llm-2", Model: "m", LatencyMS: 9, ErrorClass: "timeout", Summary: "with known-secret-value"})
	r.project(s, 0, 4)
	r.project(s, 0, 4)
	want := map[string]int64{"gantry.executor=MODEL gen_ai.token.type=input": 100, "gantry.executor=MODEL gen_ai.token.type=output": 7}
	if got := r.points("gantry.agent.tokens"); !maps.Equal(got, want) {
		t.Errorf("%v", got)
	}
	records := byEventID(r.page(Query{RunID: string(s.run)}))
	ok, late := records[string(s.run)+"-llm-1"], records[string(s.run)+"-llm-2"]
	if ok.JobType != JobLLM || ok.Status != StatusSuccess || ok.ParentRunID != string(s.run) || ok.DurationMS != 40 ||
		string(ok.Metrics) != `{"input_tokens":100,"output_tokens":7,"api_cost_usd":0.5}` {
		t.Errorf("%+v %s", ok, ok.Metrics)
	}
	if late.Status != StatusTimeout || strings.Contains(late.ErrorSummary, "known-secret-value") || !strings.HasPrefix(late.ErrorSummary, "timeout: ") {
		t.Errorf("%+v", late)
	}
	var c modelContext
	if err := json.Unmarshal(ok.Context, &c); err != nil || c.TraceID == "" || c.SpanID == "" || c.CallID != "llm-1" {
		t.Errorf("%s, %v", ok.Context, err)
	}
}
