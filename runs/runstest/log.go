package runstest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/gantry-run/gantry/runs"
)

// entry is a line of the file in which executions are written down. Lines of all
// processes stand in the order in which they were written.
type entry struct {
	PID     int     `json:"pid"`
	Run     runs.ID `json:"run,omitempty"`
	Key     string  `json:"key,omitempty"`
	Attempt int     `json:"attempt,omitempty"`
	What    string  `json:"what"`
}

const (
	begun  = "begun"
	ended  = "ended"
	killed = "killed" // the process will be killed at once
)

// record appends a line with one write, so that lines never mix.
func record(path string, e entry) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return err
}

func readLog(t *testing.T, path string) []entry {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	var out []entry
	for line := range bytes.Lines(raw) {
		var e entry
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatalf("execution log: %v in %q", err, line)
		}
		out = append(out, e)
	}
	return out
}

// executors finds the places where two processes executed one run at a time.
func executors(log []entry) (bad []string) {
	open := map[runs.ID]map[string]int{} // run → key → process that executes it
	dead := map[int]bool{}
	for _, e := range log {
		if e.What == killed {
			dead[e.PID] = true
			continue
		}
		for key, pid := range open[e.Run] {
			switch {
			case pid == e.PID:
			case dead[pid]:
				delete(open[e.Run], key)
			default:
				bad = append(bad, fmt.Sprintf("process %d %s %s while process %d executes %s", e.PID, e.What, e.Key, pid, key))
			}
		}
		if open[e.Run] == nil {
			open[e.Run] = map[string]int{}
		}
		if e.What == begun {
			open[e.Run][e.Key] = e.PID
		} else {
			delete(open[e.Run], e.Key)
		}
	}
	return bad
}

// repeats finds the executions of a run's items that began after the one whose
// result is in the journal, and the items that finished more than once.
func repeats(log []entry, events []runs.Event) (bad []string) {
	finished := map[string]int{} // key → attempt
	for _, e := range events {
		if e.Type != runs.WorkItemFinished {
			continue
		}
		var p runs.ItemFinished
		if err := json.Unmarshal(e.Payload, &p); err != nil {
			return []string{err.Error()}
		}
		if _, twice := finished[p.WorkItemID]; twice {
			bad = append(bad, p.WorkItemID+" finished twice")
		}
		finished[p.WorkItemID] = p.Attempt
	}
	for _, e := range log {
		if at, ok := finished[e.Key]; ok && e.What == begun && e.Attempt > at {
			bad = append(bad, fmt.Sprintf("%s was finished by attempt %d and executed again as attempt %d", e.Key, at, e.Attempt))
		}
	}
	return bad
}
