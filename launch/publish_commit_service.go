package launch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/launch/commitservice"
	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/launch/patch"
)

// readyForCommitService refuses a configuration that lacks the service, a site at a git URL,
// or, unless offline, the right to reach it.
func (s *Service) readyForCommitService(cfg dossier.Config, where Sources) error {
	switch set := cfg.CommitService; {
	case set == nil:
		return fault.New(fault.InvalidInput, "the publisher commit_service needs the settings commit_service")
	case where.Site == nil:
		return fault.New(fault.InvalidInput, "the publisher commit_service needs site_repo_url, the repository that gets the pull request")
	case s.o.Offline:
		return nil
	default:
		if err := s.o.Egress.Check(set.EndpointURL); err != nil {
			return err
		}
		_, err := s.o.Egress.Secret(set.TokenEnv)
		return err
	}
}

// publishCommitService has a service commit the change and open the pull request. Offline,
// both requests are kept as artifacts and the pull request is deferred.
func publishCommitService(ctx context.Context, j *job, pr *dossier.PR) error {
	commit, err := j.commitRequest(ctx, pr)
	if err != nil {
		return err
	}
	open := commitservice.OpenPRRequest{
		SchemaVersion: commitservice.SchemaVersion, RunID: pr.RunID, RepoURL: commit.RepoURL, BaseRef: pr.BaseRef,
		BranchName: pr.Branch, PRTitle: pr.Title, PRBody: pr.Body, Draft: pr.Draft,
	}
	if open.IdempotencyKey, err = commitservice.Key("open_pr", open); err != nil {
		return err
	}
	if j.offline {
		return j.deferred(pr, commit, open)
	}
	token, err := j.egress.Secret(j.cfg.CommitService.TokenEnv)
	if err != nil {
		return err
	}
	http := j.egress.Client(requestTimeout)
	defer http.CloseIdleConnections()
	client := commitservice.Client{Endpoint: j.cfg.CommitService.EndpointURL, Token: token, Agent: j.agent, HTTP: http}
	committed, err := client.Commit(ctx, commit)
	if err != nil {
		return err
	}
	opened, err := client.OpenPR(ctx, open)
	if err != nil {
		return err
	}
	pr.URL, pr.Number, pr.Pushed = opened.PRURL, opened.PRNumber, true
	if fullSHA.MatchString(committed.CommitSHA) {
		pr.CommitSHAs = []string{committed.CommitSHA}
	} else {
		pr.PushNote = fmt.Sprintf("the service calls its commit %.40s; the one named here is that of the run's work tree", committed.CommitSHA)
	}
	pr.RollbackSteps = []string{
		fmt.Sprintf("if it is open: close %s without merging it, and delete its branch %s", pr.URL, pr.Branch),
		fmt.Sprintf("if it was merged: git revert %s on a branch of its own, and a pull request for that", committed.CommitSHA),
	}
	return nil
}

// deferred keeps the requests for when the service can be reached.
func (j *job) deferred(pr *dossier.PR, commit commitservice.CommitRequest, open commitservice.OpenPRRequest) error {
	for name, request := range map[string]any{"commit_bundle.json": commit, "open_pr_bundle.json": open} {
		raw, err := dossier.Encode(request)
		if err != nil {
			return err
		}
		if err := j.file(name, "artifacts/"+name, "", raw); err != nil {
			return err
		}
	}
	pr.Status, pr.URL = dossier.PRDeferred, fmt.Sprintf("resource://run/%s/%s", pr.RunID, dossier.PRName)
	pr.PushNote = "offline: commit_bundle.json and open_pr_bundle.json hold what the commit service would get"
	pr.RollbackSteps = []string{"nothing was sent: delete the bundles, or do not send them"}
	return nil
}

// commitRequest is the whole change against the site's base, as the service wants it.
func (j *job) commitRequest(ctx context.Context, pr *dossier.PR) (commitservice.CommitRequest, error) {
	var found dossier.SiteContext
	if err := j.read(dossier.SiteContextName, &found); err != nil {
		return commitservice.CommitRequest{}, err
	}
	fill := strings.NewReplacer(
		"{product_slug}", j.cfg.ProductSlug, "{github_repo_url}", j.cfg.GithubRepoURL, "{github_ref}", j.view.Pins.RepoSHA,
		"{site_repo_url}", j.cfg.SiteRepoURL, "{site_ref}", pr.BaseRef, "{run_id}", pr.RunID,
	)
	bundle, err := j.wholeChange(ctx, pr)
	if err != nil {
		return commitservice.CommitRequest{}, err
	}
	r := commitservice.CommitRequest{
		SchemaVersion: commitservice.SchemaVersion, RunID: pr.RunID, RepoURL: j.cfg.SiteRepoURL, BaseRef: pr.BaseRef,
		BranchName: pr.Branch, AllowedPaths: found.AllowedPaths, PatchBundle: bundle, CleanBase: true,
		CommitMessage: fill.Replace(j.cfg.CommitService.CommitMessageTemplate),
		CommitBody:    fill.Replace(j.cfg.CommitService.CommitBodyTemplate),
		Governance:    j.cfg.CommitService.Governance,
	}
	r.IdempotencyKey, err = commitservice.Key("commit", r)
	return r, err
}

// wholeChange is what the run's commit changes, fixes included, as patches of whole files.
func (j *job) wholeChange(ctx context.Context, pr *dossier.PR) (dossier.PatchBundle, error) {
	bundle := dossier.PatchBundle{SchemaVersion: dossier.SchemaVersion, BaseRef: pr.BaseRef}
	for _, path := range pr.AffectedPaths {
		before, err := j.git.ReadFile(ctx, j.site(), pr.BaseRef, path)
		isNew := errors.Is(err, fs.ErrNotExist)
		if err != nil && !isNew {
			return bundle, err
		}
		after, err := j.git.ReadFile(ctx, j.site(), last(pr.CommitSHAs), path)
		gone := errors.Is(err, fs.ErrNotExist)
		switch {
		case err != nil && !gone:
			return bundle, err
		case isNew:
			bundle.Patches = append(bundle.Patches, patch.Create(path, string(after)))
		case gone:
			bundle.Patches = append(bundle.Patches, patch.Delete(path, patch.Hash(before)))
		default:
			lines := strings.Count(string(before), "\n")
			if len(before) > 0 && before[len(before)-1] != '\n' {
				lines++
			}
			bundle.Patches = append(bundle.Patches, patch.Replace(path, 1, lines, string(after), patch.Hash(before)))
		}
	}
	return bundle, nil
}
