package tasktools

import (
	"context"
	"time"

	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/specs"
)

type taskStopIn struct {
	PID   int      `json:"pid"`
	Grace *float64 `json:"grace_period"`
}

type taskStopOut struct {
	PID       int     `json:"pid"`
	Status    string  `json:"status"`
	Message   string  `json:"message"`
	GraceUsed float64 `json:"grace_period_used"`
}

// defaultGrace is how long a task may take to end after TERM.
const defaultGrace = 5 * time.Second

func (d Deps) taskStop(s specs.Tool) tool.Tool {
	return tool.New(s, func(ctx context.Context, c *guard.Call, in taskStopIn) (taskStopOut, error) {
		grace := seconds(in.Grace, defaultGrace)
		stopped, err := d.Jobs.Stop(ctx, c.Ask(), in.PID, grace)
		return taskStopOut{stopped.PID, stopped.Status, stopped.Message, grace.Seconds()}, err
	})
}
