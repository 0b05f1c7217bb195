package github_test

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/launch/egress"
	"github.com/gantry-run/gantry/launch/github"
	"github.com/gantry-run/gantry/launch/github/githubtest"
)

const token = "ghp_test_0123456789abcdefghijklmnopqrstuv"

// forge is a server whose repository has the branches main and work.
func forge(t *testing.T) *githubtest.Server {
	t.Helper()
	dir := t.TempDir()
	bare := filepath.Join(dir, "site.git")
	for _, args := range [][]string{
		{"init", "-q", "-b", "main", filepath.Join(dir, "site")},
		{"-C", filepath.Join(dir, "site"), "commit", "-q", "--allow-empty", "-m", "first"},
		{"-C", filepath.Join(dir, "site"), "branch", "work"},
		{"clone", "-q", "--bare", filepath.Join(dir, "site"), bare},
	} {
		cmd := exec.Command("git", args...)
		cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	return githubtest.New(t, bare, token)
}

// newClient returns a client of a server, and how long it was asked to wait.
func newClient(t *testing.T, s *githubtest.Server, token string) (*github.Client, *[]time.Duration) {
	t.Helper()
	h := egress.New([]string{s.Host()}, nil).Client(time.Minute)
	t.Cleanup(h.CloseIdleConnections)
	waited := new([]time.Duration)
	c, err := github.New(github.Options{API: s.API(), Token: token, HTTP: h, Wait: func(_ context.Context, d time.Duration) error {
		*waited = append(*waited, d)
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	return c, waited
}

// want is a pull request of the branch work.
func want() github.Want {
	return github.Want{
		Repository: github.Repository{Owner: "acme", Name: "site"}, Branch: "work", Title: "Document Widget", Body: "Pages.\n", Labels: []string{"docs", "bot"},
	}
}

func TestAPullRequestIsOpenedOnce(t *testing.T) {
	t.Parallel()
	s := forge(t)
	c, _ := newClient(t, s, token)
	first, err := c.Ensure(t.Context(), want())
	if err != nil {
		t.Fatal(err)
	}
	if first.Number != 1 || first.Found || first.Base != "main" || !strings.HasSuffix(first.URL, "/acme/site/pull/1") {
		t.Errorf("%+v", first)
	}
	again, err := c.Ensure(t.Context(), want())
	if err != nil || again.Number != 1 || !again.Found {
		t.Errorf("again: %+v, %v", again, err)
	}
	pulls := s.Pulls()
	if len(pulls) != 1 || pulls[0].Patched != 0 || !slices.Equal(pulls[0].Labels, []string{"docs", "bot"}) || pulls[0].Body != "Pages.\n" {
		t.Errorf("%+v", pulls)
	}
}

func TestAnOpenPullRequestIsBroughtToWhatIsWanted(t *testing.T) {
	t.Parallel()
	s := forge(t)
	c, _ := newClient(t, s, token)
	if _, err := c.Ensure(t.Context(), want()); err != nil {
		t.Fatal(err)
	}
	s.Change(1, func(p *githubtest.Pull) { p.Body = "Pages.\r\n"; p.Labels = append(p.Labels, "by a person") })
	if _, err := c.Ensure(t.Context(), want()); err != nil || s.Pulls()[0].Patched != 0 {
		t.Errorf("line ends make no difference: %v, %+v", err, s.Pulls())
	}
	w := want()
	w.Title, w.Body, w.Labels = "Document Widget 2", "More pages.", []string{"Docs", "more"}
	if _, err := c.Ensure(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	if p := s.Pulls()[0]; p.Title != w.Title || p.Body != w.Body || !slices.Equal(p.Labels, []string{"docs", "bot", "by a person", "more"}) {
		t.Errorf("%+v", p)
	}
}

func TestADraftIsOpenedAsOne(t *testing.T) {
	t.Parallel()
	s := forge(t)
	c, _ := newClient(t, s, token)
	w := want()
	w.Draft = true
	if pr, err := c.Ensure(t.Context(), w); err != nil || !pr.Draft || !s.Pulls()[0].Draft {
		t.Errorf("%+v, %v", pr, err)
	}
}

func TestWhatAPersonDecidedOfAPullRequestHolds(t *testing.T) {
	t.Parallel()
	s := forge(t)
	c, _ := newClient(t, s, token)
	if _, err := c.Ensure(t.Context(), want()); err != nil {
		t.Fatal(err)
	}
	s.Change(1, func(p *githubtest.Pull) { p.State = "closed" })
	if _, err := c.Ensure(t.Context(), want()); !fault.Is(err, fault.PublishFailed) || fault.From(err).Retryable {
		t.Errorf("closed: %v", err)
	}
	s.Change(1, func(p *githubtest.Pull) { p.Merged = true })
	if pr, err := c.Ensure(t.Context(), want()); err != nil || !pr.Merged || pr.Number != 1 {
		t.Errorf("merged: %+v, %v", pr, err)
	}
	if n := len(s.Pulls()); n != 1 {
		t.Errorf("%d pull requests", n)
	}
}

// The answer to the request that opened the pull request is lost, as in a crash.
func TestAnAnswerThatIsLostOpensNoSecond(t *testing.T) {
	t.Parallel()
	s := forge(t)
	c, _ := newClient(t, s, token)
	lost := false
	s.After = func(r *http.Request) {
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/pulls") && !lost {
			lost = true
			panic(http.ErrAbortHandler)
		}
	}
	if _, err := c.Ensure(t.Context(), want()); !fault.Is(err, fault.PublishFailed) || !fault.From(err).Retryable {
		t.Fatalf("%v", err)
	}
	pr, err := c.Ensure(t.Context(), want())
	if err != nil || !pr.Found || len(s.Pulls()) != 1 || !slices.Equal(s.Pulls()[0].Labels, []string{"docs", "bot"}) {
		t.Errorf("%+v, %v, %+v", pr, err, s.Pulls())
	}
}

func TestRefusalsAreToldApart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status    int
		header    map[string]string
		body      string
		code      fault.Code
		retryable bool
		waits     []time.Duration
		says      string
	}{
		"bad token":      {status: 401, body: `{"message":"Bad credentials"}`, code: fault.PublishAuth, says: "401"},
		"no permission":  {status: 403, body: `{"message":"Resource not accessible by personal access token"}`, code: fault.PublishAuth, says: "not accessible"},
		"no repository":  {status: 404, body: `{"message":"Not Found"}`, code: fault.PublishFailed, says: "404"},
		"invalid":        {status: 422, body: `{"message":"Validation Failed","errors":[{"resource":"PullRequest","field":"base","code":"invalid"}]}`, code: fault.PublishFailed, says: "base invalid"},
		"raced":          {status: 422, body: `{"message":"Validation Failed","errors":[{"code":"custom","message":"A pull request already exists for acme:work."}]}`, code: fault.PublishFailed, retryable: true},
		"moved":          {status: 301, header: map[string]string{"Location": "/elsewhere"}, body: `{"message":"Moved Permanently"}`, code: fault.PublishFailed, says: "redirect"},
		"server trouble": {status: 502, body: `<html>Bad Gateway</html>`, code: fault.PublishFailed, retryable: true, says: "502"},
		"too many":       {status: 429, header: map[string]string{"Retry-After": "7"}, body: `{}`, code: fault.PublishFailed, retryable: true, waits: []time.Duration{7 * time.Second}},
		"secondary limit": {
			status: 403, header: map[string]string{"Retry-After": "3"}, code: fault.PublishFailed, retryable: true, waits: []time.Duration{3 * time.Second},
			body: `{"message":"You have exceeded a secondary rate limit.","documentation_url":"https://docs.github.com/rest/overview/rate-limits#about-secondary-rate-limits"}`,
		},
		"limit for an hour": {
			status: 403, code: fault.PublishFailed, body: `{"message":"API rate limit exceeded"}`, says: "rate limit",
			header: map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Limit": "5000", "X-RateLimit-Reset": strconv.FormatInt(time.Now().Add(time.Hour).Unix(), 10)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := forge(t)
			client, waited := newClient(t, s, token)
			s.Before = func(w http.ResponseWriter, r *http.Request) bool {
				if r.Method != http.MethodPost {
					return false
				}
				for k, v := range c.header {
					w.Header().Set(k, v)
				}
				w.WriteHeader(c.status)
				_, _ = w.Write([]byte(c.body))
				return true
			}
			_, err := client.Ensure(t.Context(), want())
			f := fault.From(err)
			if f.Code != c.code || f.Retryable != c.retryable || !slices.Equal(*waited, c.waits) || !strings.Contains(f.Message, c.says) {
				t.Errorf("%s, retryable %t, waited %v: %s", f.Code, f.Retryable, *waited, f.Message)
			}
			if strings.Contains(err.Error(), token) {
				t.Errorf("the token is told: %v", err)
			}
		})
	}
}

func TestAWrongTokenIsRefused(t *testing.T) {
	t.Parallel()
	c, _ := newClient(t, forge(t), "another token")
	if _, err := c.Ensure(t.Context(), want()); !fault.Is(err, fault.PublishAuth) {
		t.Errorf("%v", err)
	}
}

func TestTheRepositoryIsReadFromARemote(t *testing.T) {
	t.Parallel()
	for remote, is := range map[string]string{
		"https://github.com/acme/site":               "github.com acme/site",
		"https://github.com/acme/site.git":           "github.com acme/site",
		"https://github.com/acme/site/":              "github.com acme/site",
		"ssh://git@github.example.com:22/acme/site":  "github.example.com acme/site",
		"git@github.com:acme/site.git":               "github.com acme/site",
		"https://ghe.example.com/git/acme/site.docs": "ghe.example.com acme/site.docs",
		"https://github.com/site":                    "",
		"/srv/site.git":                              "",
		"../acme/site":                               "",
		"https://github.com/acme/..":                 "",
		"https://github.com/-acme/site":              "",
	} {
		host, r, err := github.AtRemote(remote)
		if got := host + " " + r.String(); err == nil && got != is || (err == nil) != (is != "") {
			t.Errorf("%s: %s, %v", remote, got, err)
		}
	}
}
