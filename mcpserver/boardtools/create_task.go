package boardtools

import (
	"context"

	"github.com/gantry-run/gantry/board"
	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/specs"
)

type createTaskIn struct {
	ProjectID   string `json:"project_id"`
	Title       string `json:"title"`
	Description string `json:"description"`
}

type createTaskOut struct {
	TaskID string `json:"task_id"`
}

func (d Deps) createTask(s specs.Tool) tool.Tool {
	return tool.New(s, func(ctx context.Context, c *guard.Call, in createTaskIn) (createTaskOut, error) {
		t, err := d.Board.CreateTask(ctx, c.Ask(), board.NewTask{ProjectID: in.ProjectID, Title: in.Title, Description: in.Description})
		return createTaskOut{t.ID}, err
	})
}
