package boardtools

import (
	"context"
	"fmt"

	"github.com/gantry-run/gantry/board/changes"
	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/specs"
)

type getAttemptFileIn struct {
	AttemptID string `json:"attempt_id"`
	Path      string `json:"path"`
	Start     int64  `json:"start"`
	MaxBytes  int    `json:"max_bytes"`
}

type getAttemptFileOut struct {
	AttemptID string `json:"attempt_id"`
	Path      string `json:"path"`
	Content   string `json:"content"`
	Start     int64  `json:"start"`
	Bytes     int    `json:"bytes"`
	Size      int64  `json:"size_bytes"`
	Truncated bool   `json:"truncated"`
	blocked
}

// Text implements [tool.Texter].
func (o getAttemptFileOut) Text() string {
	if o.Blocked {
		return fmt.Sprintf("%s is blocked: %s; %s", o.Path, *o.Reason, o.Hint)
	}
	return fmt.Sprintf("%s: %d bytes from %d, of %d", o.Path, o.Bytes, o.Start, o.Size)
}

func (d Deps) getAttemptFile(s specs.Tool) tool.Tool {
	return tool.New(s, func(ctx context.Context, c *guard.Call, in getAttemptFileIn) (getAttemptFileOut, error) {
		if _, err := d.attempt(ctx, c, in.AttemptID); err != nil {
			return getAttemptFileOut{}, err
		}
		f, err := d.Board.File(ctx, in.AttemptID, changes.FileRequest{Path: in.Path, Start: in.Start, MaxBytes: in.MaxBytes})
		return getAttemptFileOut{in.AttemptID, in.Path, f.Text, in.Start, f.Bytes, f.Size, f.Truncated, blockedOut(f.Blocked, f.Reason)}, err
	})
}
