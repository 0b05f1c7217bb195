package launch

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/gantry-run/gantry/artifacts"
	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/git"
	"github.com/gantry-run/gantry/internal/proc"
	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/launch/egress"
	"github.com/gantry-run/gantry/launch/workflow"
	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/validate"
)

// WorkerOptions are what the workers need.
type WorkerOptions struct {
	Git     *git.Git
	Egress  *egress.Policy // what may be reached outside; nil: nothing
	Offline bool           // the commit service is not called: what it would get is kept
	Version string         // of the program, for the servers that it talks to
	Env     []string       // where the gates look for programs such as Hugo; without a PATH there are none

	Models string              // folder that keeps what models answered; "": nothing is kept
	Redact func(string) string // masks secrets in what is written down; nil: there are none

	Processes *proc.Supervisor // starts the commands of workflows that people bring; nil: none are started

	// Pause passes the time before a model is asked again; nil waits in earnest.
	Pause func(context.Context, time.Duration) error
}

// Workers returns the workers of the launch workflow by name.
func Workers(o WorkerOptions) map[string]runs.Activity {
	w := &workers{git: o.Git, env: o.Env, egress: o.Egress, offline: o.Offline, agent: "gantry/" + o.Version, schemas: new(validate.Lazy),
		models: o.Models, redact: o.Redact, pause: o.Pause, talks: new(conversations), processes: o.Processes}
	return map[string]runs.Activity{
		"clone_inputs":   w.activity((*workers).cloneInputs),
		"ingest_repo":    w.activity((*workers).ingestRepo),
		"build_facts":    w.activity((*workers).buildFacts),
		"build_plan":     w.activity((*workers).buildPlan),
		"draft_section":  w.activity((*workers).draftSection),
		"merge_and_link": w.activity((*workers).mergeAndLink),
		"validate":       w.activity((*workers).validate),
		"fix_next":       w.activity((*workers).fixNext),
		"open_pr":        w.activity((*workers).openPR),
		"finalize":       w.activity((*workers).finalize),
		workflow.Command: w.activity((*workers).command),
	}
}

// WorkerNames returns the workers that a node may name, sorted.
func WorkerNames() []string {
	all := Workers(WorkerOptions{})
	delete(all, workflow.Command)
	return slices.Sorted(maps.Keys(all))
}

type workers struct {
	git     *git.Git
	egress  *egress.Policy
	env     []string
	offline bool
	agent   string // User-Agent
	schemas *validate.Lazy

	models string
	redact func(string) string
	pause  func(context.Context, time.Duration) error
	talks  *conversations

	processes *proc.Supervisor
}

// job is one work item of a launch with what its worker reaches for.
type job struct {
	*workers
	work   runs.Work
	try    runs.Try
	view   *runs.View
	cfg    dossier.Config
	folder *artifacts.Folder
	events []runs.Draft // written with the item's end
}

// activity opens a job, bounds it by what is left of the run's time, and lets the
// worker do it.
func (w *workers) activity(do func(*workers, context.Context, *job) (runs.Result, error)) runs.Activity {
	return func(ctx context.Context, work runs.Work, try runs.Try) (runs.Result, error) {
		j := &job{workers: w, work: work, try: try, view: try.View}
		if err := json.Unmarshal(try.Input, &j.cfg); err != nil {
			return runs.Result{}, fault.New(fault.Internal, "the run's configuration does not decode").Because(err)
		}
		folder, err := artifacts.Open(try.Dir)
		if err != nil {
			return runs.Result{}, err
		}
		defer folder.Close()
		j.folder = folder
		spent := fault.New(fault.BudgetExceeded, "the run has worked longer than its budget of %d s", j.cfg.Budgets.MaxRuntimeS)
		left := time.Duration(j.cfg.Budgets.MaxRuntimeS)*time.Second - worked(try.View)
		ctx, cancel := context.WithTimeoutCause(ctx, left, spent)
		defer cancel()
		release, err := j.claim(ctx)
		if err != nil {
			return runs.Result{}, err
		}
		defer release()
		r, err := do(j.workers, ctx, j)
		if err != nil && context.Cause(ctx) == error(spent) {
			err = spent.Because(err)
		}
		r.Events = append(j.events, r.Events...)
		return r, err
	}
}

// worked returns how long the work items of a run took that are over. One that is
// executed again after a failure has a start behind its end.
func worked(v *runs.View) time.Duration {
	var sum time.Duration
	for _, w := range v.WorkItems {
		if w.StartedAt != nil && w.FinishedAt != nil {
			sum += max(0, w.FinishedAt.Sub(*w.StartedAt))
		}
	}
	return sum
}

func (j *job) repo() string { return filepath.Join(j.try.Dir, "work", "repo") }
func (j *job) site() string { return filepath.Join(j.try.Dir, "work", "site") }

// read decodes an artifact that a worker before this one wrote.
func (j *job) read(name string, doc any) error {
	raw, err := j.artifact(name)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, doc)
}

func (j *job) artifact(name string) ([]byte, error) { return readArtifact(j.folder, j.view, name) }

func readArtifact(folder *artifacts.Folder, v *runs.View, name string) ([]byte, error) {
	a, ok := v.Artifacts[name]
	if !ok {
		return nil, fault.New(fault.ArtifactNotFound, "the run has no artifact %s", name)
	}
	return folder.Read(a.Path)
}

// document writes a JSON artifact in its canonical form. One that does not fit its
// schema is not written: SCHEMA_VALIDATION_FAILED with the places.
func (j *job) document(name string, doc any) error {
	raw, err := dossier.Encode(doc)
	if err != nil {
		return err
	}
	schema, err := j.schemas.Artifact(name)
	if err != nil {
		return err
	}
	if schema != nil {
		problems, err := schema.Check(raw)
		if err != nil {
			return err
		}
		if len(problems) > 0 {
			return validate.Fault(name, problems)
		}
	}
	return j.file(name, path.Join("artifacts", name), name, raw)
}

// file writes a file of the run's folder and makes it an artifact.
func (j *job) file(name, at, schemaID string, data []byte) error {
	info, err := j.folder.Write(at, data)
	if err != nil {
		return err
	}
	j.event(runs.ArtifactWritten, runs.Artifact{
		Name: name, Path: info.Path, SHA256: info.SHA256, Size: info.Size, SchemaID: schemaID, Writer: j.work.Node.Worker,
	})
	return nil
}

func (j *job) event(t runs.EventType, payload any) {
	j.events = append(j.events, runs.Draft{Type: t, Payload: payload})
}

// siteRoot opens the site's work tree.
func (j *job) siteRoot() (*os.Root, error) { return os.OpenRoot(j.site()) }

// states gives every section that the launch wants the same state.
func (j *job) states(state string) map[string]string {
	out := map[string]string{}
	for _, s := range j.cfg.RequiredSections {
		out[s] = state
	}
	return out
}

// The states of a section.
const (
	sectionNotStarted = "NOT_STARTED"
	sectionOutlined   = "OUTLINED"
	sectionDrafted    = "DRAFTED"
	sectionMerged     = "MERGED_IN_WORKTREE"
	sectionDone       = "DONE"
	sectionBlocked    = "BLOCKED"
)
