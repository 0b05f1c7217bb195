package agenttools

import (
	"context"

	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/specs"
)

type taskArchiveIn struct {
	ID    string `json:"task_id"`
	Force bool   `json:"force"`
}

type taskArchiveOut struct {
	ID          string  `json:"task_id"`
	Destination *string `json:"destination"`
	Archived    bool    `json:"archived"`
}

func (d Deps) taskArchive(s specs.Tool) tool.Tool {
	return tool.New(s, func(ctx context.Context, c *guard.Call, in taskArchiveIn) (taskArchiveOut, error) {
		a, err := d.Tasks.Archive(ctx, c.Ask(), in.ID, in.Force)
		out := taskArchiveOut{ID: a.ID, Archived: err == nil}
		if a.Destination != "" {
			out.Destination = &a.Destination
		}
		return out, err
	})
}
