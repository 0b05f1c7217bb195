package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/runs"
)

// lookout is how often a driver looks for commands of other processes while work
// is executed. Those of its own process it is told of.
const lookout = 25 * time.Millisecond

// Work that has lasted longer than settled is looked out for less often: a cancel
// from another process still arrives within a tenth of a second, and fifty tasks that
// run for hours cost next to nothing.
const (
	settled     = 5 * time.Second
	calmLookout = 80 * time.Millisecond
)

// patience is how long work may take to notice that it is interrupted. Work that
// takes longer is left behind.
const patience = 5 * time.Second

// batch is the execution of the open work items of one visit.
type batch struct {
	engine   *Engine
	drive    *runs.Drive
	ctx      context.Context // of the work
	cancel   context.CancelFunc
	queue    []runs.Work
	failures map[string]int
	running  int
	stopping bool
	done     chan ended
	told     chan runs.Draft
	retry    chan runs.Work
}

// ended is a finished attempt.
type ended struct {
	work    runs.Work
	attempt int
	took    time.Duration
	result  runs.Result
	err     error
}

// execute runs the work items until all are finished, one fails for good, a cancel
// arrives or the engine stops. Each result is durable before the next decision.
func (e *Engine) execute(d *runs.Drive, work []runs.Work) error {
	ctx, cancel := context.WithCancel(e.ctx)
	defer cancel()
	b := &batch{
		engine: e, drive: d, ctx: ctx, cancel: cancel, queue: work, failures: map[string]int{},
		done: make(chan ended, len(work)), told: make(chan runs.Draft), retry: make(chan runs.Work, len(work)),
	}
	err := b.loop(len(work))
	if err != nil {
		b.cancel()
		b.drain()
	}
	return err
}

// drain waits until nothing is executed any more, so that whoever takes the run next
// is alone with it.
func (b *batch) drain() {
	late := time.NewTimer(patience)
	defer late.Stop()
	for b.running > 0 {
		select {
		case <-b.done:
			b.running--
		case <-late.C:
			b.leave()
			return
		}
	}
}

func (b *batch) leave() {
	b.engine.o.Log.Warn("work that does not stop is left behind", "run_id", string(b.drive.View().RunID), "items", b.running)
}

func (b *batch) loop(open int) error {
	tick := time.NewTicker(lookout)
	defer tick.Stop()
	calm := time.NewTimer(settled)
	defer calm.Stop()
	interrupted := b.engine.ctx.Done()
	var late <-chan time.Time
	for open > 0 {
		if b.stopping && late == nil {
			late = time.After(patience)
		}
		if b.stopping && b.running == 0 {
			return nil
		}
		for len(b.queue) > 0 && b.running < b.engine.o.Parallel && !b.stopping {
			if err := b.start(b.queue[0]); err != nil {
				return err
			}
			b.queue = b.queue[1:]
		}
		posted := b.engine.o.Store.Posted(b.drive.View().RunID)
		var err error
		select {
		case r := <-b.done:
			b.running--
			var closed bool
			if closed, err = b.finish(r, open == 1); closed {
				open--
			}
		case t := <-b.told:
			err = b.drive.Append(t)
		case w := <-b.retry:
			b.queue = append(b.queue, w)
		case <-posted:
			err = b.look()
		case <-calm.C:
			tick.Reset(calmLookout)
		case <-tick.C:
			err = b.look()
			b.engine.index(b.drive)
		case <-interrupted:
			b.stopping, interrupted = true, nil
		case <-late:
			b.leave()
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// look collects commands and answers those that need no rest; a cancel interrupts the work.
func (b *batch) look() error {
	cancelled, err := b.drive.Collect()
	if err == nil {
		err = b.drive.Answer()
	}
	if cancelled {
		b.stopping = true
		b.cancel()
	}
	return err
}

func (b *batch) start(w runs.Work) error {
	attempt := w.Tries + b.failures[w.Key] + 1
	err := b.drive.Append(runs.Draft{Type: runs.WorkItemStarted, Span: w.Key,
		Payload: runs.ItemStarted{WorkItemID: w.Key, Worker: w.Node.Worker, Attempt: attempt}})
	if err != nil {
		return err
	}
	b.running++
	view := b.drive.View().Clone()
	try := runs.Try{
		Attempt: attempt, View: view, Input: view.Created.Input, Dir: b.engine.o.Store.Dir(view.RunID),
		Tell: func(d runs.Draft) {
			if err := d.Reportable(); err != nil {
				b.engine.o.Log.Error("a worker reported what is not its to report", "worker", w.Node.Worker, "error", err.Error())
				return
			}
			d.Span = w.Key
			select {
			case b.told <- d:
			case <-b.ctx.Done():
			}
		},
	}
	go func() {
		began := time.Now()
		result, err := b.engine.attempt(b.ctx, w, try)
		b.done <- ended{work: w, attempt: attempt, took: time.Since(began), result: result, err: err}
	}()
	return nil
}

// attempt calls the worker once, with the node's timeout.
func (e *Engine) attempt(ctx context.Context, w runs.Work, t runs.Try) (r runs.Result, err error) {
	worker, ok := e.o.Workers[w.Node.Worker]
	if !ok {
		return runs.Result{}, fault.New(fault.WorkerMissing, "node %s needs the worker %q, which this program does not have", w.Node.Name, w.Node.Worker)
	}
	late := fault.Retry(fault.NodeTimeout, "node %s did not finish within %s", w.Node.Name, w.Node.Timeout())
	ctx, cancel := context.WithTimeoutCause(ctx, w.Node.Timeout(), late)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			e.o.Log.Error("a worker panicked", "run_id", string(w.Run), "worker", w.Node.Worker, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			err = fault.New(fault.Internal, "the worker %s failed", w.Node.Worker)
		}
	}()
	r, err = worker(ctx, w, t)
	if err != nil && errors.Is(context.Cause(ctx), late) {
		err = late.Because(err)
	}
	if err != nil {
		return r, err
	}
	return checked(w, r)
}

// checked makes sure that a result can be written. What cannot is the worker's
// fault, and no other attempt will cure it.
func checked(w runs.Work, r runs.Result) (runs.Result, error) {
	wrong := func(err error) error {
		return fault.New(fault.Internal, "the worker %s gave a result that cannot be recorded", w.Node.Worker).Because(err)
	}
	for _, d := range r.Events {
		if err := d.Reportable(); err != nil {
			return r, wrong(err)
		}
	}
	if r.Data == nil {
		return r, nil
	}
	data, err := json.Marshal(r.Data)
	if err != nil {
		return r, wrong(err)
	}
	r.Data = json.RawMessage(data)
	return r, nil
}

// finish records a finished attempt and reports whether the item needs no other.
// The flush of the last item's record is left to what the planner writes next.
func (b *batch) finish(r ended, last bool) (closed bool, err error) {
	if r.err == nil {
		err := b.record(r, last)
		if !fault.Is(err, fault.InvalidInput) {
			return true, err
		}
		r.err = fault.New(fault.Internal, "the worker %s gave a result that cannot be recorded", r.work.Node.Worker).Because(err)
	}
	if b.stopping || b.ctx.Err() != nil {
		return true, nil // interrupted: whoever drives next does it again
	}
	f := fault.From(r.err)
	b.failures[r.work.Key]++
	failures := b.failures[r.work.Key]
	final := !f.Retryable || failures > r.work.Node.Retries
	b.engine.o.Log.Warn("a work item failed", "run_id", string(r.work.Run), "item", r.work.Key, "code", string(f.Code),
		"error", f.Message, "cause", cause(f), "final", final)
	payload := runs.ItemFailed{
		WorkItemID: r.work.Key, Worker: r.work.Node.Worker, Attempt: r.attempt, Final: final, DurationMS: r.took.Milliseconds(), Failure: failure(f, r.work.Node.Name),
	}
	if err := b.drive.Append(runs.Draft{Type: runs.WorkItemFailed, Payload: payload, Span: r.work.Key}); err != nil {
		return true, err
	}
	if final {
		b.stopping = true
		b.cancel()
		return true, nil
	}
	time.AfterFunc(b.engine.o.Backoff(failures), func() { b.retry <- r.work })
	return false, nil
}

func failure(f *fault.Fault, node string) runs.Failure {
	details, err := json.Marshal(f.Details)
	if err != nil || f.Details == nil {
		details = nil
	}
	return runs.Failure{Code: string(f.Code), Message: f.Message, Retryable: f.Retryable, Hint: f.Hint, Details: details, Node: node}
}

// record writes the worker's events and the item's end in one piece.
func (b *batch) record(r ended, last bool) error {
	data, _ := r.result.Data.(json.RawMessage)
	inputs := map[string]string{}
	for _, name := range r.work.Node.Inputs {
		if a, ok := b.drive.View().Artifacts[name]; ok {
			inputs[name] = a.SHA256
		}
	}
	drafts := make([]runs.Draft, 0, len(r.result.Events)+1)
	for _, d := range r.result.Events {
		d.Span = r.work.Key
		drafts = append(drafts, d)
	}
	write := b.drive.Append
	if last {
		write = b.drive.Defer
	}
	return write(append(drafts, runs.Draft{Type: runs.WorkItemFinished, Span: r.work.Key, Payload: runs.ItemFinished{
		WorkItemID: r.work.Key, Worker: r.work.Node.Worker, Attempt: r.attempt, Outcome: r.result.Outcome, Items: r.result.Items,
		Sections: r.result.Sections, Data: data, Inputs: inputs, DurationMS: r.took.Milliseconds(),
	}})...)
}
