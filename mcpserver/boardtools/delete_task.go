package boardtools

import (
	"context"

	"github.com/gantry-run/gantry/board"
	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/specs"
)

type deleteTaskOut struct {
	TaskID  string `json:"task_id"`
	Deleted bool   `json:"deleted"`
	Kept    []kept `json:"kept"`
}

// kept is an attempt of which something stays on disk.
type kept struct {
	AttemptID string   `json:"attempt_id"`
	Branch    string   `json:"workspace_branch"`
	Reasons   []string `json:"reasons"`
}

// maxKept is how many kept attempts a result names.
const maxKept = 200

func (d Deps) deleteTask(s specs.Tool) tool.Tool {
	return tool.New(s, func(ctx context.Context, c *guard.Call, in taskIn) (deleteTaskOut, error) {
		gone, err := d.Board.DeleteTask(ctx, c.Ask(), in.TaskID)
		return deleteTaskOut{in.TaskID, true, converted(gone.Kept[:min(len(gone.Kept), maxKept)], keptOut)}, err
	})
}

func keptOut(k board.Cleaned) kept {
	return kept{k.AttemptID, k.Branch, converted(k.Kept, func(why board.Kept) string {
		if why.Repo == "" {
			return string(why.Reason)
		}
		return why.Repo + ": " + string(why.Reason)
	})}
}
