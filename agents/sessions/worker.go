package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gantry-run/gantry/agents"
	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/proc"
	"github.com/gantry-run/gantry/runs"
)

// Workers returns the activities of the workflow by their names: they drive sessions.
func Workers(o Options) map[string]runs.Activity {
	o = o.completed()
	return map[string]runs.Activity{turnNode: o.turn, archiveNode: o.archive}
}

// turn is the activity of a turn: it starts the agent, unless that has been done, reads
// what it writes until it ends, and records what came of it. How badly the agent does is no
// error of this: the turn has failed then, and the session can be gone on with.
func (o Options) turn(ctx context.Context, work runs.Work, try runs.Try) (runs.Result, error) {
	t, err := o.open(work, try)
	if err != nil {
		return runs.Result{}, err
	}
	defer t.close()
	st, err := t.begin(ctx)
	switch {
	case errors.Is(err, errStopped):
		return t.result(killed, ended{Error: "it was stopped before the agent was started"}), nil
	case err != nil && ctx.Err() != nil:
		return runs.Result{}, t.interrupted(ctx)
	case err != nil:
		return t.neverStarted(err)
	}
	st, err = t.follow(ctx, st)
	if err != nil && ctx.Err() != nil {
		return runs.Result{}, t.interrupted(ctx)
	}
	if err != nil {
		return runs.Result{}, err
	}
	return t.over(st), nil
}

// turnWork is a turn while it is worked on.
type turnWork struct {
	o      Options
	run    runs.ID
	index  int
	key    string // of its process
	try    runs.Try
	in     input
	asked  ask
	prompt string
	cli    agents.CLI
	feed   *feed
	shown  *shown // the task store's view; nil for none
	thread string // as it was noted last
	name   string // as it was noted
}

// open prepares the work on a turn.
func (o Options) open(work runs.Work, try runs.Try) (*turnWork, error) {
	t := &turnWork{o: o, run: work.Run, index: work.Visit, key: processKey(work.Run, work.Visit), try: try}
	var err error
	if t.in, err = inputOf(try.View); err != nil {
		return nil, err
	}
	all := turns(try.View)
	if t.asked, err = askOf(try.View, t.in, all[len(all)-1]); err != nil {
		return nil, err
	}
	if t.prompt, err = t.asked.whole(try.Dir); err != nil {
		return nil, err
	}
	if t.cli, err = o.cli(t.in); err != nil {
		return nil, err
	}
	t.thread, t.name = threadOf(try.View, t.in), t.in.Thread
	if t.name == "" {
		t.name = try.View.Notes[nameNote]
	}
	// All that the turn before wrote has been read: its end is recorded.
	if err := o.Supervisor.Remove(processKey(t.run, t.index-1)); err != nil {
		return nil, err
	}
	t.feed, err = newFeed(o.Entries, o.Supervisor, t.cli.Decoder(t.in.Dir), string(t.run), TurnID(t.run, t.index), t.key, o.Now)
	if err != nil {
		return nil, err
	}
	if err := t.feed.say(agents.UserMessage, t.prompt); err != nil {
		t.feed.close()
		return nil, err
	}
	return t, nil
}

func (t *turnWork) close() {
	if err := errors.Join(t.feed.close(), t.shown.close()); err != nil {
		t.o.Log.Warn("the history of a turn was not closed well", "run_id", string(t.run), "error", err.Error())
	}
}

var errStopped = errors.New("stopped")

// begin returns the agent's process, which it starts unless it has been started. A turn
// whose process is not known any more is not started again: the agent may have done it all.
func (t *turnWork) begin(ctx context.Context) (proc.Status, error) {
	st, err := t.o.Supervisor.Status(t.key)
	known := t.try.View.Process != nil && t.try.View.Process.Key == t.key
	switch {
	case errors.Is(err, proc.ErrNoProcess) && known:
		return st, fault.New(fault.ProcessFailed, "what was known of the agent's process was removed")
	case err != nil && !errors.Is(err, proc.ErrNoProcess):
		return st, err
	case err == nil && st.State == proc.Orphan:
		st, err = t.o.Supervisor.Ensure(ctx, t.key, proc.ProcSpec{})
	case err != nil || st.State == proc.Failed || st.State == proc.Starting:
		return t.start(ctx)
	}
	t.tell(runs.ProcessAdopted, st)
	return st, err
}

// outputKept bounds the output that is kept of an agent, which is far more than a driver
// needs that comes late.
const outputKept = 256 << 20

// start starts the agent.
func (t *turnWork) start(ctx context.Context) (proc.Status, error) {
	if stopped, _ := t.told(); stopped {
		return proc.Status{}, errStopped
	}
	inv, err := t.o.invocation(t.in, t.asked, t.prompt, t.thread)
	if err != nil {
		return proc.Status{}, err
	}
	spec := proc.ProcSpec{
		Name: inv.Name, Args: inv.Args, Dir: t.in.Dir, Env: t.run.Traced(inv.Env), Keep: true, ErrorsApart: true,
		Grace: ladderStep, Output: proc.Limits{Bytes: outputKept},
	}
	if len(inv.Stdin) > 0 {
		spec.Stdin = t.stdin()
		if err := os.WriteFile(spec.Stdin, inv.Stdin, 0o600); err != nil {
			return proc.Status{}, err
		}
	}
	st, err := t.o.Supervisor.Ensure(ctx, t.key, spec)
	if err == nil {
		t.tell(runs.ProcessStarted, st)
	}
	return st, err
}

func (t *turnWork) stdin() string {
	return filepath.Join(t.try.Dir, "work", fmt.Sprintf("turn-%d.stdin", t.index))
}

func (t *turnWork) tell(kind runs.EventType, st proc.Status) {
	t.try.Tell(runs.Draft{Type: kind, Payload: runs.Process{Key: t.key, PID: st.PID, State: runs.Running}})
}

// told reports whether the turn is to be stopped, and whether by force.
func (t *turnWork) told() (stopped, force bool) {
	v, err := t.o.Store.View(t.run)
	if err != nil {
		return false, false
	}
	for _, id := range v.Told {
		c, _ := v.Command(id)
		var a stopArgs
		if c.Type != stop || len(c.Args) > 0 && json.Unmarshal(c.Args, &a) != nil {
			continue
		}
		stopped, force = true, force || a.Force
	}
	return stopped, force
}

// neverStarted records a turn whose agent could not be started. What can be cured by
// trying again is tried again.
func (t *turnWork) neverStarted(err error) (runs.Result, error) {
	f := fault.From(err)
	if f.Retryable && t.try.Attempt < 3 {
		return runs.Result{}, err
	}
	said := "the agent could not be started: " + f.Message
	if err := errors.Join(t.feed.say(agents.ErrorMessage, said), t.feed.sync()); err != nil {
		return runs.Result{}, err
	}
	return t.result(failed, ended{Error: said}), nil
}

// over records a turn whose process has ended.
func (t *turnWork) over(st proc.Status) runs.Result {
	e := ended{PID: st.PID, Signal: st.Signal, Summary: t.feed.dec.Summary()}
	e.Counted = e.Summary.Usage
	if e.Summary.Cumulative {
		e.Summary.Usage = e.Summary.Usage.Since(counted(t.try.View))
	}
	if st.State == proc.Exited && st.Signal == "" {
		e.ExitCode = &st.Exit
	}
	e.Error = clip(t.failure(st, e), maxError)
	switch stopped, _ := t.told(); {
	case stopped:
		return t.result(killed, e)
	case e.Error != "":
		return t.result(failed, e)
	}
	return t.result(completed, e)
}

// counted returns what the agent had counted at the end of the last turn in which it
// counted at all.
func counted(v *runs.View) (out agents.Usage) {
	for _, w := range turns(v) {
		var e ended
		if len(w.Data) > 0 && json.Unmarshal(w.Data, &e) == nil && e.Counted != (agents.Usage{}) {
			out = e.Counted
		}
	}
	return out
}

const maxError = 2000

// failure says why a turn failed, "" when it did not.
func (t *turnWork) failure(st proc.Status, e ended) string {
	said := ""
	switch {
	case e.Summary.Failure != "":
		return e.Summary.Failure
	case st.State == proc.Lost:
		return "the agent was lost: " + st.Reason
	case st.Signal != "":
		said = "the agent was ended by " + st.Signal
	case st.Exit != 0:
		said = fmt.Sprintf("the agent ended with exit code %d", st.Exit)
	default:
		return ""
	}
	if e.Summary.Complaint != "" {
		said += ": " + e.Summary.Complaint
	}
	return said
}

// result is what is recorded of the turn.
func (t *turnWork) result(outcome string, e ended) runs.Result {
	e.Executor = t.in.Executor
	e.Summary.LastMessage = clip(e.Summary.LastMessage, PreviewBytes)
	e.Summary.Failure = clip(e.Summary.Failure, maxError)
	os.Remove(t.stdin()) // the prompt is kept elsewhere
	r := runs.Result{Outcome: outcome, Data: e}
	if e.PID > 0 {
		p := runs.Process{Key: t.key, PID: e.PID, State: string(proc.Exited), ExitCode: e.ExitCode, Signal: e.Signal, Note: clip(e.Error, maxError)}
		if e.ExitCode == nil {
			p.State = runs.Failed
		}
		if x, err := t.o.Supervisor.Extent(t.key); err == nil {
			p.OutputBytes = x.Total
		}
		r.Events = append(r.Events, runs.Draft{Type: runs.ProcessEnded, Payload: p})
	}
	if t.name == "" { // it will not be called otherwise any more
		t.name = string(t.run)
		r.Events = append(r.Events, runs.Draft{Type: runs.RunNoted, Payload: runs.Noted{Notes: map[string]string{nameNote: t.name}}})
	}
	t.show(outcome, e)
	return r
}

// interrupted leaves the turn to whoever drives the session next, unless it was cancelled.
func (t *turnWork) interrupted(ctx context.Context) error {
	v, err := t.o.Store.View(t.run)
	if err != nil {
		return context.Cause(ctx)
	}
	for _, c := range v.Commands {
		if c.Type == runs.Cancel {
			soon, done := context.WithTimeout(context.WithoutCancel(ctx), 2*ladderStep)
			defer done()
			_, _ = t.o.Supervisor.Stop(soon, t.key, time.Second) // nobody is left to be told
		}
	}
	return context.Cause(ctx)
}
