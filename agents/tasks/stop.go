package tasks

import (
	"context"
	"errors"

	"github.com/gantry-run/gantry/agents/sessions"
	"github.com/gantry-run/gantry/agents/taskstore"
	"github.com/gantry-run/gantry/internal/fault"
)

// Stopped says what a stop did to a task.
type Stopped struct {
	ID      string
	Already bool // it was not running
}

// Stop ends what an agent is doing for a task, and what that started. The task is STOPPED
// then, and can be gone on with. One that is not running is stopped already. A task that
// another program runs is ILLEGAL_STATE.
func (t *Tasks) Stop(ctx context.Context, a Ask, id string, force bool) (Stopped, error) {
	s, err := t.o.Sessions.Find(a.Owner, id)
	if err == nil {
		return t.stop(ctx, a, s, force)
	}
	if !fault.Is(err, fault.SessionNotFound) {
		return Stopped{}, err
	}
	f, err := t.foreign(id)
	if err != nil {
		return Stopped{}, err
	}
	if f.State == taskstore.Running {
		return Stopped{}, fault.New(fault.IllegalState, "another program is running the task %s", id).WithHint("stop it with the program that started it")
	}
	return Stopped{id, true}, nil
}

func (t *Tasks) stop(ctx context.Context, a Ask, s sessions.Session, force bool) (Stopped, error) {
	running := s.State == sessions.Running
	s, err := t.o.Sessions.Stop(ctx, a, s.ID, force)
	return Stopped{s.Name, !running || err == nil && s.Last.State == sessions.TurnCompleted}, err
}

// StopAll stops every session that is running and that the caller may see. It is
// ACCESS_DENIED unless the server allows it.
func (t *Tasks) StopAll(ctx context.Context, a Ask, force bool) ([]Stopped, error) {
	if !t.o.StopAll {
		return nil, fault.New(fault.AccessDenied, "this server does not stop all tasks at once").
			WithHint("stop them one by one with task_id; allow_stop_all in [server], or --allow-unsafe, allows all")
	}
	out := []Stopped{}
	var failed []error
	for cursor := ""; ; {
		page, err := t.o.Sessions.List(ctx, sessions.Filter{Owner: a.Owner, State: sessions.Running, Limit: 100, Cursor: cursor})
		if err != nil {
			return out, err
		}
		for _, s := range page.Sessions {
			one, err := t.stop(ctx, Ask{Owner: a.Owner, CallID: a.CallID, Tool: a.Tool}, s, force)
			if failed = append(failed, err); err == nil {
				out = append(out, one)
			}
		}
		if cursor = page.Next; cursor == "" {
			return out, errors.Join(failed...)
		}
	}
}
