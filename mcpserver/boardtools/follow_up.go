package boardtools

import (
	"context"
	"time"

	"github.com/gantry-run/gantry/agents/sessions"
	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/specs"
)

type followUpIn struct {
	target
	Action  action `json:"action"`
	Prompt  string `json:"prompt"`
	Variant string `json:"variant"`
}

// action is what is done about a session.
type action string

const (
	send   action = "send"
	queue  action = "queue"
	cancel action = "cancel"
)

type followUpOut struct {
	SessionID runs.ID `json:"session_id"`
	Action    action  `json:"action"`
	ProcessID string  `json:"execution_process_id,omitempty"`
	Status    string  `json:"status,omitempty"`
	Queued    *queued `json:"queued_message,omitempty"`
}

// queued is a message that waits for the end of a turn.
type queued struct {
	SessionID runs.ID   `json:"session_id"`
	Message   string    `json:"message"`
	Variant   *string   `json:"variant"`
	QueuedAt  time.Time `json:"queued_at"`
}

func (d Deps) followUp(s specs.Tool) tool.Tool {
	return tool.New(s, func(ctx context.Context, c *guard.Call, in followUpIn) (followUpOut, error) {
		id, err := d.session(ctx, c, in.target)
		if err != nil {
			return followUpOut{}, err
		}
		c.Record.SetRun(string(id))
		out := followUpOut{SessionID: id, Action: in.Action}
		switch in.Action {
		case send:
			turn, err := d.Sessions.Send(ctx, c.Ask(), id, in.Prompt, in.Variant)
			out.ProcessID = turn.ID
			return out, err
		case queue:
			q, err := d.Sessions.Queue(ctx, c.Ask(), id, in.Prompt, in.Variant)
			return out.with(q), err
		}
		out.Status = "empty"
		return out, d.Sessions.Unqueue(ctx, c.Ask(), id)
	})
}

// with says what became of a message: it waits, or it is a turn already since none was
// under way.
func (o followUpOut) with(q sessions.Queued) followUpOut {
	if q.Turn != nil {
		o.Status, o.ProcessID = "empty", q.Turn.ID
		return o
	}
	o.Status, o.Queued = "queued", &queued{o.SessionID, q.Message, orNull(q.Variant), q.At.UTC()}
	return o
}
