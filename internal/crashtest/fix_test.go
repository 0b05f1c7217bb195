package crashtest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// A fix is interrupted after it has changed the page and before that is recorded.
func TestAFixThatIsInterruptedIsFinishedNotPlannedAnew(t *testing.T) {
	s := newStorm(t, 1)
	for _, slot := range s.slots {
		slot <- s.serve()
	}
	c := &client{storm: s, name: "calm", calm: true}
	want := s.outcome(c.repaired())

	id := c.start("repaired", false, "")
	c.until(id, readyForPR)
	c.spoil(id)
	if err := c.ask("launch_validate", args{"run_id": id}, nil); err != nil {
		t.Fatal(err)
	}
	obstacle := filepath.Join(s.folder(id), "reports", "fix_"+s.firstIssue(id)+".md")
	if err := os.MkdirAll(filepath.Join(obstacle, "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := c.ask("launch_fix_next", args{"run_id": id}, nil); err == nil {
		t.Fatal("nothing was in the way of the fix")
	}
	if err := os.RemoveAll(obstacle); err != nil {
		t.Fatal(err)
	}
	if err := c.ask("launch_resume", args{"run_id": id}, nil); err != nil {
		t.Fatal(err)
	}
	for {
		st, ok := c.until(id, func(st status) bool { return st.Paused != nil })
		if !ok || st.State == "READY_FOR_PR" {
			break
		}
		if !c.fix(id) {
			break
		}
	}
	c.publish(id)
	compare(t, "after the interruption", want, s.outcome(id))
	for _, slot := range s.slots {
		(<-slot).leave()
	}
}

// firstIssue returns the first finding of a run's report.
func (l *lab) firstIssue(id string) string {
	l.t.Helper()
	var report struct {
		Issues []struct {
			ID string `json:"issue_id"`
		} `json:"issues"`
	}
	raw, err := os.ReadFile(filepath.Join(l.folder(id), "artifacts", "validation_report.json"))
	if err == nil {
		err = json.Unmarshal(raw, &report)
	}
	if err != nil || len(report.Issues) == 0 {
		l.t.Fatalf("the report of %s: %v, %d issues", id, err, len(report.Issues))
	}
	return report.Issues[0].ID
}
