package tasks

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/gantry-run/gantry/agents/sessions"
	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/git"
)

// StartRequest asks for a task.
type StartRequest struct {
	Prompt     string
	Title      string
	Config     string // the CLI's configuration file; empty for the usual one
	WorkingDir string // where the agent works, relative to the root or absolute; empty for the root
	RepoURL    string // repository to clone into WorkingDir first, which must not be there
	RepoRef    string // branch, tag or commit of it; empty for its HEAD
	Executor   string
	Variant    string
	Model      string
}

// threadTime is how long a start waits for the agent to name the conversation.
const threadTime = 60 * time.Second

// Start starts a task and returns when its agent has named the conversation, which is the
// task's id. An agent that does not within a minute, or never does, is no failure: the id is
// the session's then. One that fails before is PROCESS_FAILED. tell, which may be nil, is told how
// it goes.
func (t *Tasks) Start(ctx context.Context, a Ask, r StartRequest, tell func(string)) (Task, error) {
	s, found, err := t.o.Sessions.Started(ctx, a)
	if err != nil {
		return Task{}, err
	}
	if !found {
		if s, err = t.begin(ctx, a, r, tell); err != nil {
			return Task{}, err
		}
	}
	if t.o.Hurry {
		return fromSession(s), nil
	}
	return t.named(ctx, a.Owner, s, tell)
}

func (t *Tasks) begin(ctx context.Context, a Ask, r StartRequest, tell func(string)) (sessions.Session, error) {
	dir := r.WorkingDir
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(t.o.Root, dir)
	}
	if r.RepoURL != "" {
		if r.WorkingDir == "" {
			return sessions.Session{}, fault.New(fault.MissingRequired, "a repository is cloned into working_dir, which is missing").WithHint("supply working_dir, a folder that is not there yet")
		}
		if err := t.clone(ctx, dir, r, tell); err != nil {
			return sessions.Session{}, err
		}
	}
	config := r.Config
	if config != "" && !filepath.IsAbs(config) {
		config = filepath.Join(t.o.Root, config)
	}
	if r.Executor == "" {
		r.Executor = t.o.Executor
	}
	s, err := t.o.Sessions.Start(ctx, sessions.StartRequest{
		Ask: a, Executor: r.Executor, Variant: r.Variant, Model: r.Model, Prompt: r.Prompt, Title: r.Title, Dir: dir, Under: t.under(),
		ConfigFile: config, View: t.o.Store,
	})
	if err != nil && r.RepoURL != "" {
		err = errors.Join(err, os.RemoveAll(dir)) // it was not there before
	}
	return s, err
}

// clone makes the working directory of a repository.
func (t *Tasks) clone(ctx context.Context, dir string, r StartRequest, tell func(string)) error {
	if _, err := os.Lstat(dir); err == nil {
		return fault.New(fault.InvalidInput, "the working directory is there already, and a repository is cloned into a new one").
			WithHint("name a folder that is not there, or leave repo_url out")
	}
	parent, err := filepath.EvalSymlinks(filepath.Dir(dir))
	if err != nil {
		return fault.New(fault.InvalidInput, "the folder above the working directory is not there")
	}
	if under := t.under(); under != "" {
		real, err := filepath.EvalSymlinks(under)
		if err != nil {
			return err
		}
		if rel, err := filepath.Rel(real, filepath.Join(parent, filepath.Base(dir))); err != nil || !filepath.IsLocal(rel) {
			return fault.New(fault.PathOutsideRoot, "the working directory is outside of the server's root").WithHint("name a folder under the root")
		}
	}
	say(tell, "cloning the repository")
	_, err = t.o.Git.Clone(ctx, r.RepoURL, dir, git.CloneOptions{Ref: r.RepoRef})
	return err
}

func say(tell func(string), text string) {
	if tell != nil {
		tell(text)
	}
}

// named returns the task when it has its id.
func (t *Tasks) named(ctx context.Context, owner string, s sessions.Session, tell func(string)) (Task, error) {
	ctx, cancel := context.WithTimeout(ctx, threadTime)
	defer cancel()
	known := func(s sessions.Session) bool { return s.Thread != "" || s.State != sessions.Running }
	for start := t.o.Now(); !known(s); {
		say(tell, "waiting for the agent to name the conversation")
		tick, done := context.WithTimeout(ctx, tellEvery)
		now, err := t.o.Sessions.Wait(tick, owner, s.ID, known)
		done()
		switch {
		case err == nil:
			s = now
		case context.Cause(ctx) != nil && t.o.Now().Sub(start) < threadTime:
			return Task{}, context.Cause(ctx)
		case ctx.Err() != nil:
			return t.Status(owner, string(s.ID))
		case tick.Err() == nil:
			return Task{}, err
		}
	}
	if s.Thread == "" && s.State == sessions.Died {
		return Task{}, fault.New(fault.ProcessFailed, "the agent ended before it named the conversation: %s", s.Last.Error).
			WithHint("correct what the message says; task_log with task_id %s shows what it wrote", s.ID)
	}
	return fromSession(s), nil
}

// tellEvery is how often a waiting caller hears that it is waited.
const tellEvery = 5 * time.Second
