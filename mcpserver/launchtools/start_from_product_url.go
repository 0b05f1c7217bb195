package launchtools

import (
	"context"

	"github.com/gantry-run/gantry/launch/quickstart"
	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/specs"
)

type fromProductIn struct {
	URL string `json:"url"`
}

type fromProductOut struct {
	started
	Derived quickstart.DerivedFromProduct `json:"derived_config"`
}

func (d Deps) startFromProductURL(s specs.Tool) tool.Tool {
	return tool.New(s, func(ctx context.Context, c *guard.Call, in fromProductIn) (fromProductOut, error) {
		r, derived, err := d.Launches.FromProductURL(ctx, c.Ask(), in.URL)
		if err != nil {
			return fromProductOut{}, err
		}
		c.Record.SetRun(string(r.ID))
		return fromProductOut{started{ok(r.ID), r.State}, derived}, nil
	})
}
