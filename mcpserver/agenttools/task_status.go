package agenttools

import (
	"context"

	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/specs"
)

type taskStatusIn struct {
	ID string `json:"task_id"`
}

func (d Deps) taskStatus(s specs.Tool) tool.Tool {
	return tool.New(s, func(_ context.Context, c *guard.Call, in taskStatusIn) (taskOut, error) {
		t, err := d.Tasks.Status(c.Owner(), in.ID)
		return one(c, t, err)
	})
}
