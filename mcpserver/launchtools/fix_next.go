package launchtools

import (
	"context"

	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/specs"
)

type fixNextOut struct {
	done
	IssueID   string                   `json:"fixed_issue_id"`
	PatchIDs  []string                 `json:"applied_patch_ids"`
	Remaining int                      `json:"remaining_issues"`
	Blockers  int                      `json:"remaining_blockers"`
	Report    dossier.ValidationReport `json:"validation_report"`
}

func (d Deps) fixNext(s specs.Tool) tool.Tool {
	return tool.New(s, func(ctx context.Context, c *guard.Call, in run) (fixNextOut, error) {
		f, err := d.Launches.FixNext(ctx, c.Ask(), in.RunID)
		return fixNextOut{ok(in.RunID), f.IssueID, nonNil(f.PatchIDs), f.Remaining, f.Blockers, f.Report}, err
	})
}
