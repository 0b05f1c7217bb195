package launchtools

import (
	"context"
	"time"

	"github.com/gantry-run/gantry/launch"
	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/specs"
)

type listRunsIn struct {
	Filter struct {
		Product string `json:"product_slug"`
		State   string `json:"state"`
	} `json:"filter"`
	Limit  int    `json:"limit"`
	Cursor string `json:"cursor"`
}

type listRunsOut struct {
	OK         bool     `json:"ok"`
	Runs       []listed `json:"runs"`
	NextCursor *string  `json:"next_cursor"`
}

type listed struct {
	RunID      runs.ID    `json:"run_id"`
	Product    string     `json:"product_slug"`
	State      runs.State `json:"state"`
	StartedAt  time.Time  `json:"started_at"`
	FinishedAt *time.Time `json:"finished_at"`
}

func (d Deps) listRuns(s specs.Tool) tool.Tool {
	return tool.New(s, func(ctx context.Context, c *guard.Call, in listRunsIn) (listRunsOut, error) {
		page, err := d.Launches.List(ctx, c.Owner(), launch.Filter{
			Product: in.Filter.Product, State: in.Filter.State, Limit: limit(in.Limit), Cursor: in.Cursor,
		})
		out := listRunsOut{OK: true, Runs: []listed{}, NextCursor: cursor(page.NextCursor)}
		for _, r := range page.Runs {
			out.Runs = append(out.Runs, listed{r.ID, r.Product, r.State, r.CreatedAt, r.FinishedAt})
		}
		return out, err
	})
}
