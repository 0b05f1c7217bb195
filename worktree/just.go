package worktree

import (
	"context"
	"strings"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/targets"
	"github.com/gantry-run/gantry/targets/jobs"
)

// MaxStream is how much of a recipe's standard output, and of its errors, is returned.
const MaxStream = 32 << 10

// JustRequest asks for a recipe to be run.
type JustRequest struct {
	Recipe   string
	Args     []string
	Timeout  time.Duration      // it is stopped after this, with all that it started
	Progress func(lines string) // is told of new output; may be nil
}

// JustResult is how a recipe ended. What it was stopped for is no failure of the call.
type JustResult struct {
	ID             runs.ID
	ExitCode       *int // nil when it did not exit
	Stdout, Stderr string
	Truncated      bool // older output is left out
	TimedOut       bool
	Signal         string
	Error          string
}

// stopTime is how long a recipe that is stopped may take to end.
const stopTime = 10 * time.Second

// RunJust runs a recipe of the justfile in the root and waits for its end. It is a job
// like any other: allowlisted, supervised, recorded, and it ends with the server. A
// context that ends leaves it alone; its timeout holds all the same.
//
// Faults: TASK_NOT_FOUND, TASK_AMBIGUOUS, and those of [jobs.Service.Start].
func (t *Tree) RunJust(ctx context.Context, a jobs.Ask, r JustRequest) (JustResult, error) {
	target, err := t.recipe(ctx, r.Recipe)
	if err != nil {
		return JustResult{}, err
	}
	started, err := t.o.Jobs.Start(ctx, a, jobs.Request{
		Request: targets.Request{Name: target.UniqueName, Args: r.Args},
		Wait:    r.Timeout + stopTime, Timeout: r.Timeout, ErrorsApart: true, Progress: r.Progress,
	})
	if err != nil {
		return JustResult{}, err
	}
	s, err := t.o.Jobs.Streams(started.Job, MaxStream)
	if err != nil {
		return JustResult{}, err
	}
	return JustResult{
		ID: started.ID, ExitCode: started.ExitCode, Stdout: s.Stdout, Stderr: s.Stderr, Truncated: s.Truncated, TimedOut: s.TimedOut,
		Signal: started.Signal, Error: started.Error,
	}, nil
}

// recipe returns the target of a recipe, whatever other build files call theirs.
func (t *Tree) recipe(ctx context.Context, name string) (targets.Target, error) {
	all, err := t.Tasks(ctx)
	if err != nil {
		return targets.Target{}, err
	}
	var names []string
	for _, r := range all {
		if r.Name == name || r.UniqueName == name {
			return r, nil
		}
		names = append(names, r.Name)
	}
	f := fault.New(fault.TaskNotFound, "the project has no just recipe %.80q", name)
	if len(names) == 0 {
		return targets.Target{}, f.WithHint("there is no justfile with recipes in the project's root")
	}
	return targets.Target{}, f.WithHint("its recipes are %s", bounded(strings.Join(names, ", "), maxNamed))
}

// maxNamed is how much a hint says of the recipes that there are, in characters.
const maxNamed = 400
