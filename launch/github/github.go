// Package github keeps one pull request for a branch at GitHub, or at a server that speaks
// its API.
//
// [Client.Ensure] may be called at any time and any number of times: it looks for the pull
// request of the branch first, opens one only if there is none, and brings one that is open
// to what is wanted. So whoever was interrupted calls it again, also when the answer to the
// request that opened the pull request was lost.
//
// A failure that may pass is a retryable fault and nothing is tried again here: the run's
// engine does that. What GitHub asks to wait for is waited for, up to a bound.
package github

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/go-github/v75/github"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/lazyregexp"
)

// Repository is a repository at a host.
type Repository struct{ Owner, Name string }

// String returns owner/name.
func (r Repository) String() string { return r.Owner + "/" + r.Name }

var (
	ownerForm = lazyregexp.New(`^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,99})$`)
	nameForm  = lazyregexp.New(`^[A-Za-z0-9._-]{1,100}$`)
)

// ParseRepository reads owner/name, with or without ".git". Anything else is INVALID_INPUT.
func ParseRepository(text string) (Repository, error) {
	owner, name, ok := strings.Cut(strings.TrimSuffix(text, ".git"), "/")
	if !ok || !ownerForm.MatchString(owner) || !nameForm.MatchString(name) || strings.Trim(name, ".") == "" {
		return Repository{}, fault.New(fault.InvalidInput, "%.200q names no repository at GitHub", text).
			WithHint("give github.repository as owner/name")
	}
	return Repository{owner, name}, nil
}

// AtRemote returns the host and the repository that a git URL names: the last two parts of
// its path.
func AtRemote(remote string) (host string, r Repository, err error) {
	path := remote
	if u, perr := url.Parse(remote); perr == nil && u.Host != "" {
		host, path = u.Host, u.Path
		if u.Scheme == "ssh" {
			host = u.Hostname()
		}
	} else if at, rest, ok := strings.Cut(remote, ":"); ok && !strings.Contains(at, "/") { // user@host:path
		host, path = at[strings.LastIndexByte(at, '@')+1:], rest
	}
	path = strings.Trim(path, "/")
	if host == "" || strings.Count(path, "/") < 1 {
		return "", Repository{}, fault.New(fault.InvalidInput, "the site's remote is no repository at GitHub").
			WithHint("set site_repo_url to its git URL, or github.repository to owner/name and github.api_base_url")
	}
	parts := strings.Split(path, "/")
	r, err = ParseRepository(strings.Join(parts[len(parts)-2:], "/"))
	return host, r, err
}

// APIBase returns the address of the API that belongs to a host.
func APIBase(host string) string {
	if strings.EqualFold(host, "github.com") || host == "" {
		return "https://api.github.com/"
	}
	return "https://" + host + "/api/v3/"
}

// Options are what a Client needs.
type Options struct {
	API   string       // base URL of the API
	Token string       // sent as bearer token
	HTTP  *http.Client // nil: the default one
	Agent string       // User-Agent
	Wait  func(context.Context, time.Duration) error
}

// Client talks to one API. It is safe for concurrent use.
type Client struct {
	api  *github.Client
	wait func(context.Context, time.Duration) error
}

// New returns a Client. An API that is no URL is INVALID_INPUT.
func New(o Options) (*Client, error) {
	base, err := url.Parse(strings.TrimSuffix(o.API, "/") + "/")
	if err != nil || base.Host == "" {
		return nil, fault.New(fault.InvalidInput, "github.api_base_url is no URL")
	}
	api := github.NewClient(o.HTTP).WithAuthToken(o.Token)
	api.BaseURL, api.UserAgent = base, cmp.Or(o.Agent, "gantry")
	c := &Client{api: api, wait: o.Wait}
	if c.wait == nil {
		c.wait = pause
	}
	return c, nil
}

// Want is the pull request that there shall be.
type Want struct {
	Repository Repository
	Branch     string // of the repository itself
	Base       string // branch to merge into; empty: the repository's default one
	Title      string
	Body       string
	Labels     []string // it has at least these
	Draft      bool     // how it is opened; one that is open already stays as it is
}

// PullRequest is one that exists.
type PullRequest struct {
	Number int
	URL    string // for people
	Base   string
	Draft  bool
	Found  bool // it was there before
	Merged bool
}

// Ensure returns the pull request of a branch that is pushed, as [Want] says. One that was
// merged is returned as it is. One that somebody closed without merging is
// PR_MANAGER_PUBLISH_FAILED: it was a decision.
func (c *Client) Ensure(ctx context.Context, w Want) (PullRequest, error) {
	if w.Base == "" {
		r, _, err := c.api.Repositories.Get(ctx, w.Repository.Owner, w.Repository.Name)
		if err != nil {
			return PullRequest{}, c.failed(ctx, err, "looking up the repository")
		}
		w.Base = r.GetDefaultBranch()
	}
	pr, err := c.find(ctx, w)
	if err != nil {
		return PullRequest{}, err
	}
	if pr == nil {
		return c.open(ctx, w)
	}
	out := PullRequest{Number: pr.GetNumber(), URL: pr.GetHTMLURL(), Base: pr.GetBase().GetRef(), Draft: pr.GetDraft(), Found: true}
	switch {
	case pr.MergedAt != nil:
		out.Merged = true
		return out, nil
	case pr.GetState() != "open":
		return out, fault.New(fault.PublishFailed, "pull request %d for the branch was closed without being merged", out.Number).
			WithHint("reopen it and resume the run, or start another run")
	}
	return c.update(ctx, w, pr, out)
}

// find returns the newest pull request of the branch: an open one, else a merged one, else
// a closed one; nil when there is none.
func (c *Client) find(ctx context.Context, w Want) (*github.PullRequest, error) {
	o := &github.PullRequestListOptions{State: "all", Head: w.Repository.Owner + ":" + w.Branch, ListOptions: github.ListOptions{PerPage: 100}}
	list, _, err := c.api.PullRequests.List(ctx, w.Repository.Owner, w.Repository.Name, o)
	if err != nil {
		return nil, c.failed(ctx, err, "looking for the pull request")
	}
	// A server that does not know the filter answers with all of them.
	list = slices.DeleteFunc(list, func(p *github.PullRequest) bool { return p.GetHead().GetRef() != w.Branch })
	rank := func(p *github.PullRequest) int {
		switch {
		case p.GetState() == "open":
			return 0
		case p.MergedAt != nil:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(list, func(a, b *github.PullRequest) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(b.GetNumber(), a.GetNumber()))
	})
	if len(list) == 0 {
		return nil, nil
	}
	return list[0], nil
}

func (c *Client) open(ctx context.Context, w Want) (PullRequest, error) {
	pr, _, err := c.api.PullRequests.Create(ctx, w.Repository.Owner, w.Repository.Name, &github.NewPullRequest{
		Title: &w.Title, Head: &w.Branch, Base: &w.Base, Body: &w.Body, Draft: &w.Draft, MaintainerCanModify: github.Ptr(true),
	})
	if err != nil {
		return PullRequest{}, c.failed(ctx, err, "opening the pull request")
	}
	out := PullRequest{Number: pr.GetNumber(), URL: pr.GetHTMLURL(), Base: w.Base, Draft: pr.GetDraft()}
	if out.Number < 1 || out.URL == "" {
		return out, fault.New(fault.PublishFailed, "the server answered without a number or an address of the pull request")
	}
	return out, c.label(ctx, w, pr)
}

// update brings an open pull request to what is wanted.
func (c *Client) update(ctx context.Context, w Want, pr *github.PullRequest, out PullRequest) (PullRequest, error) {
	if pr.GetTitle() != w.Title || plain(pr.GetBody()) != plain(w.Body) || pr.GetBase().GetRef() != w.Base {
		_, _, err := c.api.PullRequests.Edit(ctx, w.Repository.Owner, w.Repository.Name, out.Number, &github.PullRequest{
			Title: &w.Title, Body: &w.Body, Base: &github.PullRequestBranch{Ref: &w.Base},
		})
		if err != nil {
			return out, c.failed(ctx, err, "updating the pull request")
		}
		out.Base = w.Base
	}
	return out, c.label(ctx, w, pr)
}

// plain is a body as both sides write it: GitHub keeps CRLF for some clients.
func plain(body string) string {
	return strings.TrimSpace(strings.ReplaceAll(body, "\r\n", "\n"))
}

// label adds the labels that a pull request lacks.
func (c *Client) label(ctx context.Context, w Want, pr *github.PullRequest) error {
	var missing []string
	for _, name := range w.Labels {
		if !slices.ContainsFunc(pr.Labels, func(l *github.Label) bool { return strings.EqualFold(l.GetName(), name) }) {
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	_, _, err := c.api.Issues.AddLabelsToIssue(ctx, w.Repository.Owner, w.Repository.Name, pr.GetNumber(), missing)
	if err != nil {
		return c.failed(ctx, err, fmt.Sprintf("labelling pull request %d", pr.GetNumber()))
	}
	return nil
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
