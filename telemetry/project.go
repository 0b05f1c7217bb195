package telemetry

import (
	"context"
	"encoding/json"
	"iter"
	"sync"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/runs"
)

// A projector turns journals into records, spans and metrics. It keeps a fold of
// each unfinished run that it has read, so that only new events are needed.
type projector struct {
	t *Telemetry

	mu    sync.Mutex
	folds map[runs.ID]*runFold
}

func newProjector(t *Telemetry) *projector {
	return &projector{t: t, folds: map[runs.ID]*runFold{}}
}

// Projected returns the sequence number after which [Telemetry.Project] wants the
// run's next events: 0 for a run that this process has not read or that has ended.
func (t *Telemetry) Projected(run runs.ID) int64 {
	t.runs.mu.Lock()
	defer t.runs.mu.Unlock()
	if f := t.runs.folds[run]; f != nil {
		return f.seq
	}
	return 0
}

// Project reads a run's events, from the first one or from the one after
// [Telemetry.Projected], into records: one for the run, one for each work item and
// gate run, one for each commit, and one for each call that the journal names and
// whose own record was lost. A process whose spans or metrics somebody gets also makes
// those: spans when a work item or the run ends, and samples.
//
// It is idempotent: how far a run was projected is remembered with its records, and what
// each event gives is exported by one process, once: see [claims].
// Events with a gap are EVENT_CHAIN_BROKEN; what was read up to an error is kept.
func (t *Telemetry) Project(ctx context.Context, run runs.ID, events iter.Seq2[runs.Event, error]) error {
	p := t.runs
	p.mu.Lock()
	defer p.mu.Unlock()
	fold := p.folds[run]
	if fold == nil {
		fold = newRunFold(t, run)
	}
	readErr := fold.read(events)
	if fold.seq == 0 {
		return readErr
	}
	before, err := p.remember(ctx, fold)
	if err != nil {
		return err
	}
	if err := fold.emit(ctx, before); err != nil {
		return err
	}
	p.follow(fold)
	return readErr
}

// remember stores the fold's changed records with its sequence number, and returns the
// number remembered before.
func (p *projector) remember(ctx context.Context, f *runFold) (before int64, err error) {
	if p.t.store == nil {
		before, err = p.t.claims.claim(ctx, withRecords, f.run, f.seq)
	} else {
		before, err = p.t.store.project(ctx, projection{string(f.run), f.seq, f.changed(), f.rebuilt(), f.commits})
	}
	if err == nil {
		f.settle()
	}
	return before, err
}

// follow keeps the fold while its run is under way.
func (p *projector) follow(f *runFold) {
	if f.ended {
		delete(p.folds, f.run)
		return
	}
	p.folds[f.run] = f
}

// read folds the events that are new to the fold.
func (f *runFold) read(events iter.Seq2[runs.Event, error]) error {
	for e, err := range events {
		if err != nil {
			return err
		}
		if e.Seq <= f.seq {
			continue
		}
		if e.Seq != f.seq+1 || e.RunID != f.run {
			return fault.New(fault.EventChainBroken, "event %d of run %s does not follow event %d", e.Seq, f.run, f.seq)
		}
		f.apply(e)
		f.seq = e.Seq
	}
	return nil
}

// payload decodes an event's payload; what does not decode is its zero value: a
// journal with such a payload is reported by who folds it for good.
func payload[P any](e runs.Event) P {
	var p P
	if err := json.Unmarshal(e.Payload, &p); err != nil {
		var zero P
		return zero
	}
	return p
}
