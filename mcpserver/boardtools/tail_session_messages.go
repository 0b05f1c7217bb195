package boardtools

import (
	"context"
	"slices"
	"time"

	"github.com/gantry-run/gantry/agents/sessions"
	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/specs"
)

type tailSessionMessagesIn struct {
	target
	Limit  int  `json:"limit"`
	Cursor *int `json:"cursor"`
}

type tailSessionMessagesOut struct {
	SessionID  runs.ID   `json:"session_id"`
	Entries    []message `json:"entries"`
	NextCursor *int      `json:"next_cursor"`
	HasMore    bool      `json:"has_more"`
}

// message is a turn in the transcript.
type message struct {
	Index     int       `json:"entry_index"`
	TurnID    string    `json:"turn_id"`
	Prompt    string    `json:"prompt"`
	Summary   *string   `json:"summary"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// Sizes of pages.
const (
	defaultMessages = 20
	maxMessages     = 200
)

func (d Deps) tailSessionMessages(s specs.Tool) tool.Tool {
	return tool.New(s, func(ctx context.Context, c *guard.Call, in tailSessionMessagesIn) (tailSessionMessagesOut, error) {
		id, err := d.session(ctx, c, in.target)
		if err != nil {
			return tailSessionMessagesOut{}, err
		}
		turns, err := d.Sessions.Turns(c.Owner(), id)
		return in.page(id, converted(turns, messageOut)), err
	})
}

// page returns the newest turns, or those before the cursor, as many as are asked for and
// fit.
func (in tailSessionMessagesIn) page(id runs.ID, all []message) tailSessionMessagesOut {
	if in.Cursor != nil {
		all = slices.DeleteFunc(all, func(m message) bool { return m.Index >= *in.Cursor })
	}
	limit := defaultMessages
	if in.Limit > 0 {
		limit = min(in.Limit, maxMessages)
	}
	newest := slices.Clone(all[max(0, len(all)-limit):])
	slices.Reverse(newest)
	newest = newest[:fitting(newest, historyBytes)]
	slices.Reverse(newest)
	out := tailSessionMessagesOut{SessionID: id, Entries: newest, HasMore: len(newest) < len(all)}
	if out.HasMore {
		out.NextCursor = &newest[0].Index
	}
	return out
}

func messageOut(t sessions.Turn) message {
	updated := t.Started
	if !t.Ended.IsZero() {
		updated = t.Ended
	}
	return message{t.Index, t.ID, t.Prompt, orNull(t.Summary.LastMessage), t.Started.UTC(), updated.UTC()}
}
