package sessions

import (
	"context"
	"time"

	"github.com/gantry-run/gantry/internal/proc"
	"github.com/gantry-run/gantry/runs"
)

// ladderStep is how long an agent may take to end after SIGINT, and then after SIGTERM.
const ladderStep = 2 * time.Second

// How often output is looked at: soon after there was some, later when it is quiet.
const (
	lookSoon = 20 * time.Millisecond
	lookLate = 250 * time.Millisecond
)

// follow reads what the agent writes until it has ended, and stops it when that is asked.
func (t *turnWork) follow(ctx context.Context, st proc.Status) (proc.Status, error) {
	if err := t.feed.again(t.o.Entries, string(t.run), TurnID(t.run, t.index), st.State.Ended()); err != nil {
		return st, err
	}
	l := t.ladder(ctx)
	defer l.end()
	for wait := lookSoon; ; {
		changed := t.o.Store.Changed(t.run)
		select {
		case <-l.gone:
			st = l.status
		default:
		}
		over := st.State.Ended()
		news, err := t.feed.pump(over)
		if err != nil {
			return st, err
		}
		notes := t.named(t.feed.dec.Summary().Thread)
		t.showLog(news)
		if notes != nil { // whoever hears of it finds all the rest
			t.try.Tell(runs.Draft{Type: runs.RunNoted, Payload: runs.Noted{Notes: notes}})
		}
		if over {
			return st, t.feed.sync()
		}
		l.ask(t.told())
		if wait = min(2*wait, lookLate); news {
			wait = lookSoon
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-changed:
		case <-l.gone:
		case <-ctx.Done():
			timer.Stop()
			return st, context.Cause(ctx)
		}
		timer.Stop()
	}
}

// named takes what the CLI calls the conversation, once it says so, and returns what is to
// be noted of it; nil for nothing.
func (t *turnWork) named(thread string) map[string]string {
	if thread == "" || len(thread) > maxThread || thread == t.thread && t.name != "" {
		return nil
	}
	notes := map[string]string{threadNote: thread}
	if t.thread = thread; t.name == "" {
		t.name = thread
		notes[nameNote] = thread
	}
	if err := t.o.link(thread, t.run); err != nil {
		t.o.Log.Warn("a session cannot be found by its thread", "run_id", string(t.run), "error", err.Error())
	}
	return notes
}

// maxThread is how long the name of a conversation may be, in bytes.
const maxThread = 256

// ladder waits for the end of a process, and climbs from SIGINT to SIGKILL when asked.
type ladder struct {
	t      *turnWork
	ctx    context.Context
	end    context.CancelFunc
	gone   chan struct{} // closed when the process has ended and status is set
	status proc.Status
	asked  bool
	forced bool
}

func (t *turnWork) ladder(ctx context.Context) *ladder {
	l := &ladder{t: t, gone: make(chan struct{})}
	l.ctx, l.end = context.WithCancel(ctx)
	go func() {
		st, err := t.o.Supervisor.Wait(l.ctx, t.key)
		if l.ctx.Err() != nil {
			return
		}
		if err != nil {
			st.State, st.Reason, st.Exit = proc.Lost, "what was known of its process was removed", -1
		}
		l.status = st
		close(l.gone)
	}()
	return l
}

// ask stops the process if it is to be stopped and is not being stopped already.
func (l *ladder) ask(stop, force bool) {
	if !stop || l.asked && (l.forced || !force) {
		return
	}
	first := !l.asked
	l.asked, l.forced = true, force
	go l.climb(first && !force, force)
}

// climb ends the process. When the turn's work is given up meanwhile, whoever goes on with
// it is told to stop it as well.
func (l *ladder) climb(interrupt, force bool) {
	grace := ladderStep
	if force {
		grace = 1
	}
	if interrupt && l.t.o.Supervisor.Interrupt(l.t.key) == nil {
		timer := time.NewTimer(ladderStep)
		defer timer.Stop()
		select {
		case <-l.gone:
			return
		case <-timer.C:
		case <-l.ctx.Done():
			return
		}
	}
	if _, err := l.t.o.Supervisor.Stop(l.ctx, l.t.key, grace); err != nil && l.ctx.Err() == nil {
		l.t.o.Log.Warn("an agent could not be stopped", "run_id", string(l.t.run), "error", err.Error())
	}
}
