package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gantry-run/gantry/agents"
	"github.com/gantry-run/gantry/agents/sessions"
	"github.com/gantry-run/gantry/agents/tasks"
	"github.com/gantry-run/gantry/board"
	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/git"
	"github.com/gantry-run/gantry/internal/proc"
	"github.com/gantry-run/gantry/launch"
	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/runs/local"
	"github.com/gantry-run/gantry/specs"
	"github.com/gantry-run/gantry/targets"
	"github.com/gantry-run/gantry/targets/jobs"
	"github.com/gantry-run/gantry/telemetry"
	"github.com/gantry-run/gantry/telemetry/export"
	"github.com/gantry-run/gantry/telemetry/outbox"
	"github.com/gantry-run/gantry/worktree"
)

// adoptEvery is how often a process looks for runs whose driver is gone.
const adoptEvery = 3 * time.Second

// app is the program: every part, joined.
type app struct {
	cfg        config
	env        []string
	log        *slog.Logger
	redactor   *telemetry.Redactor
	store      *runs.Store
	engine     *local.Engine
	tel        *telemetry.Telemetry
	exporters  *export.Exporters
	outbox     *outbox.Outbox // nil: records stay in the state directory
	projected  sync.Map       // runs.ID → size of its journal when it was read into telemetry
	supervisor *proc.Supervisor
	guard      *guard.Guard
	launches   *launch.Service
	jobs       *jobs.Service
	agents     agents.Registry
	prober     *agents.Prober
	sessions   *sessions.Sessions
	board      func() (*board.Board, error) // opens it at the first call
	configFile string                       // as it was named; empty for the usual one
	tasks      *tasks.Tasks
	door       string // what the one client must show; empty: nothing
	git        *git.Git
	handOff    *jobs.HandOff
	tree       func() (*worktree.Tree, error) // opens it at the first call
	closers    []func() error                 // of what was opened on demand
	server     *mcp.Server
	stop       context.CancelFunc // of the goroutines that project and tend
	stopped    sync.WaitGroup
}

// use says what a command needs of the app.
type use struct {
	adopt   bool     // take runs that nobody drives
	anyPath bool     // a person is asking: repositories may be anywhere
	noLimit bool     // calls of a person are not counted
	scraped bool     // /metrics is served
	quiet   bool     // a person reads standard error: only what they should act on
	secrets []string // besides those of the environment: masked wherever text leaves
	door    string   // what the one client must show; empty: nothing
}

// open joins the parts. Close the app.
func (c *cli) open(u use) (*app, error) {
	a := &app{cfg: c.config, configFile: c.configFile, env: c.env, door: u.door}
	a.redactor = telemetry.NewRedactor(append(telemetry.SecretsFromEnv(c.env), slices.Concat(u.secrets, c.config.Server.secrets(), c.config.Launch.secrets(c.env))...)).WithRoots(c.config.Root, c.config.StateDir)
	level := c.config.Server.level()
	switch {
	case c.config.Verbose:
		level = slog.LevelDebug
	case u.quiet:
		level = slog.LevelError
	}
	a.log = slog.New(telemetry.NewLogHandler(c.std.err, telemetry.LogOptions{Format: c.config.LogFormat, Level: level, Redactor: a.redactor}))
	var err error
	if a.store, err = runs.OpenStore(c.config.StateDir, runs.StoreOptions{Log: a.log}); err != nil {
		return nil, err
	}
	if err = a.openTelemetry(u.scraped); err != nil {
		return nil, err
	}
	g, err := git.New(git.Options{Env: c.env, Schemes: c.config.GitSchemes})
	if err != nil {
		return nil, err
	}
	adopt := time.Duration(0)
	if u.adopt {
		adopt = adoptEvery
	}
	a.supervisor, err = proc.NewSupervisor(proc.SupervisorOptions{Dir: filepath.Join(c.config.StateDir, "procs"), Home: proc.Getenv(c.env, "HOME")})
	if err != nil {
		return nil, err
	}
	handOff := new(jobs.HandOff)
	workers := launch.Workers(launch.WorkerOptions{
		Git: g, Egress: c.config.Launch.policy(c.env), Offline: c.config.Launch.offline(c.env), Version: version, Env: c.env,
		Models: filepath.Join(c.config.StateDir, "llm_cache"), Redact: a.redactor.String,
		Processes: a.supervisor,
	})
	workers[jobs.WorkerName] = jobs.Worker(jobs.WorkerOptions{Store: a.store, Supervisor: a.supervisor, HandOff: handOff})
	talk, err := a.sessionOptions()
	if err != nil {
		return nil, err
	}
	maps.Copy(workers, sessions.Workers(talk))
	a.engine = local.New(local.Options{Store: a.store, Workers: workers, Parallel: c.config.Parallel, Adopt: adopt, Log: a.log})
	if a.jobs, err = a.newJobs(c.config.Root, handOff); err != nil {
		return nil, err
	}
	talk.Engine = a.engine
	a.agents, a.sessions = talk.Agents, sessions.New(talk)
	a.prober = agents.NewProber(a.agents, a.env)
	a.git, a.handOff, a.tree = g, handOff, sync.OnceValues(a.openTree)
	a.board = sync.OnceValues(func() (*board.Board, error) { return a.openBoard(g) })
	a.launches = launch.NewService(launch.Options{
		Store: a.store, Engine: a.engine, Git: g, Specs: specs.Files(), Root: c.config.Root, AllRoots: c.config.AllRoots || u.anyPath,
		AnyPath: u.anyPath, Taskcards: c.config.Taskcards, Sites: c.config.Sites,
		Egress: c.config.Launch.policy(c.env), Offline: c.config.Launch.offline(c.env), Env: c.env,
		Consents: allowedWorkflows(c.env),
	})
	limit := c.config.RateLimit
	if u.noLimit {
		limit = 0
	}
	a.guard = guard.New(guard.Options{
		Telemetry: a.tel, Redactor: a.redactor, Locks: a.store, PerMinute: limit, MaxInFlight: c.config.MaxInFlight,
	})
	a.tasks = a.newTasks()
	if a.server, err = a.offer(c.config.Toolsets, c.config.ReadOnly); err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	a.stop = stop
	a.stopped.Go(func() { a.project(ctx) })
	if u.adopt {
		a.stopped.Go(func() {
			a.jobs.Tend(ctx, func(err error) { a.log.Warn("the processes of tasks could not be looked after", "error", err.Error()) })
		})
	}
	return a, nil
}

// newJobs returns the service of the tasks of the project in a folder.
func (a *app) newJobs(root string, handOff *jobs.HandOff) (*jobs.Service, error) {
	project, err := targets.Open(root, targets.Options{Env: a.env, Allowlist: allowFiles(a.env), AskJust: a.cfg.Tasks.AskJust})
	if err != nil {
		return nil, err
	}
	t := a.cfg.Tasks
	return jobs.NewService(jobs.Options{
		Store: a.store, Engine: a.engine, Supervisor: a.supervisor, Project: project, HandOff: handOff, Root: root, AllRoots: a.cfg.AllRoots,
		MaxJobs: t.MaxJobs, Output: proc.Limits{Bytes: int64(t.RingBytes), Lines: t.RingLines}, Keep: t.KeepFinished,
	}), nil
}

// close ends the program in order: tasks end that end with it, runs that are under way go
// to a worker, the engine stops, what is recorded is written.
func (a *app) close() error {
	a.guard.Drain()
	driven, err := a.jobs.Close(a.engine.Driven)
	errs := []error{err}
	if under := slices.DeleteFunc(driven, a.rests); len(under) > 0 {
		a.handOver(under)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	errs = append(errs, a.engine.Close(ctx))
	a.stop()
	a.stopped.Wait()
	for _, c := range a.closers {
		errs = append(errs, c())
	}
	flush, done := context.WithTimeout(context.Background(), 2*time.Second)
	defer done()
	return errors.Join(append(errs, a.closeTelemetry(flush), a.store.Close())...)
}

// rests reports whether a run has nothing to do: its driver is only closing it.
func (a *app) rests(id runs.ID) bool {
	v, err := a.store.View(id)
	if err != nil || v.Busy() {
		return false
	}
	left, _, err := a.store.Letters(id)
	return err == nil && len(left) == 0
}

// handOver gives the runs that are under way to a worker, or says that somebody has
// to resume them.
func (a *app) handOver(under []runs.ID) {
	if a.cfg.NoWorker {
		a.log.Warn("runs that are under way stop here; launch_resume continues them", "runs", under)
		return
	}
	if err := a.startWorker(); err != nil {
		a.log.Warn("no worker could be started; launch_resume continues the runs", "runs", under, "error", err.Error())
	}
}

// startWorker starts a process of its own that takes the runs of this one.
func (a *app) startWorker() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	args, err := a.workerFlags()
	if err != nil {
		return err
	}
	pid, err := proc.StartDetached(proc.Spec{
		Name: self, Dir: a.cfg.StateDir, Env: a.env, Args: append([]string{"worker"}, args...),
	}, filepath.Join(a.cfg.StateDir, "worker.log"))
	if err == nil {
		a.log.Info("a worker continues the runs that are under way", "pid", pid)
	}
	return err
}

// workerFlags returns the settings that a worker needs of this program's.
func (a *app) workerFlags() ([]string, error) {
	flags := append(slices.Concat(a.cfg.agentFlags(), a.cfg.egressFlags()), "--state-dir", a.cfg.StateDir, "--root", a.cfg.Root, "--parallel", fmt.Sprint(a.cfg.Parallel),
		"--telemetry-api-url", a.cfg.Telemetry.APIURL)
	if a.configFile == "" {
		return flags, nil
	}
	path, err := filepath.Abs(a.configFile)
	return append(flags, "--config", path), err
}

// exitOf maps a fault to an exit code.
func exitOf(f *fault.Fault) int {
	policy := []fault.Code{fault.AccessDenied, fault.AllowedPathsViolation, fault.PathEscape, fault.URLNotAllowed, fault.ChangeBudgetExceeded, fault.BudgetExceeded,
		fault.NotAllowlisted, fault.NeedsReapproval, fault.ArgumentRefused, fault.EnvForbidden, fault.PathOutsideRoot}
	outside := []fault.Code{fault.ToolchainMissing, fault.RepoNotFound, fault.RefNotFound, fault.RepoEmpty, fault.CloneFailed, fault.SiteCloneFailed, fault.PublishFailed,
		fault.RunnerUnavailable, fault.SpawnFailed}
	switch {
	case f.Code == fault.Internal:
		return 5
	case slices.Contains(policy, f.Code):
		return 3
	case slices.Contains(outside, f.Code):
		return 4
	case f.Code == fault.Cancelled:
		return 1
	}
	return 2
}

// hintOf returns what to do next.
func hintOf(f *fault.Fault) string {
	if f.Hint != "" {
		return f.Hint
	}
	info, _ := specs.Error(f.Code)
	return info.Hint
}
