package boardtools

import (
	"context"

	"github.com/gantry-run/gantry/agents/entries"
	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/specs"
)

type tailAttemptLogsIn struct {
	AttemptID string          `json:"attempt_id"`
	Channel   entries.Channel `json:"channel"`
	Limit     int             `json:"limit"`
	Cursor    *int64          `json:"cursor"`
	After     *int64          `json:"after_entry_index"`
}

type tailAttemptLogsOut struct {
	AttemptID  string          `json:"attempt_id"`
	ProcessID  *string         `json:"execution_process_id"`
	Channel    entries.Channel `json:"channel"`
	Entries    []entry         `json:"entries"`
	NextCursor *int64          `json:"next_cursor"`
	HasMore    bool            `json:"has_more"`
	NextAfter  *int64          `json:"next_after"`
	Truncated  bool            `json:"history_truncated"` // never: entries are kept as long as their session
}

// Sizes of pages.
const (
	defaultNormalized = 20
	defaultRaw        = 200
	maxEntries        = 1000
)

func (d Deps) tailAttemptLogs(s specs.Tool) tool.Tool {
	return tool.New(s, func(ctx context.Context, c *guard.Call, in tailAttemptLogsIn) (tailAttemptLogsOut, error) {
		if in.Cursor != nil && in.After != nil {
			return tailAttemptLogsOut{}, fault.New(fault.MixedPagination, "both cursor and after_entry_index are given").
				WithHint("use only one pagination mode: cursor for older entries, or after_entry_index for newer ones")
		}
		a, err := d.attempt(ctx, c, in.AttemptID)
		if err != nil {
			return tailAttemptLogsOut{}, err
		}
		if in.Channel == "" {
			in.Channel = entries.Normalized
		}
		out := tailAttemptLogsOut{AttemptID: a.ID, ProcessID: orNull(a.TurnID), Channel: in.Channel, Entries: []entry{}}
		if a.TurnID == "" {
			return out, nil
		}
		q := entries.Query{Limit: in.limit(), MaxBytes: historyBytes, Before: in.Cursor, After: in.After}
		page, err := d.Entries.Page(a.SessionID, a.TurnID, in.Channel, q)
		out.Entries, out.NextCursor, out.HasMore, out.NextAfter = converted(page.Entries, entryOut), page.NextCursor, page.HasMore, page.NextAfter
		return out, err
	})
}

// limit is how many entries are returned at most.
func (in tailAttemptLogsIn) limit() int {
	switch {
	case in.Limit > 0:
		return min(in.Limit, maxEntries)
	case in.Channel == entries.Raw:
		return defaultRaw
	}
	return defaultNormalized
}
