package boardtools

import (
	"context"
	"time"

	"github.com/gantry-run/gantry/board"
	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/specs"
)

type attemptIn struct {
	AttemptID string `json:"attempt_id"`
}

type attemptStatus struct {
	ID              string      `json:"attempt_id"`
	TaskID          string      `json:"task_id"`
	Branch          string      `json:"workspace_branch"`
	CreatedAt       time.Time   `json:"created_at"`
	UpdatedAt       time.Time   `json:"updated_at"`
	LatestSessionID *string     `json:"latest_session_id"`
	LatestProcessID *string     `json:"latest_execution_process_id"`
	State           board.State `json:"state"`
	LastActivityAt  *time.Time  `json:"last_activity_at"`
	FailureSummary  *string     `json:"failure_summary"`
}

func (d Deps) getAttemptStatus(s specs.Tool) tool.Tool {
	return tool.New(s, func(ctx context.Context, c *guard.Call, in attemptIn) (attemptStatus, error) {
		a, err := d.attempt(ctx, c, in.AttemptID)
		return attemptStatus{
			a.ID, a.TaskID, a.Branch, a.CreatedAt.UTC(), a.UpdatedAt.UTC(), orNull(a.SessionID), orNull(a.TurnID), a.State,
			timeOrNull(a.LastActivityAt), orNull(a.FailureSummary),
		}, err
	})
}
