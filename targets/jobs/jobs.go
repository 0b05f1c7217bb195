// Package jobs starts the targets of a project, follows them and stops them.
//
// A job is one execution of a target, and a run of kind target: a journal that says
// what was started, with which process, and how that ended. Its workflow
// (specs/workflows/target.json) has one node, so the engine that executes launches also
// drives jobs, and whoever finds a job that nobody drives goes on with it.
//
// Two things work on a job. [Service.Start] decides (package targets), records the run,
// and starts its process under the run's id, since it alone has the environment, which is
// never written to disk. The [Worker] that drives the run waits for that process to
// appear, reports it, and records its end. Process and journal do not depend on each
// other: the process has a supervisor of its own (package proc) that keeps its output and
// its exit code, so a driver that dies is replaced by one that reads what became of it.
// A [HandOff] tells the worker of the same program what the service is doing, which is
// faster than looking and the only way to say why a process could not be started.
//
// A job whose caller did not ask to keep it ends with the server that started it, in
// whatever way that ends. On the wire a job has the pid of its own process; here it is
// the run that counts, and of several jobs with one pid the newest is meant.
package jobs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/proc"
	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/specs"
	"github.com/gantry-run/gantry/targets"
)

// Options are what a Service needs.
type Options struct {
	Store      *runs.Store
	Engine     runs.Engine
	Supervisor *proc.Supervisor
	Project    *targets.Project
	HandOff    *HandOff // the worker's
	Root       string   // folder of the project
	AllRoots   bool     // show the jobs of other roots too
	MaxJobs    int      // that may run at once under the root; 50 when 0
	Output     proc.Limits
	Keep       int // how many ended jobs keep their output; 200 when 0
	Now        func() time.Time
}

const (
	defaultMaxJobs = 50
	defaultKeep    = 200
)

// Service is what can be asked of jobs. Its methods may be called concurrently; owner is
// the caller's token, "" for a local caller. A job of another owner or another root does
// not exist for a caller.
type Service struct {
	o Options

	starting sync.Mutex // counts and starts in one piece
	mu       sync.Mutex
	stops    map[string]string // idempotency key → hash of the stop that used it
}

// NewService returns a Service.
func NewService(o Options) *Service {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.MaxJobs <= 0 {
		o.MaxJobs = defaultMaxJobs
	}
	if o.Keep <= 0 {
		o.Keep = defaultKeep
	}
	if real, err := filepath.EvalSymlinks(o.Root); err == nil {
		o.Root = real // one root, however it was come to
	}
	return &Service{o: o, stops: map[string]string{}}
}

// Ask says who makes a mutating request, and under which idempotency key.
type Ask = runs.Ask

// List returns the targets of a folder of the project: see [targets.Project.List].
func (s *Service) List(ctx context.Context, dir string) (targets.Listing, error) {
	return s.o.Project.List(ctx, dir)
}

// rootID names the root in runs.
func (s *Service) rootID() string {
	sum := sha256.Sum256([]byte(s.o.Root))
	return hex.EncodeToString(sum[:8])
}

// visible reports whether a run is a job that the caller may see.
func (s *Service) visible(v *runs.View, owner string) bool {
	return v.Kind == runs.Target && runs.Sees(owner, v.Created.Owner) && (s.o.AllRoots || v.Created.Root == s.rootID())
}

// notFound is the fault for a pid that is no job's, or not for this caller.
func notFound(pid int) error {
	return fault.New(fault.JobNotFound, "Job with PID %d not found", pid).WithHint("Use 'status' to see the jobs that run and those that ended lately")
}

// input is what a job's run is started with.
type input struct {
	UniqueName string   `json:"unique_name"`
	SourceName string   `json:"source_name"`
	Runner     string   `json:"runner"`
	Command    string   `json:"command"`
	Args       []string `json:"args"`      // the caller's
	Cwd        string   `json:"cwd"`       // relative to the root
	FilePath   string   `json:"file_path"` // relative to the root
	Keep       bool     `json:"keep"`
}

func inputOf(v *runs.View) (in input, err error) {
	if err = json.Unmarshal(v.Created.Input, &in); err != nil {
		err = fmt.Errorf("the input of job %s: %w", v.RunID, err)
	}
	return in, err
}

// workflow returns the node table of a job.
func workflow() (runs.Workflow, error) {
	raw, _ := specs.Workflow("target")
	var w runs.Workflow
	if err := json.Unmarshal(raw, &w); err != nil {
		return runs.Workflow{}, fmt.Errorf("read the workflow of a target: %w", err)
	}
	return w, nil
}
