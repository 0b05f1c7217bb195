package boardtools

import (
	"context"

	"github.com/gantry-run/gantry/board"
	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/specs"
)

type nothing struct{}

type getContextOut struct {
	ProjectID   string          `json:"project_id"`
	ProjectName string          `json:"project_name"`
	TaskID      string          `json:"task_id"`
	TaskTitle   string          `json:"task_title"`
	TaskStatus  board.Status    `json:"task_status"`
	AttemptID   string          `json:"attempt_id"`
	Branch      string          `json:"workspace_branch"`
	Repos       []workspaceRepo `json:"workspace_repos"`
}

type workspaceRepo struct {
	ID           string `json:"repo_id"`
	Name         string `json:"repo_name"`
	TargetBranch string `json:"target_branch"`
}

func (d Deps) getContext(s specs.Tool) tool.Tool {
	return tool.New(s, func(ctx context.Context, _ *guard.Call, _ nothing) (getContextOut, error) {
		at, err := d.Board.Context(ctx, d.Root)
		return getContextOut{
			at.Project.ID, at.Project.Name, at.Task.ID, at.Task.Title, at.Task.Status, at.Attempt.ID, at.Attempt.Branch,
			converted(at.Attempt.Repos, func(r board.AttemptRepo) workspaceRepo { return workspaceRepo{r.RepoID, r.Name, r.TargetBranch} }),
		}, err
	})
}
