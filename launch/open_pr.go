package launch

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/git"
	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/launch/patch"
	"github.com/gantry-run/gantry/runs"
)

// patchName is the artifact that holds the whole change as a plain git diff.
const patchName = "launch.patch"

// publisher opens a pull request for the change that is committed on a branch of
// the site's work tree. It may be called again after any interruption, and finds what it
// did before.
type publisher struct {
	name  string
	open  func(ctx context.Context, j *job, pr *dossier.PR) error
	ready func(s *Service, cfg dossier.Config, where Sources) error // refuses at a run's start what could not be published; may be nil
}

// publishers returns the ways to open a pull request.
func publishers() []publisher {
	return []publisher{
		{"local", publishLocal, nil},
		{"github", publishGitHub, (*Service).readyForGitHub},
		{"commit_service", publishCommitService, (*Service).readyForCommitService},
	}
}

// publisherOf returns the publisher that a configuration names.
func publisherOf(cfg dossier.Config) (publisher, error) {
	for _, p := range publishers() {
		if p.name == cfg.Publisher {
			return p, nil
		}
	}
	return publisher{}, fault.New(fault.InvalidInput, "there is no publisher %q", cfg.Publisher)
}

// publishable refuses a configuration whose change could not be published: better before
// the work than after it.
func (s *Service) publishable(cfg dossier.Config, where Sources) error {
	p, err := publisherOf(cfg)
	if err != nil || p.ready == nil {
		return err
	}
	return p.ready(s, cfg, where)
}

// openPR commits the change on a branch of its own and publishes it. It may be
// called again after any interruption: branch, commit and pull request are found.
func (w *workers) openPR(ctx context.Context, j *job) (runs.Result, error) {
	var report dossier.ValidationReport
	if err := j.read(dossier.ValidationReportName, &report); err != nil {
		return runs.Result{}, err
	}
	pr, err := j.prepare(ctx, report)
	if err != nil {
		return runs.Result{}, err
	}
	commit, err := w.commit(ctx, j, pr)
	if err != nil {
		return runs.Result{}, err
	}
	pr.CommitSHAs = []string{commit.SHA}
	diff, err := w.git.Diff(ctx, j.site(), git.DiffSpec{From: pr.BaseRef, To: commit.SHA})
	if err != nil {
		return runs.Result{}, err
	}
	if err := j.file(patchName, "artifacts/"+patchName, "", diff); err != nil {
		return runs.Result{}, err
	}
	p, err := publisherOf(j.cfg)
	if err != nil {
		return runs.Result{}, err
	}
	if err := p.open(ctx, j, &pr); err != nil {
		return runs.Result{}, err
	}
	if err := j.document(dossier.PRName, pr); err != nil {
		return runs.Result{}, err
	}
	done := runs.Published{Branch: pr.Branch, CommitSHA: last(pr.CommitSHAs)}
	j.event(runs.CommitCreated, done)
	done.URL = pr.URL
	j.event(runs.PROpened, done)
	return runs.Result{}, nil
}

// prepare says what the pull request is, before anything is committed.
func (j *job) prepare(ctx context.Context, report dossier.ValidationReport) (dossier.PR, error) {
	var facts dossier.ProductFacts
	if err := j.read(dossier.ProductFactsName, &facts); err != nil {
		return dossier.PR{}, err
	}
	pins := j.view.Pins
	pr := dossier.PR{
		SchemaVersion: dossier.SchemaVersion, RunID: string(j.work.Run), Publisher: j.cfg.Publisher, Status: dossier.PROpened, Draft: !report.OK,
		BaseRef:   pins.SiteSHA,
		Branch:    fmt.Sprintf("launch/%s/%s/%s", j.cfg.ProductSlug, pins.RepoSHA[:7], j.work.Run.Short()),
		Title:     fmt.Sprintf("Document %s", facts.ProductName),
		PatchFile: patchName,
	}
	if facts.Version != nil {
		pr.Title += " " + facts.Version.Value
	}
	changes, err := j.git.ChangedFiles(ctx, j.site(), git.DiffSpec{From: pins.SiteSHA, Untracked: true})
	if err != nil {
		return pr, err
	}
	if len(changes) == 0 {
		return pr, fault.New(fault.PublishFailed, "the site's work tree holds no change to publish")
	}
	var found dossier.SiteContext
	if err := j.read(dossier.SiteContextName, &found); err != nil {
		return pr, err
	}
	for _, c := range changes {
		if !patch.Allowed(c.Path, found.AllowedPaths) {
			return pr, fault.New(fault.AllowedPathsViolation, "somebody changed %.200q in the site's work tree, which allowed_paths does not name; nothing was published", c.Path).
				WithHint("undo that change in work/site and resume the run, or start one with wider allowed_paths")
		}
		pr.AffectedPaths = append(pr.AffectedPaths, c.Path)
	}
	pr.Validation = dossier.ValidationSummary{OK: report.OK, Profile: report.Profile}
	for _, g := range report.Gates {
		if g.OK {
			pr.Validation.GatesPassed++
		} else {
			pr.Validation.GatesFailed++
		}
	}
	pr.Body = j.body(pr, facts)
	return pr, nil
}

func (j *job) body(pr dossier.PR, facts dossier.ProductFacts) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Pages about %s, written from %s at %s.\n\n", facts.ProductName, facts.RepoURL, j.view.Pins.RepoSHA)
	fmt.Fprintf(&b, "Every sentence names the claim that it rests on; evidence_map.json of run %s ties each claim to a file and its lines.\n\n", pr.RunID)
	if pr.Draft {
		b.WriteString("This is a draft: validation found issues that are not fixed, and somebody wanted it all the same.\n\n")
	}
	fmt.Fprintf(&b, "Gates: %d passed, %d failed (profile %s).\n\nPages:\n\n", pr.Validation.GatesPassed, pr.Validation.GatesFailed, pr.Validation.Profile)
	for _, p := range pr.AffectedPaths {
		fmt.Fprintf(&b, "- %s\n", p)
	}
	return b.String()
}

// commit commits the change on the branch, unless an earlier attempt has done so.
// Names and dates are those of the inputs, so the same inputs give the same commit.
func (w *workers) commit(ctx context.Context, j *job, pr dossier.PR) (git.Commit, error) {
	dir := j.site()
	on, err := w.git.Branch(ctx, dir)
	if err != nil {
		return git.Commit{}, err
	}
	if on != pr.Branch {
		if err := w.git.Checkout(ctx, dir, pr.Branch, pr.BaseRef); err != nil {
			return git.Commit{}, err
		}
	}
	product, err := w.git.Head(ctx, j.repo())
	if err != nil {
		return git.Commit{}, err
	}
	name, email := author(j.cfg)
	c, err := w.git.Commit(ctx, dir, git.CommitOptions{
		Message:    fmt.Sprintf("%s\n\nWritten from %s at %s.\n", pr.Title, j.cfg.GithubRepoURL, j.view.Pins.RepoSHA),
		AuthorName: name, AuthorEmail: email, When: product.When, Paths: pr.AffectedPaths,
	})
	if errors.Is(err, git.ErrNothingToCommit) {
		return w.git.Head(ctx, dir)
	}
	return c, err
}

// author returns whom the commit is by: whom the configuration names, else Gantry.
func author(cfg dossier.Config) (name, email string) {
	name, email = authorName, authorEmail
	if c := cfg.CommitService; c != nil && c.AuthorName != "" {
		name, email = c.AuthorName, c.AuthorEmail
	}
	return name, email
}
