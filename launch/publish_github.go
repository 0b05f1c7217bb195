package launch

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/git"
	"github.com/gantry-run/gantry/internal/lazyregexp"
	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/launch/egress"
	"github.com/gantry-run/gantry/launch/github"
)

const (
	defaultTokenEnv = "GITHUB_TOKEN"
	requestTimeout  = 60 * time.Second // of one request to a server outside
)

var fullSHA = lazyregexp.New(`^[0-9a-f]{40}$`)

// forge is where a pull request is opened at GitHub, with what it takes.
type forge struct {
	api, token string
	repository github.Repository
	base       string // empty: the repository's default branch
	labels     []string
}

// forgeOf finds the forge of a configuration whose site has a remote. It fails where
// [egress.Policy] does not allow what the configuration asks for.
func forgeOf(p *egress.Policy, cfg dossier.Config, remote string) (forge, error) {
	var set dossier.GitHub
	if cfg.GitHub != nil {
		set = *cfg.GitHub
	}
	at := forge{api: set.APIBaseURL, base: set.BaseBranch, labels: set.Labels}
	host, repository, err := github.AtRemote(remote)
	if set.Repository != "" {
		repository, err = github.ParseRepository(set.Repository)
	}
	if err != nil {
		return at, err
	}
	at.repository = repository
	if at.api == "" {
		at.api = github.APIBase(host)
	}
	if at.base == "" && !fullSHA.MatchString(cfg.SiteRef) {
		at.base = cfg.SiteRef
	}
	if err := p.Check(at.api); err != nil {
		return at, err
	}
	if overHTTP(remote) { // the token is shown to that host too
		if err := p.Check(remote); err != nil {
			return at, err
		}
	}
	at.token, err = p.Secret(cmp.Or(set.TokenEnv, defaultTokenEnv))
	return at, err
}

func overHTTP(remote string) bool {
	u, err := url.Parse(remote)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http")
}

// publishGitHub pushes the branch to the site's remote and keeps a pull request for it. A
// crash between the two, or before the answer came, leaves both to be found.
func publishGitHub(ctx context.Context, j *job, pr *dossier.PR) error {
	remote, err := j.git.RemoteURL(ctx, j.site(), remoteName)
	if err != nil {
		return err
	}
	at, err := forgeOf(j.egress, j.cfg, remote)
	if err != nil {
		return err
	}
	if err := j.git.Push(ctx, j.site(), remoteName, pr.Branch, git.PushOptions{Token: at.token, Replaces: j.pushedBefore(pr)}); err != nil {
		return err
	}
	pr.Pushed = true
	http := j.egress.Client(requestTimeout)
	defer http.CloseIdleConnections()
	client, err := github.New(github.Options{API: at.api, Token: at.token, HTTP: http, Agent: j.agent})
	if err != nil {
		return err
	}
	opened, err := client.Ensure(ctx, github.Want{
		Repository: at.repository, Branch: pr.Branch, Base: at.base, Title: pr.Title, Body: pr.Body, Labels: at.labels, Draft: pr.Draft,
	})
	if err != nil {
		return err
	}
	pr.URL, pr.Number, pr.Repository, pr.BaseBranch, pr.Labels = opened.URL, &opened.Number, at.repository.String(), opened.Base, at.labels
	if opened.Merged {
		pr.Status = dossier.PRMerged
	}
	pr.RollbackSteps = []string{
		fmt.Sprintf("if it is open: close pull request %d of %s without merging it: gh pr close %d --repo %s", opened.Number, at.repository, opened.Number, at.repository),
		fmt.Sprintf("if it was merged: git revert %s on a branch of its own, and a pull request for that into %s", last(pr.CommitSHAs), opened.Base),
		fmt.Sprintf("git push %s --delete %s", remoteName, pr.Branch),
		fmt.Sprintf("git branch -D %s", pr.Branch),
	}
	return nil
}

// pushedBefore returns the commit that an earlier visit of this run pushed to the branch,
// if ours was made anew since; else "".
func (j *job) pushedBefore(pr *dossier.PR) string {
	var before dossier.PR
	if err := j.read(dossier.PRName, &before); err != nil || !before.Pushed || before.Branch != pr.Branch {
		return ""
	}
	if was := last(before.CommitSHAs); was != last(pr.CommitSHAs) {
		return was
	}
	return ""
}

func last(list []string) string { return list[len(list)-1] }

// readyForGitHub refuses a configuration without a site to push to, or without a token.
func (s *Service) readyForGitHub(cfg dossier.Config, where Sources) error {
	if where.Site == nil {
		return fault.New(fault.InvalidInput, "the publisher github needs site_repo_url, the repository that gets the pull request")
	}
	_, err := forgeOf(s.o.Egress, cfg, where.Site.URL)
	return err
}
