package tasks

import (
	"context"
	"iter"

	"github.com/gantry-run/gantry/agents/sessions"
	"github.com/gantry-run/gantry/agents/taskstore"
	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/runs"
)

// Ended returns the task when its turn is over. A turn that failed is PROCESS_FAILED. tell,
// which may be nil, hears that it is waited.
func (t *Tasks) Ended(ctx context.Context, owner string, one Task, tell func(string)) (Task, error) {
	over := func(s sessions.Session) bool { return s.State != sessions.Running }
	for {
		tick, done := context.WithTimeout(ctx, tellEvery)
		s, err := t.o.Sessions.Wait(tick, owner, runs.ID(one.Session), over)
		late := tick.Err() != nil
		done()
		switch {
		case err == nil && s.State == sessions.Died:
			return fromSession(s), fault.New(fault.ProcessFailed, "the turn failed: %s", s.Last.Error).WithHint("task_log shows what the agent wrote")
		case err == nil:
			return fromSession(s), nil
		case ctx.Err() != nil || !late:
			return one, err
		}
		say(tell, "the agent is working")
	}
}

// Changes yields when a task changes, until it is over or ctx ends. A task that another
// program keeps is looked at now and then.
func (t *Tasks) Changes(ctx context.Context, owner, id string) (iter.Seq[struct{}], error) {
	was, err := t.Status(owner, id)
	if err != nil {
		return nil, err
	}
	return func(yield func(struct{}) bool) {
		for was.State != taskstore.Archived && pause(ctx, changesEvery) == nil {
			now, err := t.Status(owner, id)
			if err != nil || now != was && !yield(struct{}{}) {
				return
			}
			was = now
		}
	}, nil
}

// changesEvery is how often a task is looked at for somebody who waits for its changes.
const changesEvery = 5 * logEvery
