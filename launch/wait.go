package launch

import (
	"context"
	"slices"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/runs"
)

// Wait returns the status of a run when it pauses or is over, or after d. tell is told of
// every step that the run comes to meanwhile. A context that ends leaves the run alone.
func (s *Service) Wait(ctx context.Context, id runs.ID, owner string, d time.Duration, tell func(string, ...any)) (Status, error) {
	if err := s.Visible(id, owner); err != nil {
		return Status{}, err
	}
	soon, stop := context.WithTimeout(ctx, d)
	defer stop()
	at := ""
	_, err := s.o.Store.Until(soon, id, func(v *runs.View) bool {
		if v.Node != at {
			at = v.Node
			tell("%s: %s", v.State, v.Node)
		}
		return resting(v)
	})
	switch {
	case ctx.Err() != nil:
		return Status{}, context.Cause(ctx)
	case err != nil && soon.Err() == nil && !fault.Is(err, fault.EventChainBroken): // which the status tells of
		return Status{}, err
	}
	return s.Status(ctx, id, owner)
}

// resting reports whether nothing happens to a run until somebody does something.
func resting(v *runs.View) bool {
	return !v.Busy() && !slices.ContainsFunc(v.Commands, func(c runs.CommandState) bool {
		return c.Status == runs.Pending || c.Status == runs.Active
	})
}
