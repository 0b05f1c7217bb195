package agenttools

import (
	"context"

	"github.com/gantry-run/gantry/agents/tasks"
	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/specs"
)

type taskStopIn struct {
	ID    string `json:"task_id"`
	All   bool   `json:"all"`
	Force bool   `json:"force"`
}

type stopReport struct {
	ID      string `json:"task_id"`
	Outcome string `json:"outcome"`
}

type stopSummary struct {
	Stopped int `json:"stopped"`
	Already int `json:"already_stopped"`
}

type taskStopOut struct {
	Reports []stopReport `json:"reports"`
	Summary stopSummary  `json:"summary"`
}

func (d Deps) taskStop(s specs.Tool) tool.Tool {
	return tool.New(s, func(ctx context.Context, c *guard.Call, in taskStopIn) (taskStopOut, error) {
		switch {
		case in.All && in.ID != "":
			return taskStopOut{}, fault.New(fault.AmbiguousTarget, "task_id and all are both given").WithHint("give exactly one of task_id and all")
		case in.All:
			stopped, err := d.Tasks.StopAll(ctx, c.Ask(), in.Force)
			return stoppedOut(stopped), err
		case in.ID == "":
			return taskStopOut{}, fault.New(fault.MissingRequired, "neither task_id nor all is given").WithHint("give exactly one of task_id and all")
		}
		stopped, err := d.Tasks.Stop(ctx, c.Ask(), in.ID, in.Force)
		return stoppedOut([]tasks.Stopped{stopped}), err
	})
}

func stoppedOut(all []tasks.Stopped) taskStopOut {
	out := taskStopOut{Reports: []stopReport{}}
	for _, t := range all {
		if t.Already {
			out.Reports = append(out.Reports, stopReport{t.ID, "already_stopped"})
			out.Summary.Already++
		} else {
			out.Reports = append(out.Reports, stopReport{t.ID, "stopped"})
			out.Summary.Stopped++
		}
	}
	return out
}
