package sessions

import (
	"context"
	"encoding/json"

	"github.com/gantry-run/gantry/agents"
	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/runs"
)

// Send gives a session its next prompt and returns when the turn is recorded. While a turn
// is under way it is RUN_LOCKED, retryable: [Sessions.Queue] is for that. An archived
// session is ILLEGAL_STATE, an unknown one SESSION_NOT_FOUND. An empty variant is that of
// the turn before.
func (s *Sessions) Send(ctx context.Context, a Ask, id runs.ID, prompt, variant string) (Turn, error) {
	v, c, err := s.say(ctx, a, id, followUp, prompt, variant)
	if err != nil {
		return Turn{}, err
	}
	t, err := turnOfCommand(v, c.ID)
	if err == nil && t == nil {
		err = fault.New(fault.Internal, "the follow-up led to no turn")
	}
	if err != nil {
		return Turn{}, err
	}
	return *t, nil
}

// Queue leaves a message that becomes a turn when the turn under way is complete; it is
// thrown away if that fails or is stopped. It replaces a message that waits. When no turn
// is under way it becomes one at once.
func (s *Sessions) Queue(ctx context.Context, a Ask, id runs.ID, prompt, variant string) (Queued, error) {
	v, c, err := s.say(ctx, a, id, queue, prompt, variant)
	if err != nil {
		return Queued{}, err
	}
	q, err := s.queued(v, c)
	if err == nil {
		q.Turn, err = turnOfCommand(v, c.ID)
	}
	return q, err
}

// say posts a command with a prompt, and returns it when something became of it.
func (s *Sessions) say(ctx context.Context, a Ask, id runs.ID, kind, prompt, variant string) (*runs.View, runs.CommandState, error) {
	none := runs.CommandState{}
	v, err := s.view(a.Owner, id)
	if err != nil {
		return nil, none, err
	}
	in, err := inputOf(v)
	if err != nil {
		return nil, none, err
	}
	if variant == "" {
		variant = lastAsk(v, in).Variant
	}
	asked, err := newAsk(prompt, agents.Normalize(variant))
	if err != nil {
		return nil, none, err
	}
	if err := s.admits(v, a, kind); err != nil {
		return nil, none, err
	}
	if err := s.o.ready(in, asked, prompt); err != nil {
		return nil, none, err
	}
	if err := asked.keep(s.o.Store.Dir(id), prompt); err != nil {
		return nil, none, err
	}
	args, err := json.Marshal(asked)
	if err != nil {
		return nil, none, err
	}
	return s.command(ctx, a, id, kind, args)
}

// lastAsk returns what the newest turn was asked with.
func lastAsk(v *runs.View, in input) ask {
	all := turns(v)
	if len(all) == 0 {
		return in.ask
	}
	if a, err := askOf(v, in, all[len(all)-1]); err == nil {
		return a
	}
	return in.ask
}

// admits refuses at once what the planner would refuse, unless the key is that of an
// earlier request, whose answer is the same again.
func (s *Sessions) admits(v *runs.View, a Ask, kind string) error {
	if a.Once != nil {
		if _, known := v.Keyed(a.Once.Key, s.o.Now()); known {
			return nil
		}
	}
	switch {
	case v.State.Terminal():
		return over(v)
	case v.Busy() && kind == followUp:
		return locked(v.RunID)
	}
	return nil
}

func over(v *runs.View) error {
	return fault.New(fault.IllegalState, "session %s is %s", v.RunID, stateOf(v)).WithHint("start a new one")
}

func locked(id runs.ID) error {
	return fault.Retry(fault.RunLocked, "a turn of session %s is under way", id).WithHint("wait for its end, queue the message, or stop the turn")
}

// command posts a command and returns it, with the view, when something became of it. What
// was refused is a fault.
func (s *Sessions) command(ctx context.Context, a Ask, id runs.ID, kind string, args json.RawMessage) (*runs.View, runs.CommandState, error) {
	none := runs.CommandState{}
	cmd, err := s.o.Engine.Command(ctx, id, runs.Command{Type: kind, Args: args, Once: a.Once, CallID: a.CallID, Tool: a.Tool})
	if err != nil {
		return nil, none, err
	}
	v, err := s.o.Store.Until(ctx, id, func(v *runs.View) bool {
		c, _ := v.Command(cmd)
		return c.Status != "" && c.Status != runs.Pending
	})
	if err != nil {
		return nil, none, err
	}
	c, _ := v.Command(cmd)
	if c.Status != runs.Refused {
		return v, c, nil
	}
	f := c.Receipt.Failure
	switch {
	case f.Code == string(fault.RunLocked):
		return nil, none, locked(id)
	case v.State.Terminal():
		return nil, none, over(v)
	}
	return nil, none, &fault.Fault{Code: fault.Code(f.Code), Message: f.Message, Retryable: f.Retryable, Hint: f.Hint}
}

// Unqueue throws the message away that waits, if there is one.
func (s *Sessions) Unqueue(ctx context.Context, a Ask, id runs.ID) error {
	v, err := s.view(a.Owner, id)
	if err != nil {
		return err
	}
	if !v.Busy() {
		return nil // nothing waits
	}
	_, _, err = s.command(ctx, a, id, unqueue, nil)
	return err
}
