package boardtools

import (
	"context"

	"github.com/gantry-run/gantry/board/changes"
	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/specs"
)

type getAttemptChangesIn struct {
	AttemptID string `json:"attempt_id"`
	Force     bool   `json:"force"`
	Limit     int    `json:"limit"`
	Cursor    string `json:"cursor"`
}

type getAttemptChangesOut struct {
	AttemptID string        `json:"attempt_id"`
	Summary   changeSummary `json:"summary"`
	blocked
	Files      []changedFile `json:"files"`
	NextCursor *string       `json:"next_cursor"`
}

type changeSummary struct {
	FileCount  int   `json:"file_count"`
	Added      int   `json:"added"`
	Deleted    int   `json:"deleted"`
	TotalBytes int64 `json:"total_bytes"`
}

type changedFile struct {
	Path    string `json:"path"`
	Status  string `json:"status"`
	OldPath string `json:"old_path,omitempty"`
	Added   int    `json:"added"`
	Deleted int    `json:"deleted"`
	Binary  bool   `json:"binary"`
	OldMode string `json:"old_mode,omitempty"`
	NewMode string `json:"new_mode,omitempty"`
}

func (d Deps) getAttemptChanges(s specs.Tool) tool.Tool {
	return tool.New(s, func(ctx context.Context, c *guard.Call, in getAttemptChangesIn) (getAttemptChangesOut, error) {
		if _, err := d.attempt(ctx, c, in.AttemptID); err != nil {
			return getAttemptChangesOut{}, err
		}
		list, err := d.Board.Changes(ctx, in.AttemptID, in.Force)
		if err != nil {
			return getAttemptChangesOut{}, err
		}
		page, next, err := paged(converted(list.Files, changedFileOut), func(f changedFile) string { return f.Path }, in.Limit, in.Cursor, historyBytes)
		return getAttemptChangesOut{in.AttemptID, changeSummary(list.Summary), blockedOut(list.Blocked, list.Reason), page, next}, err
	})
}

func changedFileOut(f changes.FileChange) changedFile {
	return changedFile{f.Path, f.Status, f.OldPath, f.Added, f.Deleted, f.Binary, f.OldMode, f.NewMode}
}
