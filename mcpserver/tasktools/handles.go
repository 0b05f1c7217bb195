package tasktools

import (
	"context"
	"encoding/json"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/targets/jobs"
)

// Handles follows jobs for those who hold their handles. A job that has ended, in whatever
// way, is a result of task_start; one that was stopped by request is cancelled.
type Handles struct{ Jobs *jobs.Service }

// Goes implements [tool.Goer]. A job that has ended within the wait is told at once.
func (o taskStartOut) Goes() runs.ID {
	if o.State == jobs.Running {
		return o.run
	}
	return ""
}

// Handle implements [tool.Handles].
func (h Handles) Handle(_ context.Context, who guard.Caller, id runs.ID) (tool.Handle, error) {
	j, err := h.Jobs.Followed(who.Owner(), id)
	if err != nil {
		return tool.Handle{}, err
	}
	out := tool.Handle{
		Toolset: Toolset, Tool: "task_start", Created: j.Started.Started, Updated: j.Updated, Message: j.UniqueName + ": " + string(j.State),
		Cancelled: j.Stopped,
	}
	if j.State == jobs.Running || j.Stopped {
		return out, nil
	}
	raw, err := json.Marshal(startOut(j.Started))
	out.Result = &tool.Result{JSON: raw}
	return out, err
}

// stopGrace is how long a job that is cancelled may take to end by itself.
const stopGrace = 5 * time.Second

// Cancel implements [tool.Handles].
func (h Handles) Cancel(ctx context.Context, c *guard.Call, id runs.ID) error {
	j, err := h.Jobs.Followed(c.Owner(), id)
	if err != nil || j.State != jobs.Running {
		return err
	}
	_, err = h.Jobs.StopJob(ctx, j.Job, stopGrace)
	if fault.Is(err, fault.IllegalState) {
		return nil // it has ended meanwhile
	}
	return err
}

// Answer implements [tool.Handles]. Jobs ask nothing.
func (h Handles) Answer(context.Context, *guard.Call, runs.ID, string, string) error { return nil }
