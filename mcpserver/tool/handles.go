package tool

import (
	"context"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/runs"
)

// Handles follows the runs that calls of a toolset have started, for clients that are given
// a handle in place of the result. The handle is the id of the run, so nothing is kept of it
// and it holds for as long as the run is known.
type Handles interface {
	// Handle returns how a run is. It is RUN_NOT_FOUND when the toolset has started no such
	// run, or the caller may not see it.
	Handle(ctx context.Context, who guard.Caller, id runs.ID) (Handle, error)

	// Cancel ends the run. One that is over stays as it is, which is no error.
	Cancel(ctx context.Context, c *guard.Call, id runs.ID) error

	// Answer decides what the run waits for, by the question's key. An answer to a question
	// that is not open any more, or never was, is nothing, and no error.
	Answer(ctx context.Context, c *guard.Call, id runs.ID, key, choice string) error
}

// Handle is a run as who holds its handle sees it.
type Handle struct {
	Toolset, Tool    string // of the call that started it
	Created, Updated time.Time
	Message          string    // how it is, for people
	Question         *Question // what it waits for; nil: nothing

	// One of these is set when it is over.

	Result    *Result // that the call has led to
	Failure   error   // what has failed
	Cancelled bool
}

// Question is a decision that a run waits for.
type Question struct {
	Key     string // never that of another question of the run
	Message string
	Choices []string // for [Handles.Answer]
}

// JoinHandles returns the handles of several toolsets as one. A run is the first one's that
// knows it.
func JoinHandles(sources ...Handles) Handles { return joinedHandles(sources) }

type joinedHandles []Handles

// of returns whose a run is, and how it is.
func (j joinedHandles) of(ctx context.Context, who guard.Caller, id runs.ID) (Handles, Handle, error) {
	for _, s := range j {
		h, err := s.Handle(ctx, who, id)
		if !fault.Is(err, fault.RunNotFound) {
			return s, h, err
		}
	}
	return nil, Handle{}, fault.New(fault.RunNotFound, "there is no task %.64q", string(id))
}

// Handle implements [Handles].
func (j joinedHandles) Handle(ctx context.Context, who guard.Caller, id runs.ID) (Handle, error) {
	_, h, err := j.of(ctx, who, id)
	return h, err
}

// Cancel implements [Handles].
func (j joinedHandles) Cancel(ctx context.Context, c *guard.Call, id runs.ID) error {
	s, _, err := j.of(ctx, c.Caller, id)
	if err != nil {
		return err
	}
	return s.Cancel(ctx, c, id)
}

// Answer implements [Handles].
func (j joinedHandles) Answer(ctx context.Context, c *guard.Call, id runs.ID, key, choice string) error {
	s, _, err := j.of(ctx, c.Caller, id)
	if err != nil {
		return err
	}
	return s.Answer(ctx, c, id, key, choice)
}
