package agenttools

import (
	"context"

	"github.com/gantry-run/gantry/agents/tasks"
	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/specs"
)

type codexIn struct {
	Prompt   string `json:"prompt"`
	Cwd      string `json:"cwd"`
	Model    string `json:"model"`
	Sandbox  string `json:"sandbox"`
	Approval string `json:"approval-policy"` // nobody can be asked
}

// codexOut is what both tools of the pair answer.
type codexOut struct {
	Thread  string `json:"threadId"`
	Content string `json:"content"`
}

// Text implements [tool.Texter]: the former server answered with the message alone.
func (o codexOut) Text() string { return o.Content }

func (d Deps) codex(s specs.Tool) tool.Tool {
	return tool.New(s, func(ctx context.Context, c *guard.Call, in codexIn) (codexOut, error) {
		r := tasks.StartRequest{Prompt: in.Prompt, WorkingDir: in.Cwd, Model: in.Model, Executor: "CODEX"}
		if in.Sandbox == "read-only" {
			r.Variant = "READ_ONLY"
		}
		t, err := d.Tasks.Start(ctx, c.Ask(), r, c.Progress)
		if err != nil {
			return codexOut{}, err
		}
		return d.ended(ctx, c, t)
	})
}

// ended answers when the task's turn is over.
func (d Deps) ended(ctx context.Context, c *guard.Call, t tasks.Task) (codexOut, error) {
	t, err := d.Tasks.Ended(ctx, c.Owner(), t, c.Progress)
	return codexOut{t.ID, t.LastResult}, err
}
