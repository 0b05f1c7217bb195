package tasks

import (
	"context"
	"strings"
	"time"

	"github.com/gantry-run/gantry/agents/sessions"
	"github.com/gantry-run/gantry/agents/taskstore"
	"github.com/gantry-run/gantry/internal/fault"
)

// LogRequest says which lines of a task's log are wanted.
type LogRequest struct {
	ID     string
	Lines  int           // the most
	After  *int64        // those behind so many lines; nil: the last ones
	Wait   time.Duration // how long to wait for a line, when there is none
	Stream bool          // go on until the task is not running, or ctx ends; tell gets the lines
	Tell   func(string)  // may be nil
}

// Log is a piece of a task's log.
type Log struct {
	sessions.Log
	State taskstore.State
}

// LogBytes is how much of a log is returned at once.
const LogBytes = 32 << 10

// logEvery is how often a log is looked at for somebody who follows it.
const logEvery = 100 * time.Millisecond

// Log returns lines of a task's log: the last ones, or those behind a line. When there are
// none it may wait for some. With Stream it tells of the lines that come, and returns at the
// end those that came last.
func (t *Tasks) Log(ctx context.Context, owner string, r LogRequest) (Log, error) {
	l, err := t.log(owner, r)
	if err == nil && r.Stream {
		return t.stream(ctx, owner, r, l)
	}
	for over := t.o.Now().Add(r.Wait); err == nil && len(l.Lines) == 0 && l.State == taskstore.Running && t.o.Now().Before(over); {
		if err = pause(ctx, logEvery); err == nil {
			l, err = t.log(owner, r)
		}
	}
	return l, err
}

// stream tells of the lines of l and of those behind it, until the task is not running.
func (t *Tasks) stream(ctx context.Context, owner string, r LogRequest, l Log) (Log, error) {
	over := t.o.Now().Add(streamTime)
	for at := int64(0); ; {
		if len(l.Lines) > 0 { // all at once: of what a client is told faster than it reads, it gets the newest
			say(r.Tell, strings.Join(l.Lines, "\n"))
		}
		if at = l.Next(); len(l.Lines) == 0 && (l.State != taskstore.Running || t.o.Now().After(over)) {
			break
		}
		if err := pause(ctx, logEvery); err != nil {
			return l, err
		}
		var err error
		if l, err = t.log(owner, LogRequest{ID: r.ID, Lines: r.Lines, After: &at}); err != nil {
			return l, err
		}
	}
	last, err := t.log(owner, LogRequest{ID: r.ID, Lines: r.Lines})
	if r.After != nil && last.First < *r.After { // what the caller has
		known := min(*r.After-last.First, int64(len(last.Lines)))
		last.Lines, last.First = last.Lines[known:], last.First+known
	}
	return last, err
}

// streamTime is how long a stream lasts at most: less than a call may.
const streamTime = 55 * time.Minute

// log returns lines without waiting. Of the state and the lines, the state is looked at
// first: a task that is not running writes no more.
func (t *Tasks) log(owner string, r LogRequest) (Log, error) {
	q := sessions.LogQuery{After: r.After, Limit: r.Lines, MaxBytes: LogBytes}
	s, err := t.o.Sessions.Find(owner, r.ID)
	if err == nil {
		l, err := t.o.Sessions.Log(owner, s.ID, q)
		return Log{l, stateOf(s.State)}, err
	}
	if !fault.Is(err, fault.SessionNotFound) {
		return Log{}, err
	}
	f, err := t.foreign(r.ID)
	if err != nil {
		return Log{}, err
	}
	total, _, err := t.store.LogSize(f)
	if err != nil {
		return Log{}, err
	}
	from := q.First(total)
	lines, err := t.store.Lines(f, from, max(1, r.Lines))
	return Log{q.Fit(sessions.Log{Lines: lines, First: from, Total: total}), f.State}, err
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
