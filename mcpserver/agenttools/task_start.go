package agenttools

import (
	"context"

	"github.com/gantry-run/gantry/agents/tasks"
	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/specs"
)

type taskStartIn struct {
	Prompt     string `json:"prompt"`
	Title      string `json:"title"`
	WorkingDir string `json:"working_dir"`
	Executor   string `json:"executor"`
	Model      string `json:"model"`
	Variant    string `json:"variant"`
	Config     string `json:"config"`
	RepoURL    string `json:"repo_url"`
	RepoRef    string `json:"repo_ref"`
}

func (d Deps) taskStart(s specs.Tool) tool.Tool {
	return tool.New(s, func(ctx context.Context, c *guard.Call, in taskStartIn) (startedOut, error) {
		t, err := d.Tasks.Start(ctx, c.Ask(), tasks.StartRequest{
			Prompt: in.Prompt, Title: in.Title, Config: in.Config, WorkingDir: in.WorkingDir, RepoURL: in.RepoURL, RepoRef: in.RepoRef,
			Executor: in.Executor, Variant: in.Variant, Model: in.Model,
		}, c.Progress)
		out, err := one(c, t, err)
		return startedOut{out}, err
	})
}
