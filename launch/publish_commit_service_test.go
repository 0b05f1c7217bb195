package launch

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/launch/commitservice"
	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/launch/egress"
	"github.com/gantry-run/gantry/runs"
)

// service is a commit service: it answers a key as it did the first time.
type service struct {
	mu      sync.Mutex
	commits map[string]commitservice.CommitRequest // by key
	opened  map[string]commitservice.OpenPRRequest
	broken  func(operation string, n int) (status int, body string) // of the nth request; 0: none
	n       int
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n++
	key, operation := r.Header.Get("Idempotency-Key"), strings.TrimPrefix(r.URL.Path, "/v1/")
	if r.Header.Get("Authorization") != "Bearer service-token" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	answer := map[string]any{"schema_version": "1.0", "idempotency_key": key}
	switch operation {
	case "commit":
		var in commitservice.CommitRequest
		_ = json.NewDecoder(r.Body).Decode(&in)
		s.commits[key] = in
		answer["run_id"], answer["commit_sha"] = in.RunID, strings.Repeat("ab", 20)
	case "open_pr":
		var in commitservice.OpenPRRequest
		_ = json.NewDecoder(r.Body).Decode(&in)
		s.opened[key] = in
		answer["run_id"], answer["pr_url"], answer["pr_number"] = in.RunID, "https://forge.example/acme/site/pull/7", 7
	}
	if s.broken != nil {
		status, body := s.broken(operation, s.n)
		switch {
		case status < 0:
			panic(http.ErrAbortHandler) // the answer is lost
		case status > 0:
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
			return
		}
	}
	_ = json.NewEncoder(w).Encode(answer)
}

// withService returns a world whose launches may reach a commit service, and the members of
// run_config that have them do it.
func withService(t *testing.T, offline bool, s *service) (*world, string) {
	t.Helper()
	s.commits, s.opened = map[string]commitservice.CommitRequest{}, map[string]commitservice.OpenPRRequest{}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	policy := egress.New([]string{"127.0.0.1"}, map[string]string{"SERVICE_TOKEN": "service-token"})
	w := newWorldWith(t, WorkerOptions{Egress: policy, Offline: offline}, nil)
	w.svc = w.as(func(o *Options) { o.Egress, o.Offline = policy, offline })
	return w, `,"site_repo_url":"site.git","autopilot":{"fix":true,"open_pr":true},"publisher":"commit_service","commit_service":{"endpoint_url":"` +
		server.URL + `","github_token_env":"SERVICE_TOKEN","commit_message_template":"Document {product_slug}","commit_body_template":"By {run_id}","author_name":"Ann","author_email":"ann@example.com",` +
		`"ai_governance_metadata":{"ag001_approval":{"approved":true,"approval_source":"manual-marker","timestamp":"2026-01-02T03:04:05Z"}}}`
}

// Answers are lost, and the service has trouble: each request is asked again under its key.
func TestACommitServiceIsAskedAgainUnderTheSameKey(t *testing.T) {
	t.Parallel()
	s := &service{broken: func(_ string, n int) (int, string) {
		return map[int]int{1: -1, 3: 503}[n], ""
	}}
	w, members := withService(t, false, s)
	id := w.start(members)
	if v := w.rest(id); v.State != runs.StateDone {
		t.Fatalf("%s: %+v", v.State, v.Failure)
	}
	if len(s.commits) != 1 || len(s.opened) != 1 || s.n < 4 {
		t.Errorf("%d requests under %d and %d keys", s.n, len(s.commits), len(s.opened))
	}
	for key, c := range s.commits {
		if c.IdempotencyKey != key || c.CommitMessage != "Document widget" || c.CommitBody != "By "+string(id) || len(c.PatchBundle.Patches) == 0 ||
			len(c.AllowedPaths) == 0 || c.Governance == nil || !c.Governance.Approval.Approved || key[14] != '4' || !runs.IsUUID(key) {
			t.Errorf("%s: %+v", key, c)
		}
	}
	if by := w.git(w.site(id), "log", "-1", "--format=%an <%ae>"); by != "Ann <ann@example.com>" {
		t.Errorf("the commit is by %s", by)
	}
	pr := w.pr(id)
	if pr.Number == nil || *pr.Number != 7 || pr.CommitSHAs[0] != strings.Repeat("ab", 20) || pr.Status != dossier.PROpened {
		t.Errorf("%+v", pr)
	}
}

func TestRefusalsOfACommitServiceAreToldApart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		body   string
		code   fault.Code
	}{
		"token":    {401, `{"schema_version":"1.0","code":"AUTH_INVALID_TOKEN","message":"no"}`, fault.PublishAuth},
		"scope":    {403, `{"schema_version":"1.0","code":"AUTH_INSUFFICIENT_SCOPE","message":"no"}`, fault.PublishAuth},
		"paths":    {403, `{"schema_version":"1.0","code":"PATH_NOT_ALLOWED","message":"no"}`, fault.AllowedPathsViolation},
		"approval": {403, `{"schema_version":"1.0","code":"AG001_APPROVAL_REQUIRED","message":"no"}`, fault.CommitServiceError},
		"conflict": {409, `{"schema_version":"1.0","code":"BRANCH_EXISTS","message":"no"}`, fault.CommitServiceError},
		"no JSON":  {200, `<html>`, fault.CommitServiceError},
		"no run":   {200, `{}`, fault.CommitServiceError},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(c.status)
				_, _ = w.Write([]byte(c.body))
			}))
			defer server.Close()
			defer server.Client().CloseIdleConnections()
			_, err := commitservice.Client{Endpoint: server.URL, HTTP: server.Client()}.Commit(t.Context(), commitservice.CommitRequest{RunID: "r_12345678"})
			if f := fault.From(err); f.Code != c.code || f.Retryable {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestOfflineTheRequestsAreKept(t *testing.T) {
	t.Parallel()
	s := &service{}
	w, members := withService(t, true, s)
	id := w.start(members)
	v := w.rest(id)
	if v.State != runs.StateDone || s.n != 0 {
		t.Fatalf("%s: %+v; %d requests", v.State, v.Failure, s.n)
	}
	pr := w.pr(id)
	if pr.Status != dossier.PRDeferred || pr.Pushed || pr.Number != nil {
		t.Errorf("%+v", pr)
	}
	for _, name := range []string{"commit_bundle.json", "open_pr_bundle.json"} {
		if _, ok := v.Artifacts[name]; !ok {
			t.Errorf("%s is no artifact", name)
		}
	}
}
