package launch

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/git"
	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/launch/site"
	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/specs"
)

// author signs the commits that a launch makes.
const (
	authorName  = "Gantry"
	authorEmail = "gantry@localhost"
)

// plainDate is the date of the commit that a plain folder becomes: it has none of
// its own, and the same folder must give the same commit.
func plainDate() time.Time { return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) }

// cloneInputs pins both repositories to a commit and describes the site.
func (w *workers) cloneInputs(ctx context.Context, j *job) (runs.Result, error) {
	where, err := readSources(j.try.Dir)
	if err != nil {
		return runs.Result{}, err
	}
	repo, err := w.obtain(ctx, where.Repo, j.cfg.GithubRef, j.repo())
	if err != nil {
		return runs.Result{}, err
	}
	at := site.Options{Config: j.cfg, RepoURL: "embedded", Embedded: where.Site == nil}
	if where.Site == nil {
		err = w.unpackSite(ctx, j.site(), repo.When, &at)
	} else {
		at.RepoURL, at.RequestedRef = where.Site.Shown, j.cfg.SiteRef
		err = w.cloneSite(ctx, *where.Site, j.cfg.SiteRef, j.site(), &at)
	}
	if err != nil {
		return runs.Result{}, err
	}
	found, contract, err := site.Inspect(ctx, j.site(), at)
	if err != nil {
		return runs.Result{}, err
	}
	if err := j.document(dossier.FrontmatterContractName, contract); err != nil {
		return runs.Result{}, err
	}
	if err := j.document(dossier.SiteContextName, found); err != nil {
		return runs.Result{}, err
	}
	j.event(runs.InputsCloned, runs.InputsPinned{RepoSHA: repo.SHA, SiteSHA: at.SHA})
	return runs.Result{Sections: j.states(sectionNotStarted)}, nil
}

// obtain brings a repository, or a plain folder as one, to dir.
func (w *workers) obtain(ctx context.Context, from Source, ref, dir string) (git.Commit, error) {
	if err := os.RemoveAll(dir); err != nil {
		return git.Commit{}, err
	}
	if from.Local {
		isRepo, err := w.git.IsRepo(ctx, from.URL)
		if err == nil && !isRepo {
			isRepo, err = w.git.IsBare(ctx, from.URL)
		}
		if err != nil {
			return git.Commit{}, err
		}
		if !isRepo {
			return w.adoptFolder(ctx, from.URL, ref, dir)
		}
	}
	if c, ok := w.moveProbe(ctx, from.Probe, ref, dir); ok {
		return c, nil
	}
	depth := 1
	if from.Local {
		depth = 0 // git ignores a depth for a path
	}
	return w.git.Clone(ctx, from.URL, dir, git.CloneOptions{Ref: ref, Depth: depth, AllowLocal: from.Local})
}

// moveProbe makes a clone that was fetched before the run the run's own, if it is
// at the commit that is asked for.
func (w *workers) moveProbe(ctx context.Context, probe, ref, dir string) (git.Commit, bool) {
	if probe == "" {
		return git.Commit{}, false
	}
	defer os.RemoveAll(filepath.Dir(probe))
	head, err := w.git.Head(ctx, probe)
	if err != nil || head.SHA != ref {
		return git.Commit{}, false
	}
	return head, os.Rename(probe, dir) == nil
}

// adoptFolder copies a plain folder and makes one commit of it, so that its content
// is its ref.
func (w *workers) adoptFolder(ctx context.Context, from, ref, dir string) (git.Commit, error) {
	if ref != "" {
		return git.Commit{}, fault.New(fault.RefNotFound, "a plain folder has no refs").WithHint("leave github_ref out")
	}
	if err := copyTree(ctx, from, dir); err != nil {
		return git.Commit{}, err
	}
	c, err := w.git.CommitAll(ctx, dir, git.CommitOptions{Message: "Content of a plain folder", AuthorName: authorName, AuthorEmail: authorEmail, When: plainDate()})
	if err != nil {
		return git.Commit{}, fault.New(fault.RepoEmpty, "the folder holds no files").
			WithHint("Put a README, a package manifest or source into it and resume the run, or choose another folder.").Because(err)
	}
	return c, nil
}

func (w *workers) unpackSite(ctx context.Context, dir string, when time.Time, at *site.Options) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := site.WriteEmbedded(specs.Files(), dir); err != nil {
		return err
	}
	c, err := w.git.CommitAll(ctx, dir, git.CommitOptions{Message: "Minimal documentation site", AuthorName: authorName, AuthorEmail: authorEmail, When: when})
	at.SHA = c.SHA
	return err
}

func (w *workers) cloneSite(ctx context.Context, from Source, ref, dir string, at *site.Options) error {
	c, err := w.obtain(ctx, from, ref, dir)
	at.SHA = c.SHA
	f := fault.From(err)
	if err == nil || f.Code != fault.CloneFailed {
		return err
	}
	return &fault.Fault{Code: fault.SiteCloneFailed, Message: f.Message, Retryable: f.Retryable, Hint: f.Hint, Details: f.Details}
}
