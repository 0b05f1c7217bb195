package boardtools

import (
	"context"

	"github.com/gantry-run/gantry/board"
	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/specs"
)

type stopAttemptIn struct {
	AttemptID string `json:"attempt_id"`
	Force     bool   `json:"force"`
}

type stopAttemptOut struct {
	AttemptID string      `json:"attempt_id"`
	Force     bool        `json:"force"`
	State     board.State `json:"state"`
}

func (d Deps) stopAttempt(s specs.Tool) tool.Tool {
	return tool.New(s, func(ctx context.Context, c *guard.Call, in stopAttemptIn) (stopAttemptOut, error) {
		if _, err := d.attempt(ctx, c, in.AttemptID); err != nil {
			return stopAttemptOut{}, err
		}
		a, err := d.Board.StopAttempt(ctx, c.Ask(), in.AttemptID, in.Force)
		return stopAttemptOut{in.AttemptID, in.Force, a.State}, err
	})
}
