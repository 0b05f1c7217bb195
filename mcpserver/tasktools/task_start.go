package tasktools

import (
	"context"

	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/specs"
	"github.com/gantry-run/gantry/targets"
	"github.com/gantry-run/gantry/targets/jobs"
)

type taskStartIn struct {
	UniqueName string            `json:"unique_name"`
	Args       []string          `json:"args"`
	Env        map[string]string `json:"env"`
	Cwd        string            `json:"cwd"`
	Wait       *float64          `json:"wait_for_exit_seconds"`
	Keep       bool              `json:"keep"`
}

type taskStartOut struct {
	State     jobs.State `json:"state"`
	PID       int        `json:"pid,omitempty"` // while it runs
	ExitCode  *int       `json:"exit_code,omitempty"`
	Signal    string     `json:"signal,omitempty"`
	Error     string     `json:"error,omitempty"`
	Output    string     `json:"initial_output"`
	Truncated bool       `json:"truncated"`

	run runs.ID
}

func startOut(j jobs.Started) taskStartOut {
	out := taskStartOut{
		State: j.State, ExitCode: j.ExitCode, Signal: j.Signal, Error: j.Error, Output: j.Output, Truncated: j.Truncated, run: j.ID,
	}
	if j.State == jobs.Running {
		out.PID = j.PID
	}
	return out
}

func (d Deps) taskStart(s specs.Tool) tool.Tool {
	return tool.New(s, func(ctx context.Context, c *guard.Call, in taskStartIn) (taskStartOut, error) {
		started, err := d.Jobs.Start(ctx, c.Ask(), jobs.Request{
			Request: targets.Request{Name: in.UniqueName, Args: in.Args, Env: in.Env, Cwd: in.Cwd},
			Wait:    seconds(in.Wait, d.Capture), Keep: in.Keep, Progress: c.Progress,
		})
		if err != nil {
			return taskStartOut{}, err
		}
		c.Record.SetRun(string(started.ID))
		return startOut(started), nil
	})
}
