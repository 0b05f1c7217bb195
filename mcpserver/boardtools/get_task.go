package boardtools

import (
	"context"
	"time"

	"github.com/gantry-run/gantry/board"
	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/specs"
)

type taskIn struct {
	TaskID string `json:"task_id"`
}

// task is a task as a whole.
type task struct {
	ID          string       `json:"task_id"`
	ProjectID   string       `json:"project_id"`
	Title       string       `json:"title"`
	Description *string      `json:"description"`
	Status      board.Status `json:"status"`
	CreatedAt   time.Time    `json:"created_at"`
	UpdatedAt   time.Time    `json:"updated_at"`
	attemptSummary
}

func (d Deps) getTask(s specs.Tool) tool.Tool {
	return tool.New(s, func(ctx context.Context, _ *guard.Call, in taskIn) (task, error) {
		t, err := d.Board.Task(ctx, in.TaskID)
		return taskOut(t), err
	})
}

func taskOut(t board.Task) task {
	return task{t.ID, t.ProjectID, t.Title, orNull(t.Description), t.Status, t.CreatedAt.UTC(), t.UpdatedAt.UTC(), summaryOut(t.Attempts)}
}
