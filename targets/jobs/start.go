package jobs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"runtime"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/proc"
	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/targets"
)

// Request asks for a job.
type Request struct {
	targets.Request
	Wait     time.Duration      // how long to wait for the end
	Timeout  time.Duration      // it is stopped after this; never when 0
	Keep     bool               // goes on when the server that starts it ends
	Progress func(lines string) // is told of new output during the wait; may be nil

	ErrorsApart bool // its standard error is kept apart: see [Service.Streams]
}

// Started is a job that was started, now or by an earlier call with the same key.
type Started struct {
	Job
	Output    string // the newest [MessageBytes] of it
	Truncated bool   // there was older output
}

// spawnTime bounds how long a process may take to come up. It is not the caller's time:
// a start is not left half done because a client went away.
const spawnTime = 20 * time.Second

// Start starts a target and returns when it has ended, or after the wait. Its checks are
// those of [targets.Project.Decide], then TOO_MANY_JOBS, which is retryable; a process
// that could not be started is SPAWN_FAILED. A context that ends leaves the job alone.
func (s *Service) Start(ctx context.Context, a Ask, r Request) (Started, error) {
	inv, err := s.o.Project.Decide(ctx, r.Request)
	if err != nil {
		return Started{}, err
	}
	id, created, others, err := s.create(ctx, a, inv, r.Keep)
	if err != nil {
		return Started{}, err
	}
	if created {
		defer s.o.HandOff.forget(id)
		s.spawn(ctx, id, proc.ProcSpec{
			Name: inv.Program, Args: inv.Argv[1:], Dir: inv.Dir, Env: id.Traced(inv.Env), Keep: r.Keep, Output: s.o.Output, Nice: nice(others),
			Timeout: r.Timeout, ErrorsApart: r.ErrorsApart,
		})
	}
	v, err := s.o.Store.Until(ctx, id, begun)
	if err != nil {
		return Started{}, err
	}
	if v, err = s.awaitEnd(ctx, v, r); err != nil {
		return Started{}, err
	}
	if v.Failure != nil && v.Failure.Code == string(fault.SpawnFailed) {
		return Started{}, &fault.Fault{Code: fault.SpawnFailed, Message: v.Failure.Message, Hint: v.Failure.Hint}
	}
	return s.started(v)
}

// begun reports whether a job has its process, or never will.
func begun(v *runs.View) bool { return v.Process != nil && v.Process.PID > 0 || v.State.Terminal() }

func (s *Service) started(v *runs.View) (Started, error) {
	job, err := s.job(v)
	if err != nil {
		return Started{}, err
	}
	out, err := s.tail(string(v.RunID), 0, MessageBytes)
	if err != nil {
		return Started{}, err
	}
	return Started{Job: job, Output: newest(proc.Text(out.Data), MessageBytes), Truncated: out.Offset > 0 || len(proc.Text(out.Data)) > MessageBytes}, nil
}

// nice returns the niceness of a job beside others. A crowd has the processor to itself
// when nobody else wants it, and is in nobody's way: a server with fifty of them answers.
func nice(others int) int {
	if others < 2*runtime.NumCPU() {
		return proc.Nice
	}
	return 19
}

// create records the run of a job, unless there are too many, and returns how many others
// run.
func (s *Service) create(ctx context.Context, a Ask, inv targets.Invocation, keep bool) (id runs.ID, created bool, others int, err error) {
	raw, err := json.Marshal(input{
		UniqueName: inv.Target.UniqueName, SourceName: inv.Target.SourceName, Runner: inv.Target.Runner, Command: inv.Command,
		Args: append([]string{}, inv.Args...), Cwd: inv.Cwd, FilePath: inv.Target.FilePath, Keep: keep,
	})
	if err != nil {
		return "", false, 0, err
	}
	flow, err := workflow()
	if err != nil {
		return "", false, 0, err
	}
	s.starting.Lock()
	defer s.starting.Unlock()
	r := runs.StartRequest{
		ID: runs.NewID(s.o.Now()), Kind: runs.Target, Workflow: flow, Input: raw, Root: s.rootID(), Owner: a.Owner, Once: s.here(a.Once), CallID: a.CallID, Tool: a.Tool,
	}
	running, err := s.unfinished(ctx, func(v *runs.View) bool { return v.Created.Root == s.rootID() })
	if err != nil {
		return "", false, 0, err
	}
	if id, made, err := s.o.Store.Made(ctx, r); made || err != nil {
		return id, false, len(running), err
	}
	if len(running) >= s.o.MaxJobs {
		return "", false, 0, fault.Retry(fault.TooManyJobs, "%d tasks run already, the most that may at once", len(running)).
			WithDetails(map[string]int{"running": len(running), "max_jobs": s.o.MaxJobs})
	}
	s.o.HandOff.expect(r.ID)
	id, created, err = s.o.Engine.Start(ctx, r)
	if err != nil || !created {
		s.o.HandOff.forget(r.ID)
	}
	return id, created, len(running), err
}

// here makes a request one of this root: the same words mean another target under
// another root.
func (s *Service) here(o *runs.Once) *runs.Once {
	if o == nil {
		return nil
	}
	sum := sha256.Sum256([]byte(s.rootID() + o.Hash))
	return &runs.Once{Key: o.Key, Hash: hex.EncodeToString(sum[:])}
}

// spawn starts the process of a run that was just created, and tells the worker. The
// worker records how that went, so there is no error here.
func (s *Service) spawn(ctx context.Context, id runs.ID, spec proc.ProcSpec) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), spawnTime)
	defer cancel()
	st, err := s.o.Supervisor.Ensure(ctx, string(id), spec)
	s.o.HandOff.started(id).settle(st, err)
}

// progressEvery is how often a waiting caller is told of new output.
const progressEvery = 500 * time.Millisecond

// awaitEnd returns the view of a job when it has ended, or after the request's wait.
func (s *Service) awaitEnd(ctx context.Context, v *runs.View, r Request) (*runs.View, error) {
	over := time.Now().Add(r.Wait)
	news := s.news(v.RunID, r.Progress)
	for {
		tick, cancel := context.WithTimeout(ctx, min(progressEvery, time.Until(over)))
		now, err := s.o.Store.Until(tick, v.RunID, func(v *runs.View) bool { return v.State.Terminal() })
		waited := tick.Err() != nil
		cancel()
		switch {
		case err == nil:
			news()
			return now, nil
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case !waited:
			return nil, err
		}
		news()
		if !time.Now().Before(over) {
			return s.o.Store.View(v.RunID)
		}
	}
}

// Bounds on what a waiting caller is told at once.
const (
	newsLines = 20
	newsBytes = 1024
)

// news returns what tells of the latest lines that were not told yet.
func (s *Service) news(id runs.ID, tell func(string)) func() {
	told := int64(0)
	return func() {
		if tell == nil {
			return
		}
		out, err := s.tail(string(id), newsLines, newsBytes)
		if err != nil || out.Next <= told {
			return
		}
		fresh := out.Data[max(0, min(int64(len(out.Data)), told-out.Offset)):]
		told = out.Next
		tell(newest(proc.Text(fresh), newsBytes))
	}
}
