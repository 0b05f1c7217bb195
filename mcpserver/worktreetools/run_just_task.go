package worktreetools

import (
	"context"
	"time"

	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/specs"
	"github.com/gantry-run/gantry/targets/jobs"
	"github.com/gantry-run/gantry/worktree"
)

type runJustTaskIn struct {
	TaskName string   `json:"task_name"`
	Args     []string `json:"args"`
	Timeout  *float64 `json:"timeout_seconds"`
}

type runJustTaskOut struct {
	ExitCode  *int   `json:"exit_code"`
	Stdout    string `json:"stdout"`
	Stderr    string `json:"stderr"`
	TimedOut  bool   `json:"timed_out"`
	Truncated bool   `json:"truncated"`
	Signal    string `json:"signal,omitempty"`
	Error     string `json:"error,omitempty"`
}

// defaultTimeout is the schema's.
const defaultTimeout = 120 * time.Second

func (d Deps) runJustTask(s specs.Tool) tool.Tool {
	return tool.New(s, func(ctx context.Context, c *guard.Call, in runJustTaskIn) (runJustTaskOut, error) {
		timeout := defaultTimeout
		if in.Timeout != nil {
			timeout = time.Duration(*in.Timeout * float64(time.Second))
		}
		a := jobs.Ask{Owner: c.Owner(), Once: c.Once, Tool: c.Tool.Name}
		if c.Record != nil {
			a.CallID = c.Record.ID()
		}
		done, err := d.Tree.RunJust(ctx, a, worktree.JustRequest{Recipe: in.TaskName, Args: in.Args, Timeout: timeout, Progress: c.Progress})
		if err != nil {
			return runJustTaskOut{}, err
		}
		c.Record.SetRun(string(done.ID))
		return runJustTaskOut{done.ExitCode, done.Stdout, done.Stderr, done.TimedOut, done.Truncated, done.Signal, done.Error}, nil
	})
}
