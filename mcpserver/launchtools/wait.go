package launchtools

import (
	"context"
	"time"

	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/specs"
)

// waitSeconds is how long launch_wait waits when the caller does not say.
const waitSeconds = 30

type waitIn struct {
	run
	Timeout *int `json:"timeout_s"`
}

type waitOut struct {
	getStatusOut
	StillRunning bool `json:"still_running"`
}

func (d Deps) wait(s specs.Tool) tool.Tool {
	return tool.New(s, func(ctx context.Context, c *guard.Call, in waitIn) (waitOut, error) {
		seconds := waitSeconds
		if in.Timeout != nil {
			seconds = *in.Timeout
		}
		st, err := d.Launches.Wait(ctx, in.RunID, c.Owner(), time.Duration(seconds)*time.Second, c.Tell)
		if err != nil {
			return waitOut{}, err
		}
		return waitOut{statusOut(st), st.Paused == nil && !st.State.Terminal()}, nil
	})
}
