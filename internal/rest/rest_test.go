package rest_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/rest"
)

// routes are one for each way a handler may end.
func routes() []rest.Route {
	fail := func(err error) func(*rest.Request) error { return func(*rest.Request) error { return err } }
	return []rest.Route{
		{Method: "GET", Path: "/ok/{name}", ID: "ok", Scope: rest.ScopeRead, Handle: func(r *rest.Request) error {
			return r.JSON(200, map[string]string{"name": r.PathValue("name"), "said": "<b> secret"})
		}},
		{Method: "POST", Path: "/ok/{name}", ID: "echo", Handle: func(r *rest.Request) error {
			var in struct {
				N int `json:"n"`
			}
			if err := r.Read(20, &in); err != nil {
				return err
			}
			return r.JSON(201, in)
		}},
		{Method: "GET", Path: "/gone", ID: "gone", Handle: fail(fault.New(fault.RunNotFound, "there is no such run").WithHint("list the runs"))},
		{Method: "GET", Path: "/broken", ID: "broken", Handle: fail(errors.New("open /srv/secret/file: no such file"))},
		{Method: "GET", Path: "/busy", ID: "busy", Handle: fail(fault.Retry(fault.ShuttingDown, "the server stops"))},
		{Method: "GET", Path: "/numbers", ID: "numbers", Handle: func(r *rest.Request) error {
			n, err := r.Int("n", 7, 1, 9)
			if err != nil {
				return err
			}
			at, err := r.Time("at")
			if err != nil {
				return err
			}
			return r.JSON(200, map[string]any{"n": n, "at": at})
		}},
	}
}

func serve(t *testing.T, o rest.Options, method, path, body string) (*httptest.ResponseRecorder, rest.Problem) {
	t.Helper()
	w := httptest.NewRecorder()
	rest.Handler(routes(), o).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body)))
	var p rest.Problem
	if w.Code >= 400 {
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Header().Get("Content-Type") != "application/problem+json" || p.Status != w.Code || p.Title == "" || p.Detail == "" {
			t.Errorf("%s %s: %v %v %s", method, path, err, w.Header(), w.Body)
		}
	}
	return w, p
}

func TestEveryFailureIsAProblem(t *testing.T) {
	for request, want := range map[string]struct {
		status int
		code   fault.Code
	}{
		"GET /gone": {404, fault.RunNotFound}, "GET /broken": {500, fault.Internal}, "GET /busy": {503, fault.ShuttingDown},
		"GET /nothing": {404, ""}, "DELETE /gone": {405, ""}, "PUT /ok/x": {405, ""},
		"GET /numbers?n=0": {422, fault.SchemaValidationFailed}, "GET /numbers?n=10": {422, fault.SchemaValidationFailed}, "GET /numbers?n=1e3": {422, fault.SchemaValidationFailed},
		"GET /numbers?at=today": {422, fault.SchemaValidationFailed}, "GET /numbers?n=9&at=2026-11-20T10:00:00Z": {200, ""}, "GET /numbers": {200, ""},
	} {
		method, path, _ := strings.Cut(request, " ")
		w, p := serve(t, rest.Options{}, method, path, "")
		if w.Code != want.status || p.Code != want.code {
			t.Errorf("%s: %d %s", request, w.Code, w.Body)
		}
	}
	if w, _ := serve(t, rest.Options{}, "PUT", "/ok/x", ""); strings.Join(w.Header().Values("Allow"), ",") != "GET,POST" {
		t.Errorf("%v", w.Header())
	}
	if _, p := serve(t, rest.Options{}, "GET", "/gone", ""); p.Hint != "list the runs" {
		t.Errorf("%+v", p)
	}
}

func TestWhatWentWrongInsideIsLoggedAndNotTold(t *testing.T) {
	var log bytes.Buffer
	w, _ := serve(t, rest.Options{Log: slog.New(slog.NewJSONHandler(&log, nil))}, "GET", "/broken", "")
	if strings.Contains(w.Body.String(), "/srv") || !strings.Contains(log.String(), "/srv/secret/file") {
		t.Errorf("told: %s\nlogged: %s", w.Body, log.String())
	}
}

func TestBodiesAreBounded(t *testing.T) {
	for body, want := range map[string]int{
		`{"n":1}`: 201, "": 201, `{"n":"x"}`: 422, `{`: 400, `[1]`: 400, `{"n":1, "more": "than it may be"}`: 413,
	} {
		if w, _ := serve(t, rest.Options{}, "POST", "/ok/x", body); w.Code != want {
			t.Errorf("%s: %d %s", body, w.Code, w.Body)
		}
	}
	if _, p := serve(t, rest.Options{}, "POST", "/ok/x", `{"n":"x"}`); len(p.Errors) != 1 || p.Errors[0].Field != "n" {
		t.Errorf("%+v", p)
	}
}

func TestScopesAreHeldRouteByRoute(t *testing.T) {
	for _, c := range []struct {
		scopes []string
		status int
	}{{nil, 200}, {[]string{"read"}, 200}, {[]string{"run", "read"}, 200}, {[]string{"run"}, 403}, {[]string{}, 403}} {
		o := rest.Options{Caller: func(*http.Request) rest.Caller { return rest.Caller{Token: "t", Scopes: c.scopes} }}
		if w, p := serve(t, o, "GET", "/ok/x", ""); w.Code != c.status || w.Code == 403 && p.Code != fault.AuthInsufficientScope {
			t.Errorf("%v: %d", c.scopes, w.Code)
		}
		if w, _ := serve(t, o, "GET", "/numbers", ""); w.Code != 200 {
			t.Errorf("%v: a route without a scope: %d", c.scopes, w.Code)
		}
	}
}

func TestAllThatLeavesIsRedacted(t *testing.T) {
	o := rest.Options{Redact: func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("secret"), []byte("***")) }}
	w, _ := serve(t, o, "GET", "/ok/a-secret", "")
	if got := w.Body.String(); got != "{\"name\":\"a-***\",\"said\":\"<b> ***\"}\n" || w.Header().Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%s %v", got, w.Header())
	}
}

func TestADocumentIsTheSameForTheSameRoutes(t *testing.T) {
	one, err := rest.Document(rest.Info{Title: "T", Version: "1"}, routes())
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		if two, _ := rest.Document(rest.Info{Title: "T", Version: "1"}, routes()); !bytes.Equal(one, two) {
			t.Fatal("it differs")
		}
	}
}
