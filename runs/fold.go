package runs

import (
	"encoding/json"
	"fmt"
	"iter"
	"maps"

	"github.com/gantry-run/gantry/internal/fault"
)

// Fold replays events into a view. It stops at the first error.
func Fold(events iter.Seq2[Event, error]) (*View, error) {
	v := new(View)
	for e, err := range events {
		if err != nil {
			return nil, err
		}
		if err := v.Apply(e); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// Apply folds the next event into the view. An event out of order, of another
// run, with a payload that does not decode or with a transition that the state
// table lacks is EVENT_CHAIN_BROKEN: the journal was not written by this program,
// or by a newer one. The journal's hashes are checked by package journal.
func (v *View) Apply(e Event) error {
	if e.Seq != v.Seq+1 || (v.RunID != "" && e.RunID != v.RunID) || (v.RunID == "") != (e.Type == RunCreated) {
		return broken(e, "it does not follow the event before it")
	}
	if err := v.apply(e); err != nil {
		return err
	}
	v.Seq, v.Head, v.UpdatedAt = e.Seq, e.EventHash, e.TS
	return nil
}

func broken(e Event, format string, args ...any) error {
	return fault.New(fault.EventChainBroken, "event %d of run %s (%s): %s", e.Seq, e.RunID, e.Type, fmt.Sprintf(format, args...)).
		WithDetails(map[string]int64{"seq": e.Seq})
}

func (v *View) apply(e Event) error {
	switch e.Type {
	case RunCreated:
		return with(e, func(p Created) error { v.create(e, p); return nil })
	case NodeEntered:
		return with(e, func(p Entered) error { return v.enter(e, p) })
	case RunStateChanged:
		return with(e, func(p StateChange) error { return v.change(e, p) })
	case WorkItemStarted, WorkItemFinished, WorkItemFailed:
		return v.applyItem(e)
	case CommandReceived, CommandFinished:
		return v.applyCommand(e)
	case ArtifactWritten:
		return with(e, func(p Artifact) error { v.Artifacts[p.Name] = Written{p, e.TS, e.EventID}; return nil })
	case ArtifactChanged:
		return with(e, func(p Artifact) error { v.replace(e, p); return nil })
	case InputsCloned:
		return with(e, func(p InputsPinned) error { v.Pins = &p; return nil })
	case IssueOpened, IssueResolved:
		return with(e, func(p IssueChange) error { v.issue(e.Type, p); return nil })
	case RunPaused:
		return with(e, func(p Pause) error { v.Paused = &Paused{e.TS, p}; return nil })
	case ResumeRewind:
		return with(e, func(p Rewind) error { v.rewind(p); return nil })
	case CommitCreated, PROpened:
		return with(e, func(p Published) error { v.Published = &p; return nil })
	case ProcessStarted, ProcessAdopted, ProcessEnded:
		return with(e, func(p Process) error { v.Process = &p; return nil })
	case RunNoted:
		return with(e, func(p Noted) error { v.note(p); return nil })
	case RunCompleted, RunFailed, RunCancelled:
		v.Ended = true
	case TransitionRefused:
		return with(e, func(p StateChange) error {
			v.Failure = &Failure{Code: string(fault.IllegalState), Node: v.Node,
				Message: fmt.Sprintf("the workflow asked for the transition %s to %s, which a %s does not have", p.OldState, p.NewState, v.Kind)}
			return nil
		})
	}
	return nil // progress, and types that a newer binary writes, change nothing
}

func with[P any](e Event, do func(P) error) error {
	var p P
	if err := json.Unmarshal(e.Payload, &p); err != nil {
		return broken(e, "its payload does not decode")
	}
	return do(p)
}

func (v *View) create(e Event, p Created) {
	*v = View{
		SchemaVersion: "1.0.0", RunID: e.RunID, Kind: p.Kind, State: StateCreated, CreatedAt: e.TS, Created: p,
		InputSHA: p.InputSHA, WorkflowName: p.Workflow.Name, Labels: p.Labels, Jump: p.Workflow.Nodes[0].Name,
		Visits: map[string]int{}, SectionStates: map[string]string{}, Artifacts: map[string]Written{},
		Results: map[string]Outcome{}, FanOut: map[string][]string{}, Entries: map[string]State{},
		WorkItems: []WorkItem{}, Issues: []IssueChange{}, Commands: []CommandState{}, Trail: []Entered{},
	}
	if v.Labels == nil {
		v.Labels = map[string]string{}
	}
}

func (v *View) enter(e Event, p Entered) error {
	node, ok := v.Created.Workflow.Node(p.Node)
	if !ok {
		return broken(e, "the workflow has no node %q", p.Node)
	}
	if v.State.Stable() || v.State.Before(StatePlanReady) {
		v.Trail, v.Stable, v.Replay = []Entered{}, v.State, 0
	}
	if v.Replay > 0 {
		v.Replay--
	} else {
		v.Trail = append(v.Trail, p)
	}
	v.Node, v.Jump, v.Paused = p.Node, "", nil
	delete(v.Reuse, p.Node)
	v.Entries[p.Node] = v.State
	if c := v.commandByID(p.CommandID); c != nil && (c.Status == Pending || c.Status == Held) {
		c.Status = Active
	}
	if p.Visit <= v.Visits[p.Node] {
		return nil // a rewound run walks over what is done
	}
	v.Visits[p.Node], v.Told = p.Visit, nil
	items := p.Items
	if node.FanOut == "" {
		items = []string{""}
	}
	for _, scope := range items {
		v.WorkItems = append(v.WorkItems, WorkItem{
			ID: WorkKey(v.RunID, p.Node, p.Visit, scope), Node: p.Node, Visit: p.Visit, Worker: node.Worker, Scope: scope, Status: Queued,
			QueuedAt: &e.TS, CommandID: p.CommandID,
		})
	}
	return nil
}

// replace takes note of an artifact that somebody else has written, or removed.
func (v *View) replace(e Event, a Artifact) {
	if a.SHA256 == "" {
		delete(v.Artifacts, a.Name)
		return
	}
	v.Artifacts[a.Name] = Written{a, e.TS, e.EventID}
}

func (v *View) note(p Noted) {
	if v.Notes == nil {
		v.Notes = map[string]string{}
	}
	maps.Copy(v.Notes, p.Notes)
}

// WorkKey returns the id of a work item, stable across restarts: the key under
// which its effects happen once.
func WorkKey(run ID, node string, visit int, scope string) string {
	key := fmt.Sprintf("%s/%s.%d", run, node, visit)
	if scope != "" {
		key += "." + scope
	}
	return key
}

func (v *View) change(e Event, p StateChange) error {
	if p.OldState != v.State || !Allowed(v.Kind, p.OldState, p.NewState) {
		return broken(e, "a run in %s cannot go from %s to %s", v.State, p.OldState, p.NewState)
	}
	v.State = p.NewState
	if !v.State.Terminal() {
		return nil
	}
	v.FinishedAt, v.Paused = &e.TS, nil
	for i := range v.WorkItems {
		if w := &v.WorkItems[i]; w.Status == Queued || w.Status == Running {
			w.Status = Skipped
		}
	}
	return nil
}

func (v *View) issue(t EventType, p IssueChange) {
	kept := v.Issues[:0:0]
	for _, i := range v.Issues {
		if i.IssueID != p.IssueID {
			kept = append(kept, i)
		}
	}
	if t == IssueOpened {
		kept = append(kept, p)
	}
	v.Issues = kept
	if v.Issues == nil {
		v.Issues = []IssueChange{}
	}
}

func (v *View) rewind(p Rewind) {
	v.State, v.Paused, v.Failure, v.FinishedAt, v.Ended = p.ToState, nil, nil, nil, false
	for i := range v.WorkItems {
		if w := &v.WorkItems[i]; w.Status == Failed || w.Status == Skipped || w.Status == Running {
			w.Status, w.Error = Queued, nil
		}
	}
	if p.Redo {
		v.Jump, v.Trail, v.Replay, v.Stable = p.Node, []Entered{}, 0, p.ToState
		v.sendBack(p.Node, p.Anew)
		return
	}
	v.Node, v.Jump, v.Replay = p.Node, "", max(0, len(v.Trail)-1)
}
