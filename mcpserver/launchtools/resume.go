package launchtools

import (
	"context"

	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/specs"
)

type resumeIn struct {
	run
	Force string `json:"force"`
}

type resumeOut struct {
	done
	State runs.State `json:"state"`
}

func (d Deps) resume(s specs.Tool) tool.Tool {
	return tool.New(s, func(ctx context.Context, c *guard.Call, in resumeIn) (resumeOut, error) {
		state, err := d.Launches.Resume(ctx, c.Ask(), in.RunID, in.Force)
		return resumeOut{ok(in.RunID), state}, err
	})
}
