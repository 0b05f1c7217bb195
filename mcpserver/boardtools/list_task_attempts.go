package boardtools

import (
	"context"
	"time"

	"github.com/gantry-run/gantry/board"
	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/specs"
)

type listTaskAttemptsIn struct {
	TaskID string `json:"task_id"`
	Limit  int    `json:"limit"`
	Cursor string `json:"cursor"`
}

type listTaskAttemptsOut struct {
	TaskID          string    `json:"task_id"`
	Attempts        []attempt `json:"attempts"`
	Count           int       `json:"count"`
	LatestAttemptID *string   `json:"latest_attempt_id"`
	LatestSessionID *string   `json:"latest_session_id"`
	NextCursor      *string   `json:"next_cursor"`
}

type attempt struct {
	ID              string    `json:"attempt_id"`
	Branch          string    `json:"workspace_branch"`
	CreatedAt       time.Time `json:"created_at"`
	UpdatedAt       time.Time `json:"updated_at"`
	LatestSessionID *string   `json:"latest_session_id"`
	LatestExecutor  *string   `json:"latest_session_executor"`
}

func (d Deps) listTaskAttempts(s specs.Tool) tool.Tool {
	return tool.New(s, func(ctx context.Context, _ *guard.Call, in listTaskAttemptsIn) (listTaskAttemptsOut, error) {
		page, err := d.Board.Attempts(ctx, in.TaskID, in.Limit, in.Cursor)
		if err != nil {
			return listTaskAttemptsOut{}, err
		}
		if n := fitting(converted(page.Attempts, attemptOut), listBytes); in.Limit == 0 && n < len(page.Attempts) {
			if page, err = d.Board.Attempts(ctx, in.TaskID, n, in.Cursor); err != nil { // for the cursor behind it
				return listTaskAttemptsOut{}, err
			}
		}
		all := converted(page.Attempts, attemptOut)
		return listTaskAttemptsOut{in.TaskID, all, len(all), orNull(page.LatestAttemptID), orNull(page.LatestSessionID), orNull(page.Next)}, nil
	})
}

func attemptOut(a board.Attempt) attempt {
	out := attempt{a.ID, a.Branch, a.CreatedAt.UTC(), a.UpdatedAt.UTC(), orNull(a.SessionID), nil}
	if a.SessionID != "" {
		out.LatestExecutor = orNull(a.Executor)
	}
	return out
}
