// Package tasks is work that agents do in the background, as codex-tasks knows it: a task
// is a conversation, and its id is what the agent's CLI calls that.
//
// Most tasks are sessions (package sessions). Others stand in the task store (package
// taskstore) because another program has put them there: they are listed and read as they
// are, and the first prompt that is sent to one makes it a session, which goes on with the
// same conversation.
package tasks

import (
	"context"
	"time"

	"github.com/gantry-run/gantry/agents/sessions"
	"github.com/gantry-run/gantry/agents/taskstore"
	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/git"
	"github.com/gantry-run/gantry/runs"
)

// Options are what Tasks need.
type Options struct {
	Sessions *sessions.Sessions
	Git      *git.Git
	Store    string // folder of the task store
	Root     string // folder that agents work in when the caller does not say, and must stay under
	Anywhere bool   // they may work outside of the root
	StopAll  bool   // a caller may stop all tasks at once
	Hurry    bool   // a start does not wait for the agent
	Executor string // of a task whose caller names none; CODEX when empty
	Now      func() time.Time
}

// Tasks is what can be asked of tasks. Its methods may be called concurrently.
type Tasks struct {
	o     Options
	store taskstore.Store
}

// New returns Tasks.
func New(o Options) *Tasks {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Executor == "" {
		o.Executor = defaultExecutor
	}
	return &Tasks{o, taskstore.Open(o.Store)}
}

const defaultExecutor = "CODEX"

// Ask says who makes a mutating request, and under which idempotency key.
type Ask = sessions.Ask

// Task is a conversation.
type Task struct {
	ID         string
	Session    string // id of the session; "" for a task that another program keeps
	Thread     string // what the CLI calls the conversation; "" until it said so
	Title      string
	State      taskstore.State
	Created    time.Time
	Updated    time.Time
	LastPrompt string
	PromptedAt time.Time // zero when it is not known
	LastResult string
	Error      string // why the last turn failed
	WorkingDir string
	PID        int // of the agent while it works
	Executor   string
	Archive    string // folder in the task store that it was archived to
}

// fromSession returns the task that a session is.
func fromSession(s sessions.Session) Task {
	return Task{
		ID: s.Name, Session: string(s.ID), Thread: s.Thread, Title: s.Title, State: stateOf(s.State), Created: s.Created, Updated: s.Updated,
		LastPrompt: s.Last.Prompt, PromptedAt: s.Last.Started, LastResult: s.LastResult, Error: s.Last.Error, WorkingDir: s.Dir,
		PID: s.PID, Executor: s.Executor, Archive: s.Archive,
	}
}

func stateOf(s sessions.State) taskstore.State {
	switch s {
	case sessions.Idle:
		return taskstore.Stopped
	case sessions.Died:
		return taskstore.Died
	case sessions.Archived:
		return taskstore.Archived
	}
	return taskstore.Running
}

// fromStore returns the task that another program keeps.
func fromStore(f taskstore.Found) Task {
	t := Task{
		ID: f.ID, Thread: f.ID, Title: f.Title, State: f.State, Created: f.CreatedAt, Updated: f.UpdatedAt, LastPrompt: f.LastPrompt,
		LastResult: f.LastResult, WorkingDir: f.WorkingDir, PID: f.PID, Executor: defaultExecutor,
	}
	if t.LastPrompt == "" {
		t.LastPrompt = f.InitialPrompt
	}
	if f.State == taskstore.Archived {
		t.Archive = f.Folder
	}
	return t
}

// Status returns a task, by its id or by the id of its session. There may be none:
// SESSION_NOT_FOUND.
func (t *Tasks) Status(owner, id string) (Task, error) {
	s, err := t.o.Sessions.Find(owner, id)
	if err == nil {
		return fromSession(s), nil
	}
	if !fault.Is(err, fault.SessionNotFound) {
		return Task{}, err
	}
	f, err := t.foreign(id)
	return fromStore(f), err
}

// foreign returns a task that another program keeps.
func (t *Tasks) foreign(id string) (taskstore.Found, error) {
	if t.o.Sessions.Knows(id) { // a session that the caller may not see
		return taskstore.Found{}, notFound(id)
	}
	f, err := t.store.Find(id)
	if fault.Is(err, fault.SessionNotFound) {
		err = notFound(id)
	}
	return f, err
}

func notFound(id string) error {
	return fault.New(fault.SessionNotFound, "there is no task %.64q", id).WithHint("task_list shows the tasks with their ids")
}

// Send gives a task its next prompt and returns when that is recorded. A task that is
// running is RUN_LOCKED, an archived one ILLEGAL_STATE.
func (t *Tasks) Send(ctx context.Context, a Ask, id, prompt string) (Task, error) {
	s, found, err := t.o.Sessions.Started(ctx, a)
	if found || err != nil { // the same request made a session of the task
		return fromSession(s), err
	}
	s, err = t.o.Sessions.Find(a.Owner, id)
	if fault.Is(err, fault.SessionNotFound) {
		return t.adopt(ctx, a, id, prompt)
	}
	if err != nil {
		return Task{}, err
	}
	return t.sendTo(ctx, a, s.ID, prompt)
}

// sendTo gives a session its next prompt.
func (t *Tasks) sendTo(ctx context.Context, a Ask, id runs.ID, prompt string) (Task, error) {
	if _, err := t.o.Sessions.Send(ctx, a, id, prompt, ""); err != nil {
		return Task{}, err
	}
	return t.Status(a.Owner, string(id))
}

// adopt makes a session of a task that another program keeps, and works where that did. Of
// two callers at one moment, one begins it and the other one finds it running.
func (t *Tasks) adopt(ctx context.Context, a Ask, id, prompt string) (Task, error) {
	f, err := t.foreign(id)
	if err != nil {
		return Task{}, err
	}
	switch f.State {
	case taskstore.Running:
		return Task{}, fault.Retry(fault.RunLocked, "another program is running the task %s", id).WithHint("wait until it is STOPPED")
	case taskstore.Archived:
		return Task{}, fault.New(fault.IllegalState, "the task %s is ARCHIVED", id).WithHint("start a new one")
	}
	dir := f.WorkingDir
	if dir == "" {
		dir = t.o.Root
	}
	session := sessions.Adopted(id)
	if t.o.Sessions.Is(string(session)) {
		return t.sendTo(ctx, a, session, prompt)
	}
	_, err = t.o.Sessions.Start(ctx, sessions.StartRequest{
		Ask: a, ID: session, Executor: defaultExecutor, Prompt: prompt, Title: f.Title, Dir: dir, ConfigFile: f.ConfigPath,
		Thread: id, View: t.o.Store,
	})
	if fault.Is(err, fault.IdempotencyConflict) { // another caller was faster
		return t.sendTo(ctx, a, session, prompt)
	}
	if err != nil {
		return Task{}, err
	}
	return t.Status(a.Owner, string(session))
}

// under returns the folder that agents must work in, "" for none.
func (t *Tasks) under() string {
	if t.o.Anywhere {
		return ""
	}
	return t.o.Root
}

// Archived says where a task went.
type Archived struct {
	ID          string
	Destination string // folder in the task store; "" for a task that is not in it
}

// Archive ends a task for good. One that is running is RUN_LOCKED, unless force says to
// stop it first. An archived task is archived already, and no error.
func (t *Tasks) Archive(ctx context.Context, a Ask, id string, force bool) (Archived, error) {
	s, err := t.o.Sessions.Find(a.Owner, id)
	if err == nil {
		s, err = t.o.Sessions.Archive(ctx, a, s.ID, force)
		return Archived{s.Name, s.Archive}, err
	}
	if !fault.Is(err, fault.SessionNotFound) {
		return Archived{}, err
	}
	f, err := t.foreign(id)
	if err != nil {
		return Archived{}, err
	}
	if f.State == taskstore.Running {
		return Archived{}, fault.Retry(fault.RunLocked, "another program is running the task %s", id).WithHint("wait until it is STOPPED")
	}
	to, err := t.store.Archive(id, t.o.Now())
	return Archived{id, to}, err
}
