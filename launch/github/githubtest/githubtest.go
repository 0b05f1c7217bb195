// Package githubtest is GitHub for tests: the part of its REST API that opens pull requests,
// as it is documented, and git over HTTP on a real bare repository, by git's own
// http-backend. The API wants the token, and so does a push; everybody may fetch.
package githubtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Repository is what the one repository of a server is called.
const Repository = "acme/site"

// Pull is a pull request.
type Pull struct {
	Number            int
	Title, Body       string
	Head, Base, State string
	Draft, Merged     bool
	Labels            []string
	MaintainerCanEdit bool
	Opened, Patched   int // how often
}

// Server is a GitHub with one repository.
type Server struct {
	Token string

	// Before sees each request first, and may answer it, which it reports. After is called
	// when a request has had its effect and before it is answered.
	Before func(http.ResponseWriter, *http.Request) bool
	After  func(*http.Request)

	t    testing.TB
	http *httptest.Server
	bare string
	git  *cgi.Handler

	mu    sync.Mutex
	pulls []*Pull
	asked []string
}

// New starts a server for a bare repository, in the folder of that name. It ends with the
// test.
func New(t testing.TB, bare, token string) *Server {
	t.Helper()
	path, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{Token: token, t: t, bare: bare}
	s.git = &cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(path)), "git-http-backend"), Root: "/" + strings.Split(Repository, "/")[0],
		Env: []string{
			"GIT_PROJECT_ROOT=" + filepath.Dir(bare), "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=writer", "GIT_CONFIG_NOSYSTEM=1",
			"HOME=" + filepath.Dir(bare),
		},
		InheritEnv: []string{"PATH"},
	}
	s.http = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.http.Close)
	return s
}

// API is the base URL of the API.
func (s *Server) API() string { return s.http.URL + "/api/v3/" }

// Remote is the URL of the repository for git.
func (s *Server) Remote() string { return s.http.URL + "/" + Repository + ".git" }

// Host is the server's host and port.
func (s *Server) Host() string { return strings.TrimPrefix(s.http.URL, "http://") }

// Drop closes the connections that are open now.
func (s *Server) Drop() { s.http.CloseClientConnections() }

// Pulls returns the pull requests as they are now, by number.
func (s *Server) Pulls() (out []Pull) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.pulls {
		out = append(out, *p)
	}
	return out
}

// Asked returns the requests to the API so far, as "METHOD path".
func (s *Server) Asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// Change changes the pull request of a number.
func (s *Server) Change(number int, change func(*Pull)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s.pulls[number-1])
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if s.Before != nil && s.Before(w, r) {
		return
	}
	if path, ok := strings.CutPrefix(r.URL.Path, "/api/v3/repos/"+Repository); ok {
		s.mu.Lock()
		s.asked = append(s.asked, r.Method+" "+path)
		s.mu.Unlock()
		s.api(w, r, path)
		return
	}
	if strings.HasPrefix(r.URL.Path, "/"+Repository+".git/") {
		_, password, given := r.BasicAuth()
		if writes := strings.Contains(r.URL.RawQuery+r.URL.Path, "git-receive-pack"); password != s.Token && (writes || given) {
			w.Header().Set("WWW-Authenticate", `Basic realm="GitHub"`)
			http.Error(w, "Invalid username or token.", http.StatusUnauthorized)
			return
		}
		s.git.ServeHTTP(w, r)
		return
	}
	refuse(w, http.StatusNotFound, "Not Found")
}

func (s *Server) api(w http.ResponseWriter, r *http.Request, path string) {
	if r.Header.Get("Authorization") != "Bearer "+s.Token {
		refuse(w, http.StatusUnauthorized, "Bad credentials")
		return
	}
	status, body := s.answer(r, path)
	if s.After != nil {
		s.After(r)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

type object = map[string]any

func (s *Server) answer(r *http.Request, path string) (int, any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var in struct {
		Title, Body, Head, Base string
		Draft                   bool
		Labels                  []string
		Maintainer              bool `json:"maintainer_can_modify"`
	}
	if r.Method != http.MethodGet {
		if raw := json.NewDecoder(r.Body); strings.HasSuffix(path, "/labels") {
			_ = raw.Decode(&in.Labels)
		} else if err := raw.Decode(&in); err != nil {
			return http.StatusBadRequest, object{"message": "Problems parsing JSON"}
		}
	}
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case r.Method == http.MethodGet && path == "":
		return http.StatusOK, object{"full_name": Repository, "default_branch": "main"}
	case r.Method == http.MethodGet && path == "/pulls":
		return http.StatusOK, s.list(r.URL.Query().Get("state"), r.URL.Query().Get("head"))
	case r.Method == http.MethodPost && path == "/pulls":
		p := &Pull{Title: in.Title, Body: in.Body, Head: in.Head, Base: in.Base, Draft: in.Draft, State: "open", Opened: 1, MaintainerCanEdit: in.Maintainer}
		return s.create(p)
	case len(parts) >= 2:
		n, err := strconv.Atoi(parts[1])
		if err != nil || n < 1 || n > len(s.pulls) {
			break
		}
		p := s.pulls[n-1]
		switch {
		case r.Method == http.MethodPatch && parts[0] == "pulls":
			p.Title, p.Body, p.Base = in.Title, in.Body, in.Base
			p.Patched++
			return http.StatusOK, s.shown(p)
		case r.Method == http.MethodPost && parts[0] == "issues" && parts[2] == "labels":
			p.Labels = append(p.Labels, in.Labels...)
			return http.StatusOK, labels(p)
		}
	}
	return http.StatusNotFound, object{"message": "Not Found"}
}

func (s *Server) list(state, head string) []object {
	out := []object{}
	for _, p := range slices.Backward(s.pulls) {
		if (state == "all" || state == p.State || state == "" && p.State == "open") && (head == "" || head == owner()+":"+p.Head) {
			out = append(out, s.shown(p))
		}
	}
	return out
}

// create opens a pull request, or refuses as GitHub does.
func (s *Server) create(p *Pull) (int, any) {
	invalid := func(problem object) (int, any) {
		return http.StatusUnprocessableEntity, object{"message": "Validation Failed", "errors": []object{problem}, "documentation_url": "https://docs.github.com/rest"}
	}
	for field, branch := range map[string]string{"head": p.Head, "base": p.Base} {
		if err := exec.Command("git", "-C", s.bare, "rev-parse", "--verify", "--quiet", "refs/heads/"+branch).Run(); err != nil {
			return invalid(object{"resource": "PullRequest", "field": field, "code": "invalid"})
		}
	}
	if p.Title == "" {
		return invalid(object{"resource": "PullRequest", "field": "title", "code": "missing_field"})
	}
	for _, other := range s.pulls {
		if other.State == "open" && other.Head == p.Head && other.Base == p.Base {
			return invalid(object{"resource": "PullRequest", "code": "custom", "message": fmt.Sprintf("A pull request already exists for %s:%s.", owner(), p.Head)})
		}
	}
	p.Number = len(s.pulls) + 1
	s.pulls = append(s.pulls, p)
	return http.StatusCreated, s.shown(p)
}

func owner() string { return strings.Split(Repository, "/")[0] }

func (s *Server) shown(p *Pull) object {
	out := object{
		"number": p.Number, "title": p.Title, "body": p.Body, "state": p.State, "draft": p.Draft, "labels": labels(p), "merged_at": nil,
		"html_url": fmt.Sprintf("%s/%s/pull/%d", s.http.URL, Repository, p.Number),
		"head":     object{"ref": p.Head, "label": owner() + ":" + p.Head}, "base": object{"ref": p.Base},
	}
	if p.Merged {
		out["merged_at"] = "2026-01-02T03:04:05Z"
	}
	return out
}

func labels(p *Pull) []object {
	out := []object{}
	for _, l := range p.Labels {
		out = append(out, object{"name": l})
	}
	return out
}

func refuse(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(object{"message": message})
}
