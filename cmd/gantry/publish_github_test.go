package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/launch/github/githubtest"
	"github.com/gantry-run/gantry/runs"
)

// forgeToken has the form of no known kind of secret: only its value can give it away.
const forgeToken = "plain-words-that-open-the-forge"

// forge makes a bare repository of the site, and a GitHub that has it.
func (w *world) forge() (*githubtest.Server, args) {
	w.t.Helper()
	w.git("", "clone", "-q", "--bare", "site", "site.git")
	s := githubtest.New(w.t, filepath.Join(w.root, "site.git"), forgeToken)
	w.env = append(w.env, "GITHUB_TOKEN="+forgeToken)
	return s, args{
		"site_repo_url": "site.git", "publisher": "github", "autopilot": args{"fix": true, "open_pr": true},
		"github": args{"api_base_url": s.API(), "repository": githubtest.Repository, "labels": []string{"docs"}},
	}
}

// tellsNobody checks that a secret is in no file of the state directory and in nothing that
// a server has said.
func (w *world) tellsNobody(secret string, said ...string) {
	w.t.Helper()
	forms := [][]byte{[]byte(secret), []byte(base64.StdEncoding.EncodeToString([]byte("x-access-token:" + secret)))}
	err := filepath.WalkDir(w.state, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil // what a run cleans up may vanish
		}
		raw, err := os.ReadFile(path)
		for _, form := range forms {
			if bytes.Contains(raw, form) {
				w.t.Errorf("%s holds the secret", path)
			}
		}
		return err
	})
	if err != nil {
		w.t.Error(err)
	}
	for _, text := range said {
		for _, form := range forms {
			if strings.Contains(text, string(form)) {
				w.t.Errorf("the secret was said: %.300s", text)
			}
		}
	}
}

// pr reads a run's pr.json.
func (p *peer) pr(id string) (pr dossier.PR) {
	p.t.Helper()
	if err := json.Unmarshal(p.artifact(id, dossier.PRName, 1<<20), &pr); err != nil {
		p.t.Fatal(err)
	}
	return pr
}

func TestAPullRequestAtGitHubSurvivesAKill(t *testing.T) {
	t.Parallel()
	for moment, hit := range map[string]func(r *http.Request, after bool) bool{
		"between the push and the pull request": func(r *http.Request, after bool) bool {
			return !after && r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/pulls")
		},
		"before its answer came": func(r *http.Request, after bool) bool {
			return after && r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/pulls")
		},
	} {
		t.Run(moment, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			s, config := w.forge()
			reached, gone := make(chan struct{}, 1), make(chan struct{})
			hold := func(r *http.Request, after bool) {
				if hit(r, after) {
					select {
					case <-gone:
					default:
						reached <- struct{}{}
						<-gone
					}
				}
			}
			s.Before = func(_ http.ResponseWriter, r *http.Request) bool { hold(r, false); return false }
			s.After = func(r *http.Request) { hold(r, true) }
			p := w.serve(stateful, "--launch-hosts", s.Host())
			id := p.start(config)
			select {
			case <-reached:
			case <-time.After(patience):
				v, err := w.store.View(runs.ID(id))
				t.Fatalf("the moment does not come: %+v, %v", v.Failure, err)
			}
			p.signal(syscall.SIGKILL)
			close(gone)
			again := w.serve(stateless, "--launch-hosts", s.Host())
			if v := w.until(id, func(v *runs.View) bool { return v.State.Terminal() }); v.State != runs.StateDone {
				t.Fatalf("%s: %+v", v.State, v.Failure)
			}
			pulls, pr := s.Pulls(), again.pr(id)
			if len(pulls) != 1 || pulls[0].Head != pr.Branch || pulls[0].Base != "main" || pulls[0].Draft || !slices.Equal(pulls[0].Labels, []string{"docs"}) {
				t.Errorf("%+v", pulls)
			}
			if pr.Number == nil || *pr.Number != 1 || !pr.Pushed || !strings.HasSuffix(pr.URL, "/acme/site/pull/1") {
				t.Errorf("%+v", pr)
			}
			if got := w.git("site.git", "rev-parse", "refs/heads/"+pr.Branch); got != pr.CommitSHAs[0] {
				t.Errorf("the branch is at %s, want %s", got, pr.CommitSHAs[0])
			}
			said := string(again.must("get_telemetry", args{"run_id": id}))
			if got := field(t, again.must("launch_open_pr", args{"run_id": id}), "pr_url"); got != pr.URL {
				t.Errorf("opened again: %s, want %s", got, pr.URL)
			}
			again.end()
			w.tellsNobody(forgeToken, p.err.String(), again.err.String(), said)
			w.verify(id)
		})
	}
}

func TestATokenThatIsRefusedIsToldAndTheRunGoesOnWithAnother(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s, config := w.forge()
	s.Token = "another"
	p := w.serve(stateful, "--launch-hosts", s.Host())
	id := p.start(config)
	v := w.rest(id)
	if v.State != runs.StateFailed || v.Failure.Code != "PR_MANAGER_AUTH_REFUSED" {
		t.Fatalf("%s: %+v", v.State, v.Failure)
	}
	status := string(p.status(id))
	s.Token = forgeToken
	p.must("launch_resume", args{"run_id": id})
	if v := w.until(id, func(v *runs.View) bool { return v.State == runs.StateDone }); len(s.Pulls()) != 1 {
		t.Errorf("%s, %+v", v.State, s.Pulls())
	}
	p.end()
	w.tellsNobody(forgeToken, p.err.String(), status)
}

// A client must not be able to send the server's secrets to wherever it likes.
func TestAClientChoosesNeitherHostsNorSecrets(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s, config := w.forge()
	w.env = append(w.env, "OTHER_TOKEN="+forgeToken)
	refused := func(flags []string, change args, says string) {
		t.Helper()
		p := w.serve(stateful, flags...)
		defer p.end()
		all := args{"github_repo_url": "product", "site_repo_url": "site.git", "publisher": "github", "github": args{}}
		for k, v := range config["github"].(args) {
			all["github"].(args)[k] = v
		}
		for k, v := range change {
			all["github"].(args)[k] = v
		}
		if r := p.refused("launch_start_run", args{"run_config": all}, "NETWORK_BLOCKED"); !strings.Contains(r.Message, says) {
			t.Errorf("%s", r.Message)
		}
	}
	refused(nil, nil, "launch.hosts")
	refused([]string{"--launch-hosts", s.Host()}, args{"token_env": "OTHER_TOKEN"}, "launch.secrets")
	refused([]string{"--launch-hosts", s.Host()}, args{"api_base_url": "https://evil.example/api/v3/"}, "evil.example")
	if len(s.Asked()) > 0 {
		t.Errorf("%v", s.Asked())
	}
}

func TestADraftIsOpenedForWhoInsists(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s, config := w.forge()
	delete(config, "autopilot")
	p := w.serve(stateful, "--launch-hosts", s.Host())
	id := w.ready(p, config)
	w.spoil(id, docsIndex, replace("title: ", "was: "))
	p.must("launch_validate", args{"run_id": id})
	p.refused("launch_open_pr", args{"run_id": id}, "ILLEGAL_STATE")
	p.must("launch_open_pr", args{"run_id": id, "draft": true})
	w.until(id, func(v *runs.View) bool { return v.State == runs.StateDone })
	if pr := p.pr(id); !pr.Draft || pr.Validation.OK || !strings.Contains(pr.Body, "draft") {
		t.Errorf("%+v", pr)
	}
	if pulls := s.Pulls(); len(pulls) != 1 || !pulls[0].Draft {
		t.Errorf("%+v", pulls)
	}
	code, out, errOut := w.gantry("runs", "rollback", id)
	for _, want := range []string{"gh pr close 1 --repo acme/site", "git revert", "git push origin --delete launch/"} {
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("exit %d, %s%s, want %q", code, out, errOut, want)
		}
	}
}
