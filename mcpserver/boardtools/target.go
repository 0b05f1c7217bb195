package boardtools

import (
	"context"

	"github.com/gantry-run/gantry/board"
	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/runs"
)

// attempt returns an attempt that the caller may see. Projects and tasks are for all; an
// attempt is of who started it, as its session is, and for others there is none.
func (d Deps) attempt(ctx context.Context, c *guard.Call, id string) (board.Attempt, error) {
	a, err := d.Board.Attempt(ctx, id)
	if err != nil || a.SessionID == "" {
		return a, err
	}
	if _, err = d.Sessions.Get(c.Owner(), runs.ID(a.SessionID)); fault.Is(err, fault.SessionNotFound) {
		err = fault.New(fault.AttemptNotFound, "there is no attempt %.64q", id)
	}
	return a, err
}

// target names a session by its own id or by that of its attempt.
type target struct {
	AttemptID string `json:"attempt_id"`
	SessionID string `json:"session_id"`
}

// session returns the id of the session that is meant: of an attempt, the latest.
func (d Deps) session(ctx context.Context, c *guard.Call, t target) (runs.ID, error) {
	const exactly = "supply exactly one of attempt_id and session_id"
	switch {
	case t.AttemptID != "" && t.SessionID != "":
		return "", fault.New(fault.AmbiguousTarget, "both attempt_id and session_id are given").WithHint(exactly)
	case t.AttemptID != "":
		a, err := d.attempt(ctx, c, t.AttemptID)
		if err == nil && a.SessionID == "" {
			err = fault.Retry(fault.NoSessionYet, "the attempt has no session yet")
		}
		return runs.ID(a.SessionID), err
	case t.SessionID != "":
		s, err := d.Sessions.Find(c.Owner(), t.SessionID)
		return s.ID, err
	}
	return "", fault.New(fault.MissingRequired, "neither attempt_id nor session_id is given").WithHint(exactly)
}
