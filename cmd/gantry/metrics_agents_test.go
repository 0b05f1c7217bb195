package main

import (
	"maps"
	"testing"
)

// What agents' command lines say of tokens is counted from the journal, wherever they ran.
func TestTokensOfAgentsAreCountedAtMetrics(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	watched := s.watch(nil)
	watched.scrape() // from now on nothing is history
	p := s.agents()
	p.began(args{"prompt": "hello there"})
	want := map[string]int{"CODEX input": 10, "CODEX output": 2}
	eventually(t, "the tokens are counted", func() bool {
		return maps.Equal(sum(watched.scrape(), "gantry_agent_tokens_total", "gantry_executor", "gen_ai_token_type"), want)
	})
	eventually(t, "the output is counted", func() bool {
		return sum(watched.scrape(), "gantry_process_output_bytes_total", "gantry_run_kind")["session"] > 0
	})
	if got := sum(watched.scrape(), "gantry_agent_tokens_total", "gantry_executor", "gen_ai_token_type"); !maps.Equal(got, want) {
		t.Errorf("asked again: %v", got)
	}
	p.end()
}
