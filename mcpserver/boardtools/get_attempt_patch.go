package boardtools

import (
	"context"
	"fmt"

	"github.com/gantry-run/gantry/board/changes"
	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/specs"
)

type getAttemptPatchIn struct {
	AttemptID string   `json:"attempt_id"`
	Paths     []string `json:"paths"`
	Force     bool     `json:"force"`
	MaxBytes  int      `json:"max_bytes"`
}

type getAttemptPatchOut struct {
	AttemptID string `json:"attempt_id"`
	Patch     string `json:"patch"`
	Bytes     int    `json:"bytes"`
	Truncated bool   `json:"truncated"`
	blocked
}

// Text implements [tool.Texter].
func (o getAttemptPatchOut) Text() string {
	if o.Blocked {
		return fmt.Sprintf("the patch is blocked: %s; %s", *o.Reason, o.Hint)
	}
	return fmt.Sprintf("a patch of %d bytes", o.Bytes)
}

func (d Deps) getAttemptPatch(s specs.Tool) tool.Tool {
	return tool.New(s, func(ctx context.Context, c *guard.Call, in getAttemptPatchIn) (getAttemptPatchOut, error) {
		if _, err := d.attempt(ctx, c, in.AttemptID); err != nil {
			return getAttemptPatchOut{}, err
		}
		p, err := d.Board.Patch(ctx, in.AttemptID, changes.PatchRequest{Paths: in.Paths, Force: in.Force, MaxBytes: in.MaxBytes})
		return getAttemptPatchOut{in.AttemptID, p.Text, p.Bytes, p.Truncated, blockedOut(p.Blocked, p.Reason)}, err
	})
}
