// Package local is the embedded engine: it executes runs in this process, on a
// state directory that other processes may share.
//
// One mechanism decides who executes a run: whoever holds its drive lock. The
// process that starts a run takes the lock first. Other processes leave commands in
// the run's folder and take locks that have become free: a lock is free when its
// holder is gone, however it went. So recovery after a crash is the ordinary way
// on: take the lock, fold the journal, ask the planner.
//
// A drive is one goroutine around [runs.Next]: write what it wants written, execute
// the work it names, at most Parallel items at once, and record each result durably
// before anything follows from it; the last result of a node shares its flush with what
// the planner writes next. A paused run is let go of; the next command
// picks it up again.
package local

import (
	"context"
	"iter"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/runs"
)

// Options are what an Engine needs.
type Options struct {
	Store    *runs.Store
	Workers  map[string]runs.Activity // by the worker's name in the workflow
	Parallel int                      // items of one node at once; default 4
	Adopt    time.Duration            // how often to look for runs that nobody drives; 0: never
	Backoff  func(failures int) time.Duration
	Now      func() time.Time
	Log      *slog.Logger
}

// Engine implements [runs.Engine].
type Engine struct {
	o     Options
	ctx   context.Context // ends with Close
	stop  context.CancelFunc
	drive sync.WaitGroup

	mu     sync.Mutex
	driven map[runs.ID]*bool // true: look again before letting go
	closed bool
}

var _ runs.Engine = (*Engine)(nil)

// New returns an engine that executes. Close it.
func New(o Options) *Engine {
	if o.Parallel <= 0 {
		o.Parallel = 4
	}
	if o.Backoff == nil {
		o.Backoff = Backoff
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	ctx, stop := context.WithCancel(context.Background())
	e := &Engine{o: o, ctx: ctx, stop: stop, driven: map[runs.ID]*bool{}}
	if o.Adopt > 0 {
		e.drive.Go(e.adopt)
	}
	return e
}

// Backoff is the default wait after a number of failures: 1 s, doubled each time,
// at most 60 s, with up to half of it again as jitter.
func Backoff(failures int) time.Duration {
	d := min(60*time.Second, time.Second<<min(failures-1, 6))
	return d + rand.N(d/2)
}

// Start implements [runs.Engine].
func (e *Engine) Start(ctx context.Context, r runs.StartRequest) (runs.ID, bool, error) {
	id, created, err := e.o.Store.Create(ctx, r)
	if err != nil {
		return "", false, err
	}
	e.take(id)
	return id, created, nil
}

// Command implements [runs.Engine].
func (e *Engine) Command(ctx context.Context, id runs.ID, c runs.Command) (string, error) {
	v, err := e.o.Store.View(id)
	if err != nil {
		return "", err
	}
	known, found, err := v.CommandID(c.Once, e.o.Now())
	if err != nil || found {
		return known, err
	}
	if c.ID == "" {
		c.ID = known
	}
	if err := e.o.Store.Post(ctx, id, c); err != nil {
		return "", err
	}
	e.take(id)
	return c.ID, nil
}

// Await implements [runs.Engine].
func (e *Engine) Await(ctx context.Context, id runs.ID, commandID string) (runs.Receipt, error) {
	v, err := e.o.Store.Until(ctx, id, func(v *runs.View) bool {
		c, _ := v.Command(commandID)
		return c.Receipt != nil
	})
	if err != nil {
		return runs.Receipt{}, err
	}
	c, _ := v.Command(commandID)
	return *c.Receipt, nil
}

// Events implements [runs.Engine].
func (e *Engine) Events(id runs.ID, after int64) iter.Seq2[runs.Event, error] {
	return e.o.Store.Events(id, after)
}

// Watch implements [runs.Engine].
func (e *Engine) Watch(ctx context.Context, id runs.ID, after int64) iter.Seq2[runs.Event, error] {
	return e.o.Store.Watch(ctx, id, after)
}

// Driving returns how many runs this engine executes now or is about to.
func (e *Engine) Driving() int { return len(e.Driven()) }

// Driven returns the runs that this engine executes now or is about to, sorted.
func (e *Engine) Driven() []runs.ID {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Sorted(maps.Keys(e.driven))
}

// Close implements [runs.Engine]. It returns when nothing is executed any more, or
// when ctx ends.
func (e *Engine) Close(ctx context.Context) error {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.stop()
	done := make(chan struct{})
	go func() { e.drive.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// calm is how long a new engine leaves runs that nobody drives alone: somebody may be
// waiting for the first answer of the process that it is in.
const calm = 200 * time.Millisecond

// adopt takes the runs whose driver is gone.
func (e *Engine) adopt() {
	tick := time.NewTicker(e.o.Adopt)
	defer tick.Stop()
	select {
	case <-time.After(min(calm, e.o.Adopt)):
	case <-e.ctx.Done():
		return
	}
	for {
		if _, err := e.AdoptNow(e.ctx); err != nil && e.ctx.Err() == nil {
			e.o.Log.Warn("looking for runs that nobody drives failed", "error", err.Error())
		}
		select {
		case <-tick.C:
		case <-e.ctx.Done():
			return
		}
	}
}

// AdoptNow takes every run that has something to do and that nobody drives, and
// returns how many runs are unfinished, whoever drives them.
func (e *Engine) AdoptNow(ctx context.Context) (int, error) {
	ids, err := e.o.Store.Unfinished(ctx)
	if err != nil {
		return 0, err
	}
	for _, id := range ids {
		e.take(id)
	}
	return len(ids), nil
}

// take starts to drive a run, unless somebody does. A run that this engine
// drives already is looked at once more before it is let go.
func (e *Engine) take(id runs.ID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return
	}
	if again, ok := e.driven[id]; ok {
		*again = true
		return
	}
	e.driven[id] = new(bool)
	e.drive.Go(func() {
		for e.driveOnce(id) {
		}
	})
}

// driveOnce drives a run until it rests and reports whether to look again.
func (e *Engine) driveOnce(id runs.ID) bool {
	mine, err := e.hold(id)
	if err != nil && e.ctx.Err() == nil {
		e.o.Log.Error("driving a run failed", "run_id", string(id), "error", err.Error(), "cause", cause(err))
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	again := e.driven[id]
	look := err == nil && e.ctx.Err() == nil && (*again || mine && e.waiting(id))
	if *again = false; !look {
		delete(e.driven, id)
	}
	return look
}

// waiting reports whether a command was left after the last look.
func (e *Engine) waiting(id runs.ID) bool {
	left, _, err := e.o.Store.Letters(id)
	return err == nil && len(left) > 0
}

func cause(err error) string {
	if f := fault.From(err); f.Unwrap() != nil {
		return f.Unwrap().Error()
	}
	return ""
}

// hold drives a run if its lock is free, and reports whether it was.
func (e *Engine) hold(id runs.ID) (mine bool, err error) {
	d, ok, err := e.o.Store.Drive(e.ctx, id)
	if err != nil || !ok {
		return false, err
	}
	err = e.loop(d)
	closing, cancel := context.WithTimeout(context.WithoutCancel(e.ctx), 10*time.Second)
	defer cancel()
	if closed := d.Close(closing); err == nil {
		err = closed
	}
	return true, err
}

// index tells the index how the run is getting on. A run does not depend on that.
func (e *Engine) index(d *runs.Drive) {
	if err := d.Index(e.ctx); err != nil && e.ctx.Err() == nil {
		e.o.Log.Warn("the index could not be brought up to date", "run_id", string(d.View().RunID), "error", err.Error())
	}
}

func (e *Engine) loop(d *runs.Drive) error {
	for e.ctx.Err() == nil {
		if _, err := d.Collect(); err != nil {
			return err
		}
		next, err := d.Settle()
		if err != nil {
			return err
		}
		if len(next.Execute) == 0 {
			return nil
		}
		e.index(d)
		if err := e.execute(d, next.Execute); err != nil {
			return err
		}
	}
	return nil
}
