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
	Jobs     []job `json:"jobs"`
	NotShown int   `json:"not_shown,omitempty"`
}

func (d Deps) taskStatus(s specs.Tool) tool.Tool {
	return tool.New(s, func(ctx context.Context, c *guard.Call, in taskStatusIn) (taskStatusOut, error) {
		all, err := d.Jobs.Named(ctx, c.Owner(), in.UniqueName)
		shown := listed(all, time.Now())
		return taskStatusOut{shown, len(all) - len(shown)}, err
	})
}
