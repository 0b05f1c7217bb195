package sessions

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gantry-run/gantry/agents"
	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/proc"
	"github.com/gantry-run/gantry/runs"
)

// maxTitle is how long a title may be, in bytes.
const maxTitle = 1000

// Start begins a session and returns when its first turn is recorded; the agent itself
// starts then. It is INVALID_INPUT for an empty prompt, a folder that is not there, and an
// executor or a variant that is not known, PATH_OUTSIDE_ROOT for a folder that is not under
// the one it must be in, and EXECUTOR_UNAVAILABLE when the executor's program is not
// installed. It is idempotent on the id and on the key.
func (s *Sessions) Start(ctx context.Context, r StartRequest) (Session, error) {
	in, err := s.input(r)
	if err != nil {
		return Session{}, err
	}
	raw, err := json.Marshal(in)
	if err != nil {
		return Session{}, err
	}
	flow, err := workflow()
	if err != nil {
		return Session{}, err
	}
	if r.ID == "" {
		r.ID = runs.ID(runs.NewUUID(s.o.Now()))
	}
	if !runs.IsUUID(string(r.ID)) {
		return Session{}, fault.New(fault.InvalidInput, "the id of a session is a UUID in lower case")
	}
	id, _, err := s.o.Engine.Start(ctx, runs.StartRequest{
		ID: r.ID, Kind: runs.Session, Workflow: flow, Input: raw, Files: map[string][]byte{in.ask.file(): []byte(r.Prompt)},
		Owner: r.Owner, Labels: r.Labels, Once: r.Once, CallID: r.CallID, Tool: r.Tool,
	})
	if err != nil {
		return Session{}, err
	}
	if in.Thread != "" {
		if err := s.o.link(in.Thread, id); err != nil {
			return Session{}, err
		}
	}
	v, err := s.o.Store.Until(ctx, id, func(v *runs.View) bool { return v.Visits[turnNode] > 0 || v.State.Terminal() })
	if err != nil {
		return Session{}, err
	}
	return s.session(v)
}

// input checks a request and returns what is recorded of it.
func (s *Sessions) input(r StartRequest) (input, error) {
	asked, err := newAsk(r.Prompt, agents.Normalize(r.Variant))
	if err != nil {
		return input{}, err
	}
	if len(r.Title) > maxTitle {
		return input{}, fault.New(fault.InvalidInput, "the title has %d bytes, the most are %d", len(r.Title), maxTitle)
	}
	dir, err := folder(r.Dir, r.Under)
	if err != nil {
		return input{}, err
	}
	in := input{
		Executor: agents.Normalize(r.Executor), Model: r.Model, Title: r.Title, Dir: dir, ConfigFile: r.ConfigFile, Env: r.Env,
		Thread: r.Thread, View: r.View, ask: asked,
	}
	if i := slices.IndexFunc(s.o.Custom, func(c agents.Custom) bool { return agents.Normalize(c.Name) == in.Executor }); i >= 0 {
		own := s.o.Custom[i]
		own.Env = nil // it may hold secrets
		in.Custom = &own
	}
	if in.Thread != "" && in.View != "" {
		if in.Before, err = logBefore(in); err != nil {
			return input{}, err
		}
	}
	return in, s.o.ready(in, asked, r.Prompt)
}

// folder returns where an agent works: a folder that is there, and under the other one.
func folder(dir, under string) (string, error) {
	if !filepath.IsAbs(dir) || strings.ContainsRune(dir, 0) {
		return "", fault.New(fault.InvalidInput, "the working directory is an absolute path")
	}
	real, err := filepath.EvalSymlinks(dir)
	if err == nil && under != "" {
		if under, err = filepath.EvalSymlinks(under); err == nil && !within(real, under) {
			return "", outside()
		}
	}
	if info, statErr := os.Stat(real); err != nil || statErr != nil || !info.IsDir() {
		if under != "" && !within(filepath.Clean(dir), under) {
			return "", outside() // and no word on whether it is there
		}
		return "", fault.New(fault.InvalidInput, "the working directory is not there")
	}
	return real, nil
}

func within(path, folder string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}

func outside() error {
	return fault.New(fault.PathOutsideRoot, "the working directory is outside of the server's root").
		WithHint("name a folder under the root, or start the server with another --root or with --allow-unsafe")
}

// ready fails unless a turn can be started: the executor is known, takes what it is asked
// with, and its program is there.
func (o Options) ready(in input, asked ask, prompt string) error {
	inv, err := o.invocation(in, asked, prompt, in.Thread)
	if err != nil {
		return err
	}
	name := inv.Name
	if strings.Contains(name, "/") && !filepath.IsAbs(name) {
		name = filepath.Join(in.Dir, name)
	}
	if _, err := proc.LookPath(name, inv.Env); err != nil {
		f := fault.From(err)
		return fault.New(fault.ExecutorUnavailable, "the executor %s does not work here: %s", in.Executor, f.Message).WithHint("%s", f.Hint)
	}
	return nil
}

// cli returns the session's agent: the server's or, where the server knows none of that
// name, the one that the session remembers.
func (o Options) cli(in input) (agents.CLI, error) {
	c, err := o.Agents.Find(in.Executor)
	if err == nil || in.Custom == nil {
		return c, err
	}
	own, err := agents.CLIs(agents.Options{Custom: []agents.Custom{*in.Custom}})
	if err != nil {
		return nil, err
	}
	return own.Find(in.Executor)
}

// invocation returns how a turn is started.
func (o Options) invocation(in input, asked ask, prompt, thread string) (agents.Invocation, error) {
	c, err := o.cli(in)
	if err != nil {
		return agents.Invocation{}, err
	}
	return c.Turn(agents.Turn{
		Prompt: prompt, Thread: thread, Dir: in.Dir, Model: in.Model, Variant: asked.Variant, ConfigFile: in.ConfigFile, Env: o.Env, ExtraEnv: in.Env,
	})
}
