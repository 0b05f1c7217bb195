package launch

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/runs"
)

// resumed resumes a run and returns how often each node has been executed once it rests.
func (w *world) resumed(id runs.ID, force string) map[string]int {
	w.t.Helper()
	if _, err := w.svc.Resume(w.t.Context(), Ask{}, id, force); err != nil {
		w.t.Fatal(err)
	}
	return w.in(id, runs.StateReadyForPR).Visits
}

func TestAnArtifactThatSomebodyEditsIsKeptAndWhatReadItRedone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	id := w.start("")
	visits := w.in(id, runs.StateReadyForPR).Visits
	file := filepath.Join(w.store.Dir(id), "artifacts", "page_plan.json")
	plan, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	edit := func(content []byte) {
		t.Helper()
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	same := func(what string, got map[string]int) {
		t.Helper()
		if diff := cmp.Diff(visits, got); diff != "" {
			t.Errorf("%s: visits %s", what, diff)
		}
	}
	same("nothing has changed", w.resumed(id, ""))

	mine := bytes.Replace(plan, []byte(`Getting started`), []byte(`First steps here`), 1)
	if bytes.Equal(mine, plan) {
		t.Fatalf("the plan has no such title: %s", plan)
	}
	edit(mine)
	got := w.resumed(id, "")
	for _, node := range []string{"draft_sections", "merge_and_link", "validate"} {
		visits[node]++
	}
	same("the plan was edited", got)
	if kept, _ := os.ReadFile(file); !bytes.Equal(kept, mine) {
		t.Error("the edited plan was written over")
	}
	if v := w.in(id, runs.StateReadyForPR); v.Artifacts["page_plan.json"].SHA256 != hash(mine) {
		t.Error("the index has the hash of the old plan")
	}

	edit([]byte(`{"pages": 1}`))
	if _, err := w.svc.Resume(t.Context(), Ask{}, id, ""); !fault.Is(err, fault.SchemaValidationFailed) {
		t.Errorf("a plan that is none: %v", err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	got = w.resumed(id, "")
	for _, node := range []string{"build_plan", "draft_sections", "merge_and_link", "validate"} {
		visits[node]++
	}
	same("the plan is gone", got)
	if again, _ := os.ReadFile(file); !bytes.Equal(again, plan) {
		t.Error("the plan was not made again")
	}

	got = w.resumed(id, "build_facts")
	visits["build_facts"]++
	visits["validate"]++
	same("facts that come out the same", got)
}
