// Package launch is the pipeline that turns a product repository into a validated
// pull request on its documentation site.
//
// The order of work is data (specs/workflows/launch.json) and is executed by a
// [runs.Engine]; this package gives the engine its workers ([Workers]) and callers
// their verbs ([Service]). A worker reads the artifacts of those before it, does one
// thing through a package of its own (inventory, evidence, site, pages, patch, gates,
// fixes), and writes artifacts. It can be called again at any time: it starts from
// what is on the disk and comes to the same bytes.
//
// Inputs are pinned first. Everything after is a function of two commits and the
// configuration, without clock, randomness or network, so two launches of the same
// inputs write the same artifacts, drafts and patches.
//
// A run's folder holds the product in work/repo and the site in work/site. Only
// merge_and_link, fix_next and open_pr write to the site, and only under its allowed
// paths.
package launch

import (
	"context"
	"io/fs"
	"path/filepath"
	"sync"
	"time"

	"github.com/gantry-run/gantry/artifacts"
	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/git"
	"github.com/gantry-run/gantry/launch/egress"
	"github.com/gantry-run/gantry/launch/quickstart"
	"github.com/gantry-run/gantry/launch/workflow"
	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/validate"
)

// Options are what a Service needs.
type Options struct {
	Store     *runs.Store
	Engine    runs.Engine
	Git       *git.Git
	Specs     fs.FS                // specs.Files()
	Root      string               // the project that callers work in; paths in a run_config are under it
	AllRoots  bool                 // show the runs of other roots too
	AnyPath   bool                 // a person is asking: paths may lead anywhere
	Sites     []quickstart.Profile // besides those that ship
	Taskcards string               // folder of the taskcards under Root
	Egress    *egress.Policy       // what may be reached outside; nil: nothing
	Offline   bool                 // the commit service is not called
	Env       []string             // where the gates look for programs; see WorkerOptions
	Consents  workflow.Consents
	Now       func() time.Time
}

// Service is what can be asked of launches. Its methods may be called
// concurrently; owner is the caller's token, "" for a local caller.
type Service struct {
	o       Options
	schemas validate.Lazy
	reader  *artifacts.Reader

	mu       sync.Mutex
	statuses map[runs.ID]Status
}

// NewService returns a Service.
func NewService(o Options) *Service {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Taskcards == "" {
		o.Taskcards = "plans/taskcards"
	}
	if real, err := filepath.EvalSymlinks(o.Root); err == nil {
		o.Root = real // one root, however it was come to
	}
	return &Service{o: o, reader: artifacts.NewReader(o.Now), statuses: map[runs.ID]Status{}}
}

// view returns a run that the caller may see. One of another owner or another
// root does not exist for it.
func (s *Service) view(id runs.ID, owner string) (*runs.View, error) {
	v, err := s.o.Store.View(id)
	if err != nil {
		return nil, err
	}
	if !s.visible(v, owner) {
		return nil, fault.New(fault.RunNotFound, "there is no run %q", id)
	}
	return v, nil
}

func (s *Service) visible(v *runs.View, owner string) bool {
	return v.Kind == runs.Launch && runs.Sees(owner, v.Created.Owner) && (s.o.AllRoots || v.Created.Root == s.RootID())
}

// illegal is the fault for a verb that the run's state does not allow.
func illegal(v *runs.View, verb, needs string) error {
	return fault.New(fault.IllegalState, "%s needs %s; run %s is in %s", verb, needs, v.RunID, v.State).
		WithDetails(map[string]string{"state": string(v.State), "required": needs})
}

// Ask is a mutating request: who asks, and under which idempotency key.
type Ask = runs.Ask

// command gives a run a command and waits until it is settled. A refusal becomes
// a fault.
func (s *Service) command(ctx context.Context, v *runs.View, a Ask, c runs.Command) (*runs.View, error) {
	c.Once, c.CallID, c.Tool = a.Once, a.CallID, a.Tool
	id, err := s.o.Engine.Command(ctx, v.RunID, c)
	if err != nil {
		return nil, err
	}
	r, err := s.o.Engine.Await(ctx, v.RunID, id)
	if err != nil {
		return nil, err
	}
	if r.Failure != nil {
		return nil, unfail(*r.Failure)
	}
	return s.o.Store.View(v.RunID)
}

// unfail turns a failure that an event keeps back into a fault.
func unfail(f runs.Failure) error {
	out := &fault.Fault{Code: fault.Code(f.Code), Message: f.Message, Retryable: f.Retryable, Hint: f.Hint}
	if f.Details != nil {
		out.Details = f.Details
	}
	return out
}
