package sessions

import (
	"context"
	"encoding/json"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/runs"
)

// stopArgs is what a stop says.
type stopArgs struct {
	Force bool `json:"force,omitempty"`
}

// Stop ends the turn under way and all that it started, and returns when it is over:
// SIGINT, SIGTERM, SIGKILL, two seconds apart; with force SIGKILL at once. A message that
// waits is thrown away. A session without a turn under way is stopped already, and no error.
func (s *Sessions) Stop(ctx context.Context, a Ask, id runs.ID, force bool) (Session, error) {
	v, err := s.view(a.Owner, id)
	if err != nil {
		return Session{}, err
	}
	if v.Busy() {
		args, err := json.Marshal(stopArgs{force})
		if err != nil {
			return Session{}, err
		}
		if _, _, err := s.command(ctx, a, id, stop, args); err != nil && !fault.Is(err, fault.IllegalState) {
			return Session{}, err
		}
		if v, err = s.o.Store.Until(ctx, id, func(v *runs.View) bool { return !v.Busy() }); err != nil {
			return Session{}, err
		}
	}
	return s.session(v)
}

// Archive ends a session for good. While a turn is under way it is RUN_LOCKED, unless force
// says to stop that first. An archived session is archived already, and no error.
func (s *Sessions) Archive(ctx context.Context, a Ask, id runs.ID, force bool) (Session, error) {
	if force {
		if _, err := s.Stop(ctx, Ask{Owner: a.Owner, CallID: a.CallID, Tool: a.Tool}, id, false); err != nil {
			return Session{}, err
		}
	}
	v, err := s.view(a.Owner, id)
	if err != nil {
		return Session{}, err
	}
	if !v.State.Terminal() {
		if _, _, err = s.command(ctx, a, id, archiveIt, nil); err != nil && !fault.Is(err, fault.IllegalState) {
			return Session{}, err
		}
		if v, err = s.o.Store.Until(ctx, id, func(v *runs.View) bool { return v.State.Terminal() }); err != nil {
			return Session{}, err
		}
	}
	return s.session(v)
}
