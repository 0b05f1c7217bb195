package launchtools

import (
	"context"

	"github.com/gantry-run/gantry/launch/quickstart"
	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/specs"
)

type fromGitHubIn struct {
	URL string `json:"github_repo_url"`
}

type fromGitHubOut struct {
	started
	Derived quickstart.DerivedFromRepository `json:"derived_config"`
}

func (d Deps) startFromGitHub(s specs.Tool) tool.Tool {
	return tool.New(s, func(ctx context.Context, c *guard.Call, in fromGitHubIn) (fromGitHubOut, error) {
		r, derived, err := d.Launches.FromGitHub(ctx, c.Ask(), in.URL, c.Tell)
		if err != nil {
			return fromGitHubOut{}, err
		}
		c.Record.SetRun(string(r.ID))
		return fromGitHubOut{started{ok(r.ID), r.State}, derived}, nil
	})
}
