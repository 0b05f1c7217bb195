package runs

import "slices"

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
	out := Outcome{Outcome: p.Outcome, Visit: w.Visit, Data: p.Data}
	if was := v.Results[w.Node]; was.Visit == w.Visit && out.Outcome == "" {
		out.Outcome = was.Outcome // items of one visit: the first outcome that is one
	}
	v.Results[w.Node] = out
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
