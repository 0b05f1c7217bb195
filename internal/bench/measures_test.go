package main

import (
	"context"
	"strings"
	"testing"
)

// Every measure that needs no program works, on little data: that it measures the right
// thing shows in the figures, not here.
func TestMeasuresWork(t *testing.T) {
	l := &lab{settings: settings{runs: 60, rounds: 1, big: 1}, dir: t.TempDir(), say: &strings.Builder{}}
	state, err := l.fill(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for name, take := range map[string]func(context.Context, *lab) ([]row, error){
		"journal": journalAppend, "nodes": nodeExecutions, "commands": commands, "redact": redaction,
		"pages": func(ctx context.Context, l *lab) ([]row, error) { return l.listStore(ctx, state) },
	} {
		rows, err := take(t.Context(), l)
		if err != nil || len(rows) == 0 {
			t.Errorf("%s: %d rows, %v", name, len(rows), err)
		}
	}
	if _, err := l.runWithBigArtifact(t.Context(), state); err != nil {
		t.Error(err)
	}
}

func TestAnUnknownMeasureIsRefused(t *testing.T) {
	var out, said strings.Builder
	if code := execute(t.Context(), []string{"-only", "start,gone"}, nil, &out, &said); code != 1 || !strings.Contains(said.String(), "gone") {
		t.Errorf("exit %d: %s", code, said.String())
	}
}
