package tasktools

import (
	"context"
	"time"

	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/specs"
)

type taskStatusIn struct {
	UniqueName string `json:"unique_name"`
}

type taskStatusOut struct {
	Jobs []job `json:"jobs"`
}

func (d Deps) taskStatus(s specs.Tool) tool.Tool {
	return tool.New(s, func(ctx context.Context, c *guard.Call, in taskStatusIn) (taskStatusOut, error) {
		all, err := d.Jobs.Named(ctx, c.Owner(), in.UniqueName)
		return taskStatusOut{listed(all, time.Now())}, err
	})
}
