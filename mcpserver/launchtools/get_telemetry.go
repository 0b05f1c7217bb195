package launchtools

import (
	"context"

	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/specs"
	"github.com/gantry-run/gantry/telemetry"
)

// recordsPage is how many records a page has when the caller does not say: they
// are long, and a page stays short.
const recordsPage = 10

type getTelemetryIn struct {
	run
	Limit  int    `json:"limit"`
	Cursor string `json:"cursor"`
}

type getTelemetryOut struct {
	done
	Records    []telemetry.Record `json:"records"`
	Summary    telemetry.Summary  `json:"summary"`
	NextCursor *string            `json:"next_cursor"`
}

func (d Deps) getTelemetry(s specs.Tool) tool.Tool {
	return tool.New(s, func(ctx context.Context, c *guard.Call, in getTelemetryIn) (getTelemetryOut, error) {
		if err := d.Launches.Visible(in.RunID, c.Owner()); err != nil {
			return getTelemetryOut{}, err
		}
		// The run's own records are made from its journal when somebody asks.
		events := d.Store.Events(in.RunID, d.Telemetry.Projected(in.RunID))
		if err := d.Telemetry.Project(ctx, in.RunID, events); err != nil {
			return getTelemetryOut{}, err
		}
		if in.Limit == 0 {
			in.Limit = recordsPage
		}
		page, err := d.Telemetry.Records(ctx, telemetry.Query{RunID: string(in.RunID), Limit: in.Limit, Cursor: in.Cursor})
		return getTelemetryOut{ok(in.RunID), nonNil(page.Records), page.Summary, cursor(page.NextCursor)}, err
	})
}
