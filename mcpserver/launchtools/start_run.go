package launchtools

import (
	"context"
	"encoding/json"

	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/specs"
)

type startRunIn struct {
	RunConfig json.RawMessage `json:"run_config"`
}

type started struct {
	done
	State runs.State `json:"state"`
}

func (d Deps) startRun(s specs.Tool) tool.Tool {
	return tool.New(s, func(ctx context.Context, c *guard.Call, in startRunIn) (started, error) {
		r, err := d.Launches.Start(ctx, c.Ask(), in.RunConfig)
		if err != nil {
			return started{}, err
		}
		c.Record.SetRun(string(r.ID))
		return started{ok(r.ID), r.State}, nil
	})
}
