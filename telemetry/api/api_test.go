package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/gantry-run/gantry/internal/rest"
	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/telemetry"
	"github.com/gantry-run/gantry/telemetry/api"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server is the API on a new state directory.
type server struct {
	t      *testing.T
	tel    *telemetry.Telemetry
	store  *runs.Store
	h      http.Handler
	caller rest.Caller
}

func newServer(t *testing.T) *server {
	t.Helper()
	dir := t.TempDir()
	s := &server{t: t}
	redactor := telemetry.NewRedactor([]string{"known-secret-value"})
	var err error
	if s.store, err = runs.OpenStore(dir, runs.StoreOptions{}); err != nil {
		t.Fatal(err)
	}
	if s.tel, err = telemetry.Open(t.Context(), telemetry.Options{DBPath: filepath.Join(dir, "telemetry.db"), Redactor: redactor}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.tel.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		s.store.Close()
	})
	sees := func(v *runs.View, token string) bool { return v.Created.Owner == "" || v.Created.Owner == token }
	s.h = rest.Handler(api.Routes(api.Options{Telemetry: s.tel, Store: s.store, Sees: sees}), rest.Options{
		Caller: func(*http.Request) rest.Caller { return s.caller },
		Redact: func(b []byte) []byte { return redactor.JSON(b) },
	})
	return s
}

// do makes a request and returns the answer, which has the status.
func (s *server) do(method, path, body string, status int) []byte {
	s.t.Helper()
	w := httptest.NewRecorder()
	s.h.ServeHTTP(w, httptest.NewRequestWithContext(s.t.Context(), method, path, strings.NewReader(body)))
	if w.Code != status {
		s.t.Fatalf("%s %s: %d, want %d: %s", method, path, w.Code, status, w.Body)
	}
	if strings.Contains(w.Body.String(), "known-secret-value") {
		s.t.Errorf("%s %s tells a secret: %s", method, path, w.Body)
	}
	return w.Body.Bytes()
}

func into[T any](t *testing.T, raw []byte) (v T) {
	t.Helper()
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	return v
}

func posting(id, more string) string {
	return fmt.Sprintf(`{"event_id":%q,"run_id":"run-of-%s","agent_name":"scout","job_type":"launch","start_time":"2026-11-20T11:00:00+01:00"%s}`, id, id, more)
}

func TestPostingTwiceKeepsTheFirst(t *testing.T) {
	s := newServer(t)
	got := into[api.Created](t, s.do("POST", "/api/v1/runs", posting("e1", `,"metrics_json":{"pages":5},"product_family":"cells","items_failed":0,"not_a_member":1`), 201))
	if got != (api.Created{Status: "created", EventID: "e1", RunID: "run-of-e1"}) {
		t.Errorf("%+v", got)
	}
	got = into[api.Created](t, s.do("POST", "/api/v1/runs", posting("e1", `,"status":"failed"`), 201))
	if got.Status != "duplicate" || got.Message == "" {
		t.Errorf("%+v", got)
	}
	r := into[telemetry.Run](t, s.do("GET", "/api/v1/runs/e1", "", 200))
	if r.Status != "running" || string(r.Metrics) != `{"pages":5}` || r.ProductFamily != "cells" || r.ItemsFailed == nil || r.CreatedAt.IsZero() ||
		!r.StartTime.Equal(time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)) {
		t.Errorf("%+v", r)
	}
}

func TestStatusesAreUnderstoodByTheirOtherNamesWhenPosted(t *testing.T) {
	s := newServer(t)
	for other, own := range map[string]string{"failed": "failure", "completed": "success", "succeeded": "success", "partial": "partial"} {
		s.do("POST", "/api/v1/runs", posting(other, `,"status":"`+other+`"`), 201)
		if r := into[telemetry.Run](t, s.do("GET", "/api/v1/runs/"+other, "", 200)); string(r.Status) != own {
			t.Errorf("%s is %s", other, r.Status)
		}
		if own != "partial" {
			s.do("PATCH", "/api/v1/runs/"+other, `{"status":"`+other+`"}`, 422)
		}
	}
	if got := into[[]telemetry.Run](t, s.do("GET", "/api/v1/runs?status=completed", "", 200)); len(got) != 2 {
		t.Errorf("%d completed", len(got))
	}
}

func TestAWrongRecordIsRefusedWithItsFields(t *testing.T) {
	s := newServer(t)
	for body, want := range map[string]string{
		`{}`: "event_id run_id agent_name job_type start_time",
		`{"event_id":"e","run_id":"r","agent_name":"a","job_type":"Launch it","start_time":"2026-11-20T11:00:00"}`: "job_type start_time",
		posting("e", `,"status":"done"`):                                          "status",
		posting("e", `,"duration_ms":-1,"items_failed":-2`):                       "duration_ms items_failed",
		posting("e", `,"duration_ms":"1"`):                                        "duration_ms",
		posting("e", `,"metrics_json":[1],"context_json":"x","end_time":"never"`): "end_time metrics_json context_json",
		posting("e", `,"product":"`+strings.Repeat("x", 129)+`"`):                 "product",
		posting("e", `,"git_commit_hash":"xyz"`):                                  "git_commit_hash",
		posting("known-secret-value", ""):                                         "event_id run_id",
		posting(strings.Repeat("e", 300), ""):                                     "event_id run_id",
		`{"event_id":"a\u001b[0mb","run_id":"r","agent_name":"a","job_type":"launch","start_time":"2026-11-20T11:00:00.123456Z"}`: "event_id",
	} {
		p := into[rest.Problem](t, s.do("POST", "/api/v1/runs", body, 422))
		var fields []string
		for _, e := range p.Errors {
			fields = append(fields, e.Field)
		}
		if strings.Join(fields, " ") != want || p.Detail == "" {
			t.Errorf("%s\n  problems %v, want %s", body, p.Errors, want)
		}
	}
	for _, body := range []string{"", "{", "[]", `"x"`, "null x"} {
		if body != "" {
			s.do("POST", "/api/v1/runs", body, 400)
		}
	}
	s.do("POST", "/api/v1/runs", posting("e", `,"error_details":"`+strings.Repeat("x", 300<<10)+`"`), 413)
	if got := s.do("GET", "/api/v1/runs", "", 200); string(got) != "[]\n" {
		t.Errorf("something was kept: %s", got)
	}
}

func TestAPostedRecordCanBeChanged(t *testing.T) {
	s := newServer(t)
	s.do("POST", "/api/v1/runs", posting("e1", ""), 201)
	got := into[api.Updated](t, s.do("PATCH", "/api/v1/runs/e1",
		`{"status":"success","end_time":"2026-11-20T10:05:00Z","duration_ms":300000,"items_succeeded":3,"output_summary":"known-secret-value is out","error_details":"","context_json":"{\"a\": 1}","run_id":"other"}`, 200))
	want := []string{"status", "end_time", "duration_ms", "items_succeeded", "output_summary", "error_details", "context_json"}
	if !got.Updated || !slices.Equal(got.Fields, want) {
		t.Errorf("%+v", got)
	}
	r := into[telemetry.Run](t, s.do("GET", "/api/v1/runs/e1", "", 200))
	if r.Status != "success" || r.DurationMS != 300_000 || *r.ItemsSucceeded != 3 || r.RunID != "run-of-e1" || string(r.Context) != `{"a":1}` ||
		r.OutputSummary != "[REDACTED:secret] is out" || r.EndTime == nil {
		t.Errorf("%+v", r)
	}
	if got := into[api.Updated](t, s.do("PATCH", "/api/v1/runs/e1", `{}`, 200)); got.Updated || len(got.Fields) != 0 {
		t.Errorf("%+v", got)
	}
	if said := s.do("PATCH", "/api/v1/runs/e2", `{}`, 404); !strings.Contains(string(said), "RECORD_NOT_FOUND") {
		t.Errorf("%s", said)
	}
}

func TestGantrysOwnRecordsAreReadAndNotChanged(t *testing.T) {
	s := newServer(t)
	_, call := s.tel.StartCall(t.Context(), telemetry.CallStart{Tool: "read_file", Client: "alice"})
	call.End(telemetry.CallEnd{Outcome: telemetry.Failure, Code: "NOT_FOUND"})
	r := into[telemetry.Run](t, s.do("GET", "/api/v1/runs/"+call.ID(), "", 200))
	if r.JobType != telemetry.JobCall || !strings.Contains(string(r.Context), `"name":"MCP_TOOL_FAILED"`) {
		t.Errorf("%+v %s", r, r.Context)
	}
	if got := into[api.Updated](t, s.do("PATCH", "/api/v1/runs/"+call.ID(), `{"status":"success"}`, 200)); got.Updated {
		t.Errorf("%+v", got)
	}
	if got := into[api.Created](t, s.do("POST", "/api/v1/runs", posting(call.ID(), ""), 201)); got.Status != "duplicate" {
		t.Errorf("%+v", got)
	}
	if r := into[telemetry.Run](t, s.do("GET", "/api/v1/runs/"+call.ID(), "", 200)); r.Status != "failure" {
		t.Errorf("it was changed: %+v", r)
	}
	s.caller = rest.Caller{Token: "bob", Scopes: []string{"read", "run"}}
	s.do("GET", "/api/v1/runs/"+call.ID(), "", 404)
	s.do("PATCH", "/api/v1/runs/"+call.ID(), `{}`, 404)
	s.caller.Token = "alice"
	s.do("GET", "/api/v1/runs/"+call.ID(), "", 200)
}

func TestACommitIsAssociated(t *testing.T) {
	s := newServer(t)
	s.do("POST", "/api/v1/runs", posting("e1", ""), 201)
	const path = "/api/v1/runs/e1/associate-commit"
	got := into[api.Associated](t, s.do("POST", path, `{"commit_hash":"6700066aa","commit_source":"llm","commit_author":"A","commit_timestamp":"2026-11-20T10:05:00Z"}`, 200))
	if got != (api.Associated{Status: "success", EventID: "e1", RunID: "run-of-e1", CommitHash: "6700066aa"}) {
		t.Errorf("%+v", got)
	}
	if r := into[telemetry.Run](t, s.do("GET", "/api/v1/runs/e1", "", 200)); r.GitCommitHash != "6700066aa" || r.GitCommitSource != "llm" || r.GitCommitTimestamp == nil {
		t.Errorf("%+v", r)
	}
	for _, body := range []string{`{}`, `{"commit_hash":"67","commit_source":"llm"}`, `{"commit_hash":"6700066","commit_source":"me"}`,
		`{"commit_hash":"6700066","commit_source":"ci","commit_timestamp":"x"}`} {
		s.do("POST", path, body, 400)
	}
	s.do("POST", "/api/v1/runs/e2/associate-commit", `{"commit_hash":"6700066","commit_source":"ci"}`, 404)
}

func TestListingFiltersAndPages(t *testing.T) {
	s := newServer(t)
	for i := range 5 {
		body := fmt.Sprintf(`{"event_id":"e%d","run_id":"r","agent_name":"a%d","job_type":"gate","start_time":"2026-11-20T10:00:0%dZ","status":"success"}`, i, i%2, i)
		s.do("POST", "/api/v1/runs", body, 201)
	}
	created := into[telemetry.Run](t, s.do("GET", "/api/v1/runs/e2", "", 200)).CreatedAt.Format(time.RFC3339Nano)
	for query, want := range map[string]string{
		"": "e4 e3 e2 e1 e0", "limit=2": "e4 e3", "limit=2&offset=3": "e1 e0", "agent_name=a1": "e3 e1", "status=succeeded&job_type=gate&limit=1": "e4",
		"status=failed": "", "job_type=launch": "", "created_after=" + created: "e4 e3", "created_before=" + created: "e1 e0",
		"start_time_from=2026-11-20T10:00:03Z": "e4 e3", "start_time_to=2026-11-20T11:00:01%2B01:00": "e1 e0",
	} {
		var got []string
		for _, r := range into[[]telemetry.Run](t, s.do("GET", "/api/v1/runs?"+query, "", 200)) {
			got = append(got, r.EventID)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", query, got, want)
		}
	}
	for _, query := range []string{"limit=0", "limit=1001", "limit=x", "offset=-1", "status=done", "created_after=yesterday"} {
		s.do("GET", "/api/v1/runs?"+query, "", 422)
	}
}

func TestTelemetryOfARun(t *testing.T) {
	s := newServer(t)
	id, _, err := s.store.Create(t.Context(), runs.StartRequest{Kind: runs.Launch, Owner: "alice", Input: json.RawMessage(`{}`),
		Workflow: runs.Workflow{Name: "launch", Nodes: []runs.Node{{Name: "a", Worker: "W1", TimeoutS: 9}}}})
	if err != nil {
		t.Fatal(err)
	}
	s.caller = rest.Caller{Token: "bob"}
	s.do("GET", "/telemetry/"+string(id), "", 404)
	s.caller = rest.Caller{Token: "alice", Scopes: []string{"read"}}
	got := into[api.Telemetry](t, s.do("GET", "/telemetry/"+string(id), "", 200))
	if got.RunID != string(id) || got.Summary.ByJobType["launch"] != 1 {
		t.Errorf("%+v", got)
	}
	s.do("POST", "/api/v1/runs", posting("e1", ""), 403)
	for _, nobody := range []string{"r_20261120T100000Z_aaaaaaaaaaaa", "x", "%2e%2e%2fetc"} {
		if got := into[api.Unknown](t, s.do("GET", "/telemetry/"+nobody, "", 404)); got.Error == "" {
			t.Errorf("%s: %+v", nobody, got)
		}
	}
	s.do("GET", "/telemetry/"+string(id)+"?cursor=x", "", 422)
	s.do("DELETE", "/api/v1/runs/e1", "", 405)
	s.do("GET", "/api/v1/nothing", "", 404)
	if h := into[api.Health](t, s.do("GET", "/health", "", 200)); h.Status != "ok" || h.Version != api.Version || filepath.IsAbs(h.DBPath) {
		t.Errorf("%+v", h)
	}
}
