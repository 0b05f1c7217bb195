package boardtools

import (
	"context"
	"time"

	"github.com/gantry-run/gantry/board"
	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/specs"
)

type listTasksIn struct {
	ProjectID string       `json:"project_id"`
	Status    board.Status `json:"status"`
	Limit     int          `json:"limit"`
	Cursor    string       `json:"cursor"`
}

type listTasksOut struct {
	ProjectID  string     `json:"project_id"`
	Tasks      []listed   `json:"tasks"`
	Count      int        `json:"count"`
	Filters    taskFilter `json:"applied_filters"`
	NextCursor *string    `json:"next_cursor"`
}

type taskFilter struct {
	Status *board.Status `json:"status"`
	Limit  int           `json:"limit"`
}

// listed is a task as a list shows it.
type listed struct {
	ID        string       `json:"task_id"`
	Title     string       `json:"title"`
	Status    board.Status `json:"status"`
	CreatedAt time.Time    `json:"created_at"`
	UpdatedAt time.Time    `json:"updated_at"`
	attemptSummary
}

type attemptSummary struct {
	LatestAttemptID *string `json:"latest_attempt_id"`
	LatestBranch    *string `json:"latest_workspace_branch"`
	LatestSessionID *string `json:"latest_session_id"`
	LatestExecutor  *string `json:"latest_session_executor"`
	InProgress      bool    `json:"has_in_progress_attempt"`
	LastFailed      bool    `json:"last_attempt_failed"`
}

func (d Deps) listTasks(s specs.Tool) tool.Tool {
	return tool.New(s, func(ctx context.Context, _ *guard.Call, in listTasksIn) (listTasksOut, error) {
		f := board.TaskFilter{ProjectID: in.ProjectID, Status: in.Status, Limit: in.Limit, Cursor: in.Cursor}
		page, err := d.Board.Tasks(ctx, f)
		if err != nil {
			return listTasksOut{}, err
		}
		limit := page.Limit
		if n := fitting(converted(page.Tasks, listedOut), listBytes); in.Limit == 0 && n < len(page.Tasks) {
			f.Limit = n // for the cursor behind it
			if page, err = d.Board.Tasks(ctx, f); err != nil {
				return listTasksOut{}, err
			}
		}
		all := converted(page.Tasks, listedOut)
		return listTasksOut{in.ProjectID, all, len(all), taskFilter{orNull(in.Status), limit}, orNull(page.Next)}, nil
	})
}

func listedOut(t board.Task) listed {
	return listed{t.ID, t.Title, t.Status, t.CreatedAt.UTC(), t.UpdatedAt.UTC(), summaryOut(t.Attempts)}
}

func summaryOut(a board.AttemptSummary) attemptSummary {
	return attemptSummary{
		orNull(a.LatestAttemptID), orNull(a.LatestBranch), orNull(a.LatestSessionID), orNull(a.LatestExecutor), a.InProgress, a.LastFailed,
	}
}
