package launchtools

import (
	"context"

	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/specs"
)

type cancelOut struct {
	done
	Cancelled bool       `json:"cancelled"`
	State     runs.State `json:"state"`
}

func (d Deps) cancel(s specs.Tool) tool.Tool {
	return tool.New(s, func(ctx context.Context, c *guard.Call, in run) (cancelOut, error) {
		state, err := d.Launches.Cancel(ctx, c.Ask(), in.RunID)
		return cancelOut{ok(in.RunID), true, state}, err
	})
}
