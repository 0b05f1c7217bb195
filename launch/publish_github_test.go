package launch

import (
	"context"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/launch/egress"
	"github.com/gantry-run/gantry/launch/github/githubtest"
	"github.com/gantry-run/gantry/runs"
)

// withForge returns a world whose launches may talk to a GitHub on this machine, with a push
// over HTTP to git's own server, and the members of run_config that have them do it.
func withForge(t *testing.T, token string) (*world, *githubtest.Server, string) {
	t.Helper()
	policy := new(egress.Policy)
	var s *githubtest.Server
	w := newWorldWith(t, WorkerOptions{Egress: policy}, func(name string, do runs.Activity) runs.Activity {
		if name != "open_pr" {
			return do
		}
		return func(ctx context.Context, work runs.Work, try runs.Try) (runs.Result, error) {
			remote := exec.Command("git", "-C", filepath.Join(try.Dir, "work", "site"), "remote", "set-url", "origin", s.Remote()) // nothing is cloned from this machine
			if out, err := remote.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
			return do(ctx, work, try)
		}
	})
	s = githubtest.New(t, filepath.Join(w.root, "site.git"), "the-token-of-the-forge")
	*policy = *egress.New([]string{s.Host()}, map[string]string{"GITHUB_TOKEN": token})
	w.git("site.git", "config", "http.receivepack", "true")
	w.svc = w.as(func(o *Options) { o.Egress = policy })
	return w, s, `,"site_repo_url":"site.git","publisher":"github","autopilot":{"fix":true,"open_pr":true},` +
		`"github":{"repository":"` + githubtest.Repository + `","api_base_url":"` + s.API() + `"}`
}

func TestABranchIsPushedOverHTTPWithTheToken(t *testing.T) {
	t.Parallel()
	w, s, members := withForge(t, "the-token-of-the-forge")
	id := w.start(members)
	if v := w.rest(id); v.State != runs.StateDone {
		t.Fatalf("%s: %+v", v.State, v.Failure)
	}
	pr := w.pr(id)
	if got := w.git("site.git", "rev-parse", "refs/heads/"+pr.Branch); got != pr.CommitSHAs[0] || len(s.Pulls()) != 1 || pr.Repository != githubtest.Repository {
		t.Errorf("%s, %+v, %+v", got, s.Pulls(), pr)
	}
}

func TestAPushWithAWrongTokenIsRefusedAndNothingIsOpened(t *testing.T) {
	t.Parallel()
	w, s, members := withForge(t, "another-token")
	if v := w.rest(w.start(members)); v.State != runs.StateFailed || v.Failure.Code != string(fault.PublishAuth) {
		t.Errorf("%s: %+v", v.State, v.Failure)
	}
	if asked := s.Asked(); len(asked) > 0 {
		t.Errorf("%v", asked)
	}
}
