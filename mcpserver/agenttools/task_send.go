package agenttools

import (
	"context"

	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/specs"
)

type taskSendIn struct {
	ID     string `json:"task_id"`
	Prompt string `json:"prompt"`
}

func (d Deps) taskSend(s specs.Tool) tool.Tool {
	return tool.New(s, func(ctx context.Context, c *guard.Call, in taskSendIn) (taskOut, error) {
		t, err := d.Tasks.Send(ctx, c.Ask(), in.ID, in.Prompt)
		return one(c, t, err)
	})
}
