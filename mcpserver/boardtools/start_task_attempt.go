package boardtools

import (
	"context"

	"github.com/gantry-run/gantry/board"
	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/specs"
)

type startTaskAttemptIn struct {
	TaskID   string       `json:"task_id"`
	Executor string       `json:"executor"`
	Variant  string       `json:"variant"`
	Model    string       `json:"model"`
	Prompt   string       `json:"prompt"`
	Repos    []repoTarget `json:"repos"`
}

type repoTarget struct {
	RepoID       string `json:"repo_id"`
	TargetBranch string `json:"target_branch"`
}

type startTaskAttemptOut struct {
	TaskID    string `json:"task_id"`
	AttemptID string `json:"attempt_id"`
	SessionID string `json:"session_id"`
	ProcessID string `json:"execution_process_id"`
	Branch    string `json:"workspace_branch"`
}

func (d Deps) startTaskAttempt(s specs.Tool) tool.Tool {
	return tool.New(s, func(ctx context.Context, c *guard.Call, in startTaskAttemptIn) (startTaskAttemptOut, error) {
		a, err := d.Board.StartAttempt(ctx, c.Ask(), board.NewAttempt{
			TaskID: in.TaskID, Executor: in.Executor, Variant: in.Variant, Model: in.Model, Prompt: in.Prompt,
			Repos: converted(in.Repos, func(r repoTarget) board.RepoTarget { return board.RepoTarget(r) }),
		})
		if err != nil {
			return startTaskAttemptOut{}, err
		}
		c.Record.SetRun(a.SessionID)
		return startTaskAttemptOut{a.TaskID, a.ID, a.SessionID, a.TurnID, a.Branch}, nil
	})
}
