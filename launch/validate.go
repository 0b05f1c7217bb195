package launch

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gantry-run/gantry/artifacts"
	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/git"
	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/launch/gates"
	"github.com/gantry-run/gantry/runs"
)

// The outcomes of validation.
const (
	outcomeOK     = "ok"
	outcomeFailed = "failed"
)

// validate runs the gates on what is in the site's work tree now.
func (w *workers) validate(ctx context.Context, j *job) (runs.Result, error) {
	in, done, err := w.gateInput(ctx, j.try.Dir, j.view, j.cfg, j.folder)
	if err != nil {
		return runs.Result{}, err
	}
	defer done()
	report, logs, err := gates.RunAll(ctx, in, gates.All(), j.tellGates())
	if err != nil {
		return runs.Result{}, err
	}
	for _, l := range logs {
		if _, err := j.folder.Write(l.Path, l.Text); err != nil {
			return runs.Result{}, err
		}
	}
	if err := j.document(dossier.ValidationReportName, report); err != nil {
		return runs.Result{}, err
	}
	j.compareIssues(report)
	outcome := outcomeFailed
	if report.OK {
		outcome = outcomeOK
	}
	return runs.Result{Outcome: outcome}, nil
}

// tellGates returns an observer that reports each gate as it runs.
func (j *job) tellGates() func(gates.Progress) {
	var began time.Time
	return func(p gates.Progress) {
		if !p.Finished {
			began = time.Now()
			j.try.Tell(runs.Draft{Type: runs.GateRunStarted, Payload: runs.GateRun{Gate: p.Gate}})
			return
		}
		j.try.Tell(runs.Draft{Type: runs.GateRunFinished, Payload: runs.GateRun{
			Gate: p.Gate, OK: p.Result.OK, Skipped: p.Result.Skipped, Issues: p.Result.Issues, DurationMS: time.Since(began).Milliseconds(),
		}})
	}
}

// compareIssues opens the findings that are new and resolves those that are gone.
func (j *job) compareIssues(report dossier.ValidationReport) {
	now := map[string]bool{}
	for _, i := range report.Issues {
		now[i.ID] = true
	}
	before := map[string]bool{}
	for _, i := range j.view.Issues {
		before[i.IssueID] = true
		if !now[i.IssueID] {
			j.event(runs.IssueResolved, runs.IssueChange{IssueID: i.IssueID})
		}
	}
	for _, i := range report.Issues {
		if !before[i.ID] {
			j.event(runs.IssueOpened, runs.IssueChange{IssueID: i.ID, Severity: i.Severity, Gate: i.Gate, Title: i.Message})
		}
	}
}

// gateInput is what the gates, and the fixes, look at: the site as it is now with
// what the launch changed in it. Call done when they have looked.
func (w *workers) gateInput(ctx context.Context, dir string, v *runs.View, cfg dossier.Config, folder *artifacts.Folder) (*gates.Input, func(), error) {
	j := &job{try: runs.Try{Dir: dir}}
	changed, err := w.changed(ctx, j.site(), v.Pins.SiteSHA)
	if err != nil {
		return nil, nil, err
	}
	var found dossier.SiteContext
	if err := (&job{folder: folder, view: v}).read(dossier.SiteContextName, &found); err != nil {
		return nil, nil, err
	}
	siteRoot, err := os.OpenRoot(j.site())
	if err != nil {
		return nil, nil, err
	}
	repoRoot, err := os.OpenRoot(j.repo())
	if err != nil {
		siteRoot.Close()
		return nil, nil, err
	}
	scratch := filepath.Join(dir, "work", "scratch")
	return &gates.Input{
		Env: w.env, Scratch: scratch, Reach: w.egress.Check,
		Site: siteRoot, Repo: repoRoot, Changed: changed, Config: cfg, Context: found,
		Before: func(name string) ([]byte, error) { return w.git.ReadFile(ctx, j.site(), v.Pins.SiteSHA, name) },
		Artifact: func(name string) ([]byte, error) {
			raw, err := readArtifact(folder, v, name)
			if fault.Is(err, fault.ArtifactNotFound) {
				return nil, fs.ErrNotExist
			}
			return raw, err
		},
	}, func() { siteRoot.Close(); repoRoot.Close(); os.RemoveAll(scratch) }, nil
}

// changed returns the files of the site that exist and differ from the commit.
func (w *workers) changed(ctx context.Context, dir, since string) ([]string, error) {
	changes, err := w.git.ChangedFiles(ctx, dir, git.DiffSpec{From: since, Untracked: true})
	if err != nil {
		return nil, err
	}
	out := []string{}
	for _, c := range changes {
		if c.Status != "D" {
			out = append(out, c.Path)
		}
	}
	slices.Sort(out)
	return out, nil
}
