package runs

import (
	"context"
	"encoding/json"
	"iter"
)

// Engine executes runs. Its conformance suite is package runstest.
type Engine interface {
	// Start creates a run and sees to it that it is executed. It is idempotent on
	// the request's id and on its idempotency key (see [Store.Create]).
	Start(ctx context.Context, r StartRequest) (id ID, created bool, err error)

	// Command leaves a command for a run and returns what is durable of it: the
	// command's id. It never waits for the command to be obeyed; see [Engine.Await].
	// The same idempotency key and hash return the first command's id, another hash
	// is IDEMPOTENCY_CONFLICT.
	Command(ctx context.Context, id ID, c Command) (commandID string, err error)

	// Await returns the receipt of a command once it is settled and durable.
	Await(ctx context.Context, id ID, commandID string) (Receipt, error)

	// Events yields the events of a run after a sequence number.
	Events(id ID, after int64) iter.Seq2[Event, error]

	// Watch yields events as they come until the run is over or ctx ends.
	Watch(ctx context.Context, id ID, after int64) iter.Seq2[Event, error]

	// Close stops executing. Work under way is interrupted and stays resumable.
	Close(ctx context.Context) error
}

// Activity executes one work item. It is called again after a crash or a
// retryable failure, so what it does must be idempotent on Work.Key. Its error is a
// fault, or becomes INTERNAL; a fault that is not retryable ends the run.
type Activity func(ctx context.Context, w Work, t Try) (Result, error)

// Try is one attempt at a work item.
type Try struct {
	Attempt int             // from 1
	View    *View           // of the run when the attempt began; not to be changed
	Input   json.RawMessage // what the run was started with
	Dir     string          // the run's folder
	Tell    func(Draft)     // reports progress; may lose it in a crash
}

// Result is what a work item gives. Events are written with the item's end, in
// one piece.
type Result struct {
	Outcome  string
	Items    []string
	Sections map[string]string
	Data     any // encodes as JSON
	Events   []Draft
}
