package boardtools

import (
	"context"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/runs"
)

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
		id, err := d.Board.Session(ctx, t.AttemptID)
		return runs.ID(id), err
	case t.SessionID != "":
		s, err := d.Sessions.Find(c.Owner(), t.SessionID)
		return s.ID, err
	}
	return "", fault.New(fault.MissingRequired, "neither attempt_id nor session_id is given").WithHint(exactly)
}
