package launchtools

import (
	"context"

	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/specs"
)

type openPRIn struct {
	RunID runs.ID `json:"run_id"`
	Draft bool    `json:"draft"`
}

type openPROut struct {
	done
	PRURL     string `json:"pr_url"`
	Branch    string `json:"branch"`
	CommitSHA string `json:"commit_sha"`
}

func (d Deps) openPR(s specs.Tool) tool.Tool {
	return tool.New(s, func(ctx context.Context, c *guard.Call, in openPRIn) (openPROut, error) {
		p, err := d.Launches.OpenPR(ctx, c.Ask(), in.RunID, in.Draft)
		return openPROut{ok(in.RunID), p.URL, p.Branch, p.CommitSHA}, err
	})
}
