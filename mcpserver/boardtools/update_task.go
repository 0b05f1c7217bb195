package boardtools

import (
	"context"

	"github.com/gantry-run/gantry/board"
	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/specs"
)

type updateTaskIn struct {
	TaskID      string        `json:"task_id"`
	Title       *string       `json:"title"`
	Description *string       `json:"description"`
	Status      *board.Status `json:"status"`
}

func (d Deps) updateTask(s specs.Tool) tool.Tool {
	return tool.New(s, func(ctx context.Context, c *guard.Call, in updateTaskIn) (task, error) {
		if in.Title == nil && in.Description == nil && in.Status == nil {
			return task{}, fault.New(fault.MissingRequired, "there is nothing to change").WithHint("supply title, description or status")
		}
		t, err := d.Board.UpdateTask(ctx, c.Ask(), in.TaskID, board.TaskChange{Title: in.Title, Description: in.Description, Status: in.Status})
		return taskOut(t), err
	})
}
