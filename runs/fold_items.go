package runs

import (
	"encoding/json"
	"slices"
)

// applyItem folds what happened to a work item.
func (v *View) applyItem(e Event) error {
	switch e.Type {
	case WorkItemStarted:
		return with(e, func(p ItemStarted) error {
			return v.onItem(e, p.WorkItemID, func(w *WorkItem) {
				w.Status, w.Attempt, w.StartedAt, w.Error = Running, p.Attempt, &e.TS, nil
			})
		})
	case WorkItemFinished:
		return with(e, func(p ItemFinished) error {
			return v.onItem(e, p.WorkItemID, func(w *WorkItem) { v.finishItem(e, w, p) })
		})
	default:
		return with(e, func(p ItemFailed) error {
			return v.onItem(e, p.WorkItemID, func(w *WorkItem) {
				w.Status, w.Attempt, w.Error = Queued, p.Attempt, &p.Failure
				if p.Final {
					w.Status, w.FinishedAt, v.Failure = Failed, &e.TS, &p.Failure
				}
			})
		})
	}
}

func (v *View) onItem(e Event, id string, do func(*WorkItem)) error {
	w := v.item(id)
	if w == nil {
		return broken(e, "there is no work item %s", id)
	}
	do(w)
	return nil
}

func (v *View) finishItem(e Event, w *WorkItem, p ItemFinished) {
	w.Status, w.Attempt, w.FinishedAt, w.Outcome, w.Inputs, w.Error = Finished, p.Attempt, &e.TS, p.Outcome, p.Inputs, nil
	for section, state := range p.Sections {
		v.SectionStates[section] = state
	}
	if p.Items != nil {
		v.FanOut[w.Node] = p.Items
	}
	v.Results[w.Node] = v.resultOf(w, p.Data)
	if node, _ := v.Created.Workflow.Node(w.Node); node.History {
		w.Data = p.Data
	}
}

// resultOf returns the result of the visit that the item belongs to. Among several
// items, it is the outcome of the first that has one and the data of the first, in the
// order in which they were queued, so that it does not matter which one finishes first.
func (v *View) resultOf(w *WorkItem, data json.RawMessage) Outcome {
	out := Outcome{Outcome: v.outcomeOf(w.Node, w.Visit), Visit: w.Visit, Data: data, Scope: w.Scope}
	was := v.Results[w.Node]
	if was.Visit != w.Visit {
		return out
	}
	for _, other := range v.items(w.Node, w.Visit) {
		switch other.Scope {
		case w.Scope:
			return out
		case was.Scope:
			out.Data, out.Scope = was.Data, was.Scope
			return out
		}
	}
	return out
}

// applyCommand folds the arrival or the end of a command.
func (v *View) applyCommand(e Event) error {
	if e.Type == CommandReceived {
		return with(e, func(p Command) error {
			if v.commandByID(p.ID) != nil {
				return broken(e, "the command %s has been received before", p.ID)
			}
			v.Commands = append(v.Commands, CommandState{Command: p, Status: Pending, Received: e.TS})
			return nil
		})
	}
	return with(e, func(p Receipt) error {
		c := v.commandByID(p.CommandID)
		if c == nil {
			return broken(e, "there is no command %s", p.CommandID)
		}
		c.Status, c.Receipt = p.Status, &p
		if p.Told {
			v.Told = append(v.Told, p.CommandID)
		}
		return nil
	})
}

func (v *View) commandByID(id string) *CommandState {
	i := slices.IndexFunc(v.Commands, func(c CommandState) bool { return c.ID == id })
	if i < 0 {
		return nil
	}
	return &v.Commands[i]
}
