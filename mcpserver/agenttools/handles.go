package agenttools

import (
	"context"
	"encoding/json"

	"github.com/gantry-run/gantry/agents/sessions"
	"github.com/gantry-run/gantry/agents/tasks"
	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/runs"
)

// Handles follows tasks for those who hold their handles, which are the ids of their
// sessions. It is the first turn that task_start has started: task_send has another one,
// which changes nothing about the first.
type Handles struct {
	Tasks    *tasks.Tasks
	Sessions *sessions.Sessions
}

// startedOut is a task that task_start has started.
type startedOut struct{ taskOut }

// Goes implements [tool.Goer].
func (o startedOut) Goes() runs.ID {
	if o.Session == nil {
		return ""
	}
	return runs.ID(*o.Session)
}

// Handle implements [tool.Handles].
func (h Handles) Handle(_ context.Context, who guard.Caller, id runs.ID) (tool.Handle, error) {
	s, turn, err := h.first(who.Owner(), id)
	if err != nil {
		return tool.Handle{}, err
	}
	out := tool.Handle{Toolset: Toolset, Tool: "task_start", Created: s.Created, Updated: s.Updated, Message: "the first turn: " + string(turn.State)}
	switch turn.State {
	case sessions.TurnCompleted:
		var t tasks.Task
		if t, err = h.Tasks.Status(who.Owner(), string(id)); err == nil {
			var raw []byte
			raw, err = json.Marshal(outOf(t, shown))
			out.Result = &tool.Result{JSON: raw}
		}
	case sessions.TurnFailed:
		out.Failure = fault.New(fault.ProcessFailed, "the agent's first turn has failed: %s", turn.Error).
			WithHint("look at task_log of the task %s, then task_send", s.Name)
	case sessions.TurnKilled:
		out.Cancelled = true
	}
	return out, err
}

// first returns a session of this toolset with its first turn.
func (h Handles) first(owner string, id runs.ID) (sessions.Session, sessions.Turn, error) {
	s, turn, err := h.Sessions.First(owner, id)
	if fault.Is(err, fault.SessionNotFound) || err == nil && s.Labels["attempt_id"] != "" { // the board's
		err = fault.New(fault.RunNotFound, "there is no task %.64q", string(id))
	}
	return s, turn, err
}

// Cancel implements [tool.Handles]. It ends the first turn, and none after it.
func (h Handles) Cancel(ctx context.Context, c *guard.Call, id runs.ID) error {
	_, turn, err := h.first(c.Owner(), id)
	if err != nil || turn.State != sessions.TurnRunning {
		return err
	}
	_, err = h.Sessions.Stop(ctx, c.Ask(), id, false)
	return err
}

// Answer implements [tool.Handles]. Agents ask nothing.
func (h Handles) Answer(context.Context, *guard.Call, runs.ID, string, string) error { return nil }
