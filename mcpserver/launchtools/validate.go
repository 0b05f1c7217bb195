package launchtools

import (
	"context"

	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/specs"
)

type validateOut struct {
	done
	Report dossier.ValidationReport `json:"validation_report"`
}

func (d Deps) validate(s specs.Tool) tool.Tool {
	return tool.New(s, func(ctx context.Context, c *guard.Call, in run) (validateOut, error) {
		report, err := d.Launches.Validate(ctx, c.Ask(), in.RunID)
		return validateOut{ok(in.RunID), report}, err
	})
}
