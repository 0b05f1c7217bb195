package launchtools

import (
	"context"
	"encoding/json"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/launch"
	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/runs"
)

// Handles follows launches for those who hold their handles. A launch that pauses has a
// question: which of the verbs that lead on it is to take.
type Handles struct{ Launches *launch.Service }

// Goes implements [tool.Goer].
func (s started) Goes() runs.ID { return s.RunID }

// Handle implements [tool.Handles].
func (h Handles) Handle(ctx context.Context, who guard.Caller, id runs.ID) (tool.Handle, error) {
	st, err := h.Launches.Status(ctx, id, who.Owner())
	if err != nil {
		return tool.Handle{}, err
	}
	out := tool.Handle{Toolset: Toolset, Tool: st.Tool, Created: st.Created, Updated: st.Updated, Message: message(st)}
	switch {
	case st.State == runs.StateDone:
		out.Result, err = h.result(st, who)
	case st.State == runs.StateCancelled:
		out.Cancelled = true
	case st.State == runs.StateFailed:
		f := st.Failure
		failed := &fault.Fault{Code: fault.Code(f.Code), Message: f.Message, Retryable: f.Retryable, Hint: f.Hint}
		if f.Details != nil {
			failed.Details = f.Details
		}
		out.Failure = failed
	case st.Question() != "":
		out.Question = &tool.Question{Key: st.Question(), Message: out.Message, Choices: st.Choices()}
	}
	return out, err
}

// message says how a launch is in one line.
func message(st launch.Status) string {
	text := string(st.State)
	if st.Next == nil {
		return text
	}
	text += ": " + st.Next.Reason
	if st.Paused != nil {
		for i, name := range st.Next.Tools {
			if i == 0 {
				text += "; go on with " + name
			} else {
				text += " or " + name
			}
		}
	}
	return text
}

// result is what the call that started a launch would have returned, had it waited: the same
// members, and the state that the launch has come to.
func (h Handles) result(st launch.Status, who guard.Caller) (*tool.Result, error) {
	derived, err := h.Launches.Derived(st.ID, who.Owner())
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(struct {
		started
		Derived json.RawMessage `json:"derived_config,omitempty"`
	}{started{ok(st.ID), st.State}, derived})
	return &tool.Result{JSON: raw}, err
}

// Cancel implements [tool.Handles].
func (h Handles) Cancel(ctx context.Context, c *guard.Call, id runs.ID) error {
	_, err := h.Launches.Cancel(ctx, c.Ask(), id)
	if fault.Is(err, fault.IllegalState) {
		return nil // it is over
	}
	return err
}

// Answer implements [tool.Handles].
func (h Handles) Answer(ctx context.Context, c *guard.Call, id runs.ID, key, choice string) error {
	return h.Launches.Answer(ctx, c.Ask(), id, key, choice)
}
