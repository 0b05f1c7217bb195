package runs_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gantry-run/gantry/runs"
)

var update = flag.Bool("update", false, "write docs/state-machine.md")

func stateMachineDoc() string {
	var b strings.Builder
	b.WriteString(`# The states of a launch

Made from the tables in ` + "`runs/state.go`" + ` by ` + "`go test ./runs -update`" + `; do not edit.

` + "```mermaid\n" + runs.Mermaid(runs.Launch) + "```" + `

An unfinished run can also go to ` + "`FAILED`, when a work item fails for good, and to `CANCELLED`" + `, whatever state it is in.
Any other transition is refused and recorded as ` + "`TRANSITION_REFUSED`" + `.

A run that was interrupted, or that failed, goes on when it is resumed: it is put back to its last stable state and walks on
from there, and work that is finished is not executed again.

| state | over | an interrupted run goes on from here |
|---|---|---|
`)
	yes := map[bool]string{true: "yes"}
	for _, s := range runs.States(runs.Launch) {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", s, yes[s.Terminal()], yes[s.Stable()])
	}
	b.WriteString("\n# The states of a target\n\nIt can end as `FAILED` and `CANCELLED` as well.\n\n```mermaid\n" + runs.Mermaid(runs.Target) + "```\n")
	b.WriteString("\n# The states of a session\n\nBetween turns it is `IDLE`, or `DIED` when the last one failed: it can go on from either. It can end as `FAILED` and\n" +
		"`CANCELLED` as well.\n\n```mermaid\n" + runs.Mermaid(runs.Session) + "```\n")
	return b.String()
}

func TestThePictureInTheDocsIsTheTable(t *testing.T) {
	const path = "../docs/state-machine.md"
	want := stateMachineDoc()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("run go test ./runs -update: %s", diff)
	}
}

// Every arrow of the picture is allowed and every allowed step has its arrow, apart
// from those to FAILED and CANCELLED.
func TestThePictureHasEveryTransition(t *testing.T) {
	for _, kind := range []runs.Kind{runs.Launch, runs.Target, runs.Session} {
		picture := runs.Mermaid(kind)
		for _, from := range runs.States(kind) {
			for _, to := range runs.States(kind) {
				if to == runs.StateFailed || to == runs.StateCancelled {
					continue
				}
				if drawn := strings.Contains(picture, fmt.Sprintf("    %s --> %s\n", from, to)); drawn != runs.Allowed(kind, from, to) {
					t.Errorf("%s: %s to %s: drawn %v", kind, from, to, drawn)
				}
			}
		}
	}
	if runs.Mermaid("holiday") != "" {
		t.Error("a kind without states has a picture")
	}
}
