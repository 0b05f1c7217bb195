package runs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"
)

// View is the fold of a run's events up to Seq: all that is known of the run.
// Its canonical encoding ([View.Snapshot]) is snapshot.json.
type View struct {
	SchemaVersion string              `json:"schema_version"`
	RunID         ID                  `json:"run_id"`
	Kind          Kind                `json:"kind"`
	State         State               `json:"run_state"`
	Seq           int64               `json:"seq"`
	Head          string              `json:"head_hash"`
	CreatedAt     time.Time           `json:"created_at"`
	UpdatedAt     time.Time           `json:"updated_at"`
	FinishedAt    *time.Time          `json:"finished_at"`
	Created       Created             `json:"-"` // what the run was started with
	InputSHA      string              `json:"input_sha256"`
	WorkflowName  string              `json:"workflow"`
	Labels        map[string]string   `json:"labels"`
	Node          string              `json:"node"` // the node that the run is at
	Visits        map[string]int      `json:"visits"`
	WorkItems     []WorkItem          `json:"work_items"` // in the order in which they were queued
	SectionStates map[string]string   `json:"section_states"`
	Artifacts     map[string]Written  `json:"artifacts_index"`
	Issues        []IssueChange       `json:"issues"`  // the open ones, in the order in which they were opened
	Results       map[string]Outcome  `json:"results"` // node → what its last finished visit gave
	FanOut        map[string][]string `json:"fan_out"` // node → items that it gave
	Pins          *InputsPinned       `json:"pins"`
	Paused        *Paused             `json:"paused"`
	Failure       *Failure            `json:"failure"`
	Commands      []CommandState      `json:"commands"`
	Published     *Published          `json:"published"`
	Process       *Process            `json:"process"`
	Notes         map[string]string   `json:"notes,omitempty"` // what workers noted
	Told          []string            `json:"told,omitempty"`  // commands that the worker of the present visit is told of, in their order
	Ended         bool                `json:"ended"`           // its closing event is written
	Jump          string              `json:"jump"`            // node to enter next, whatever the table says
	Entries       map[string]State    `json:"entry_states"`    // node → state in which it was last entered
	Trail         []Entered           `json:"trail"`           // nodes entered since the last stable state
	Replay        int                 `json:"replay"`          // how much of the trail a rewound run has still to walk
	Stable        State               `json:"stable_state"`    // where the trail begins
	Reuse         map[string]int      `json:"reuse,omitempty"` // node → finished visit that may stand for its next, in a run that was sent back
}

// WorkItem is one execution unit of a node: "<run>/<node>.<visit>.<item>".
type WorkItem struct {
	ID         string            `json:"work_item_id"`
	Node       string            `json:"node"`
	Visit      int               `json:"visit"`
	Worker     string            `json:"worker"`
	Scope      string            `json:"scope_key"`
	Status     string            `json:"status"` // queued, running, finished, failed, skipped
	Attempt    int               `json:"attempt"`
	StartedAt  *time.Time        `json:"started_at"`
	FinishedAt *time.Time        `json:"finished_at"`
	Inputs     map[string]string `json:"inputs,omitempty"`
	Outcome    string            `json:"outcome,omitempty"`
	Error      *Failure          `json:"error"`
	QueuedAt   *time.Time        `json:"queued_at,omitempty"`
	CommandID  string            `json:"command_id,omitempty"` // the command that led to the visit
	Data       json.RawMessage   `json:"data,omitempty"`       // of a node with a history
}

// The statuses of a work item.
const (
	Queued   = "queued"
	Running  = "running"
	Finished = "finished"
	Failed   = "failed"
	Skipped  = "skipped"
)

// Written is an artifact with the event that recorded it.
type Written struct {
	Artifact
	TS      time.Time `json:"ts"`
	EventID string    `json:"event_id"`
}

// Outcome is what a node's last finished visit gave.
type Outcome struct {
	Outcome string          `json:"outcome"`
	Visit   int             `json:"visit"`
	Data    json.RawMessage `json:"data,omitempty"`
	Scope   string          `json:"scope_key,omitempty"` // fan-out: the item that gave the data
}

// Paused says since when and why a run waits.
type Paused struct {
	At time.Time `json:"at"`
	Pause
}

// Snapshot returns the canonical encoding of the view: sorted members, two spaces
// of indent, a final newline. The same events always give the same bytes.
func (v *View) Snapshot() ([]byte, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode snapshot: %w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var tree any // maps encode with sorted keys, structs do not
	if err := dec.Decode(&tree); err != nil {
		return nil, fmt.Errorf("encode snapshot: %w", err)
	}
	out, err := json.MarshalIndent(tree, "", "  ")
	return append(out, '\n'), err
}

// Clone returns a copy that shares nothing with v that [View.Apply] changes.
func (v *View) Clone() *View {
	c := *v
	c.Visits, c.SectionStates, c.Artifacts = maps.Clone(v.Visits), maps.Clone(v.SectionStates), maps.Clone(v.Artifacts)
	c.Results, c.FanOut, c.Entries, c.Labels = maps.Clone(v.Results), maps.Clone(v.FanOut), maps.Clone(v.Entries), maps.Clone(v.Labels)
	c.WorkItems, c.Issues = slices.Clone(v.WorkItems), slices.Clone(v.Issues)
	c.Commands, c.Trail = slices.Clone(v.Commands), slices.Clone(v.Trail)
	c.Reuse = maps.Clone(v.Reuse)
	c.Notes, c.Told = maps.Clone(v.Notes), slices.Clone(v.Told)
	return &c
}

// items returns the work items of one visit of a node.
func (v *View) items(node string, visit int) []*WorkItem {
	var out []*WorkItem
	for i := range v.WorkItems {
		if w := &v.WorkItems[i]; w.Node == node && w.Visit == visit {
			out = append(out, w)
		}
	}
	return out
}

// item returns the work item of that id, or nil.
func (v *View) item(id string) *WorkItem {
	for i := len(v.WorkItems) - 1; i >= 0; i-- {
		if v.WorkItems[i].ID == id {
			return &v.WorkItems[i]
		}
	}
	return nil
}

// due reports whether there is something to do for whoever drives the run: work, or
// events to write.
func (v *View) due() bool {
	next := Next(v)
	return len(next.Execute)+len(next.Write) > 0
}

// Busy reports whether the run has something to do that needs no command.
func (v *View) Busy() bool { return v.RunID != "" && !v.State.Terminal() && v.Paused == nil }
