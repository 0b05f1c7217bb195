package main

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gantry-run/gantry/runs"
)

// reported is a report's issue, as far as the order of fixing goes.
type reported struct {
	ID       string `json:"issue_id"`
	Gate     string
	Severity string
	Location struct {
		Path string
		Line int
	}
}

// inOrder sorts issues as the documentation says that they are fixed: by severity, gate,
// path, line and id.
func inOrder(issues []reported) []reported {
	grave := []string{"blocker", "error", "warn", "info"}
	return slices.SortedFunc(slices.Values(issues), func(a, b reported) int {
		return cmp.Or(
			cmp.Compare(slices.Index(grave, a.Severity), slices.Index(grave, b.Severity)), cmp.Compare(a.Gate, b.Gate),
			cmp.Compare(a.Location.Path, b.Location.Path), cmp.Compare(a.Location.Line, b.Location.Line), cmp.Compare(a.ID, b.ID))
	})
}

func (p *peer) report(id string) (issues []reported) {
	p.t.Helper()
	var r struct {
		Report struct{ Issues []reported } `json:"validation_report"`
	}
	if err := json.Unmarshal(p.must("launch_validate", args{"run_id": id}), &r); err != nil {
		p.t.Fatal(err)
	}
	return r.Report.Issues
}

// A run whose validation fails in several ways is brought to READY_FOR_PR by
// launch_fix_next alone. Each call mends one issue, the first in the documented order.
func TestARunThatFailsInManyWaysIsMendedByFixNextAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.serve(stateful, "--rate-limit=0")
	id := w.ready(p, nil)
	sound := read(t, filepath.Join(w.site(id), firstPage))
	w.spoil(id, docsIndex, addLine("#### WIDGET at a glance"))
	w.spoil(id, docsIndex, addLine("- [Reference](/reference/wigdet/)"))
	w.spoil(id, docsIndex, addLine("Trailing space, and no claim. "))
	w.spoil(id, firstPage, addLine("```sh\nrm -rf widget\n```"))

	open, gates, calls := p.report(id), map[string]bool{}, 0
	for ; len(open) > 0 && calls < 20; calls++ {
		first := inOrder(open)[0]
		gates[first.Gate] = true
		did := p.must("launch_fix_next", args{"run_id": id})
		if got := field(t, did, "fixed_issue_id"); got != first.ID {
			t.Fatalf("call %d mended %s, the first is %+v", calls, got, first)
		}
		if field(t, did, "remaining_blockers") == "0" {
			break
		}
		open = p.report(id)
	}
	for _, gate := range []string{"truth_lock", "markdown_lint", "consistency", "internal_links", "snippets"} {
		if !gates[gate] {
			t.Errorf("nothing of %s was mended: %v", gate, gates)
		}
	}
	p.inState(id, runs.StateReadyForPR)
	if read(t, filepath.Join(w.site(id), firstPage)) != sound {
		t.Error("the page is not what it was before somebody added to it")
	}
	p.must("launch_open_pr", args{"run_id": id})
	p.inState(id, runs.StateDone)
	w.verify(id)
}

// A fix that makes another gate worse is undone and counted: in the end the run is
// FIX_EXHAUSTED, with its pages and its journal as they were.
func TestAFixThatMakesAnotherGateWorseIsUndone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.serve(stateful, "--rate-limit=0")
	id := w.ready(p, args{"max_fix_attempts": 2})
	undo := w.spoil(id, docsIndex, func(s string) string {
		s = strings.Replace(s, "## What it does", "## What it doess", 1)
		return addLine("- [Above](#what-it-doess)")(s) // the right heading breaks this
	})
	if open := p.report(id); len(open) != 1 || open[0].Gate != "consistency" {
		t.Fatalf("%+v", open)
	}
	spoilt := read(t, filepath.Join(w.site(id), docsIndex))
	for _, code := range []string{"FIX_UNDONE", "FIX_UNDONE", "FIX_EXHAUSTED", "FIX_EXHAUSTED"} {
		p.refused("launch_fix_next", args{"run_id": id}, code)
		p.inState(id, runs.StateValidating)
		if read(t, filepath.Join(w.site(id), docsIndex)) != spoilt {
			t.Fatal("the page is not what it was")
		}
	}
	w.verify(id)
	undo()
	if open := p.report(id); len(open) != 0 {
		t.Errorf("mended by hand, and still open: %+v", open)
	}
	p.must("launch_open_pr", args{"run_id": id})
	p.inState(id, runs.StateDone)
	w.verify(id)
}
