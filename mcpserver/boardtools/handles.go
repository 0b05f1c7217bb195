package boardtools

import (
	"context"
	"encoding/json"

	"github.com/gantry-run/gantry/agents/sessions"
	"github.com/gantry-run/gantry/board"
	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/runs"
)

// Handles follows attempts for those who hold their handles, which are the ids of their
// sessions. It is the first turn that start_task_attempt has started: follow_up has another
// one, which changes nothing about the first.
type Handles struct{ Deps Deps }

// Goes implements [tool.Goer].
func (o startTaskAttemptOut) Goes() runs.ID { return runs.ID(o.SessionID) }

// Handle implements [tool.Handles].
func (h Handles) Handle(ctx context.Context, who guard.Caller, id runs.ID) (tool.Handle, error) {
	s, turn, err := h.Deps.Sessions.First(who.Owner(), id)
	if err != nil {
		return tool.Handle{}, unknown(id, err)
	}
	a, err := h.Deps.Board.AttemptOf(ctx, string(id))
	if err != nil {
		return tool.Handle{}, unknown(id, err)
	}
	out := tool.Handle{Toolset: Toolset, Tool: "start_task_attempt", Created: s.Created, Updated: s.Updated, Message: "the first turn: " + string(turn.State)}
	switch turn.State {
	case sessions.TurnCompleted:
		out.Result, err = attemptResult(a, turn)
	case sessions.TurnFailed:
		out.Failure = fault.New(fault.ProcessFailed, "the agent's first turn has failed: %s", turn.Error).
			WithHint("look at tail_attempt_logs of the attempt %s, then follow_up or start another", a.ID)
	case sessions.TurnKilled:
		out.Cancelled = true
	}
	return out, err
}

// attemptResult is what start_task_attempt has returned to those who hold no handle.
func attemptResult(a board.Attempt, first sessions.Turn) (*tool.Result, error) {
	raw, err := json.Marshal(startTaskAttemptOut{a.TaskID, a.ID, a.SessionID, first.ID, a.Branch})
	return &tool.Result{JSON: raw}, err
}

// unknown makes what the board and the sessions do not know a run that is not known.
func unknown(id runs.ID, err error) error {
	if fault.Is(err, fault.SessionNotFound) || fault.Is(err, fault.AttemptNotFound) {
		return fault.New(fault.RunNotFound, "there is no task %.64q", string(id))
	}
	return err
}

// Cancel implements [tool.Handles]. It ends the first turn, and none after it.
func (h Handles) Cancel(ctx context.Context, c *guard.Call, id runs.ID) error {
	_, turn, err := h.Deps.Sessions.First(c.Owner(), id)
	if err != nil || turn.State != sessions.TurnRunning {
		return err
	}
	_, err = h.Deps.Sessions.Stop(ctx, c.Ask(), id, false)
	return err
}

// Answer implements [tool.Handles]. Attempts ask nothing.
func (h Handles) Answer(context.Context, *guard.Call, runs.ID, string, string) error { return nil }
