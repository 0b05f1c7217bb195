package sessions

import (
	"context"
	"time"

	"github.com/gantry-run/gantry/agents/taskstore"
	"github.com/gantry-run/gantry/runs"
)

// shown is a session in a task store. What goes wrong there is no reason for a turn to
// fail: it is logged, and the store is left alone for the rest of the turn.
type shown struct {
	store taskstore.Store
	log   *taskstore.Log
	dead  bool
}

func (s *shown) close() error {
	if s == nil || s.log == nil {
		return nil
	}
	return s.log.Close()
}

// shows returns the session's place in the task store, once it has a name there; nil when
// it is in none.
func (t *turnWork) shows() *shown {
	if t.in.View == "" || !taskstore.Named(t.name) {
		return nil
	}
	if t.shown == nil {
		t.shown = &shown{store: taskstore.Open(t.in.View)}
		log, err := t.shown.store.OpenLog(t.name)
		t.shown.log = log
		t.failed(err)
		t.failed(t.shown.store.Write(t.task(taskstore.Running, ended{})))
	}
	if t.shown.dead {
		return nil
	}
	return t.shown
}

func (t *turnWork) failed(err error) {
	if err != nil && !t.shown.dead {
		t.shown.dead = true
		t.o.Log.Warn("the task store cannot be written", "run_id", string(t.run), "error", err.Error())
	}
}

// task returns what the store says of the session.
func (t *turnWork) task(state taskstore.State, e ended) taskstore.Task {
	v := t.try.View
	return taskstore.Task{
		ID: t.name, Title: t.in.Title, State: state, CreatedAt: v.CreatedAt, UpdatedAt: t.o.Now().UTC().Truncate(time.Millisecond),
		LastResult: e.Summary.LastMessage, InitialPrompt: t.in.Prompt, LastPrompt: t.asked.Prompt, ConfigPath: t.in.ConfigFile, WorkingDir: t.in.Dir,
	}
}

// showLog brings the log and the process's number in the store up to date.
func (t *turnWork) showLog(news bool) {
	fresh := t.shown == nil
	s := t.shows()
	if s == nil || !fresh && !news {
		return
	}
	if st, err := t.o.Supervisor.Status(t.key); err == nil && fresh && !st.State.Ended() {
		t.failed(s.store.SetPID(t.name, st.PID))
	}
	v, err := t.o.Store.View(t.run)
	for err == nil && !s.dead {
		var piece Log
		at := s.log.Lines()
		if piece, err = t.o.log(v, LogQuery{After: &at, Limit: 1000, MaxBytes: 32 << 20}); err != nil || len(piece.Lines) == 0 || piece.First < at {
			break
		}
		err = s.log.Append(piece.Lines...)
	}
	t.failed(err)
}

// show says in the store how the turn ended.
func (t *turnWork) show(outcome string, e ended) {
	t.showLog(true)
	s := t.shows()
	if s == nil {
		return
	}
	state := taskstore.Stopped
	if outcome == failed {
		state = taskstore.Died
	}
	if e.Summary.LastMessage != "" {
		t.failed(s.store.SetResult(t.name, t.feed.dec.Summary().LastMessage))
	} else if e.Summary.LastMessage == "" {
		e.Summary.LastMessage = lastMessage(t.try.View, t.in)
	}
	t.failed(s.store.Write(t.task(state, e)))
	t.failed(s.store.SetPID(t.name, 0))
}

// lastMessage returns the last that the agent said at the end of an earlier turn.
func lastMessage(v *runs.View, in input) (said string) {
	for _, w := range turns(v) {
		if turn, err := turnOf(v, in, w); err == nil && turn.Summary.LastMessage != "" {
			said = turn.Summary.LastMessage
		}
	}
	return said
}

// archive is the activity that puts a session away: its files in the task store go to the
// archive. It is the same when it is done again.
func (o Options) archive(_ context.Context, _ runs.Work, try runs.Try) (runs.Result, error) {
	in, err := inputOf(try.View)
	if err != nil {
		return runs.Result{}, err
	}
	var out archived
	if name := nameOf(try.View, in); in.View != "" && taskstore.Named(name) {
		if out.Destination, err = taskstore.Open(in.View).Archive(name, o.Now()); err != nil {
			return runs.Result{}, err
		}
	}
	return runs.Result{Data: out}, nil
}
