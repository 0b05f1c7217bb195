package web_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/rest"
	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/telemetry"
	"github.com/gantry-run/gantry/web"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server has one run, of alice's, that is under way.
type server struct {
	*httptest.Server
	t      *testing.T
	store  *runs.Store
	run    runs.ID
	caller rest.Caller
	end    chan struct{}
	output []byte
}

const secret = "known-secret-value"

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{t: t, end: make(chan struct{}), caller: rest.Caller{Token: "alice", Scopes: []string{"read"}}}
	redactor := telemetry.NewRedactor([]string{secret})
	var err error
	if s.store, err = runs.OpenStore(t.TempDir(), runs.StoreOptions{}); err != nil {
		t.Fatal(err)
	}
	s.run, _, err = s.store.Create(t.Context(), runs.StartRequest{
		Kind: runs.Launch, Owner: "alice", Labels: map[string]string{"product_slug": "widget"}, Input: json.RawMessage(`{"note":"` + secret + `"}`),
		Workflow: runs.Workflow{Name: "launch", Nodes: []runs.Node{{Name: "a", Worker: "W1", TimeoutS: 9}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	output := func(id runs.ID, from int64) ([]byte, int64, error) {
		if s.output == nil {
			return nil, 0, fault.New(fault.ArtifactNotFound, "the run has no output")
		}
		from = min(from, int64(len(s.output)))
		return s.output[from:], int64(len(s.output)), nil
	}
	h := rest.Handler(web.Routes(web.Options{
		Store: s.store, Sees: func(v *runs.View, token string) bool { return v.Created.Owner == token }, Mask: redactor.Bytes, Output: output, Beat: time.Millisecond,
	}), rest.Options{Caller: func(*http.Request) rest.Caller { return s.caller }, Redact: func(b []byte) []byte { return redactor.JSON(b) }, End: s.end})
	s.Server = httptest.NewServer(h)
	t.Cleanup(func() {
		s.Client().CloseIdleConnections()
		s.Close()
		s.store.Close()
	})
	return s
}

// drive changes the run by hand.
func (s *server) drive(do func(*runs.Drive) error) {
	s.t.Helper()
	d, ok, err := s.store.Drive(s.t.Context(), s.run)
	if err == nil && ok {
		err = do(d)
	}
	if err == nil {
		err = d.Close(s.t.Context())
	}
	if err != nil || !ok {
		s.t.Fatal(ok, err)
	}
}

// write makes the run have an artifact.
func (s *server) write(name string, data []byte) string {
	s.t.Helper()
	sum := sha256.Sum256(data)
	a := runs.Artifact{Name: name, Path: "artifacts/" + name, SHA256: hex.EncodeToString(sum[:]), Size: int64(len(data)), Writer: "W1"}
	path := filepath.Join(s.store.Dir(s.run), a.Path)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		s.t.Fatal(err)
	}
	s.drive(func(d *runs.Drive) error { return d.Append(runs.Draft{Type: runs.ArtifactWritten, Payload: a}) })
	return a.SHA256
}

type answer struct {
	*http.Response
	body []byte
}

// get makes a request; headers are "Name: value".
func (s *server) get(path string, status int, headers ...string) answer {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), "GET", s.URL+"/api/gantry/v1/runs"+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	resp, err := s.Client().Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != status {
		s.t.Fatalf("%s: %d, want %d, %v: %.300s", path, resp.StatusCode, status, err, body)
	}
	if bytes.Contains(body, []byte(secret)) {
		s.t.Errorf("%s tells a secret: %.300s", path, body)
	}
	return answer{resp, body}
}

func into[T any](t *testing.T, a answer) (v T) {
	t.Helper()
	if err := json.Unmarshal(a.body, &v); err != nil {
		t.Fatalf("%v in %s", err, a.body)
	}
	return v
}

func TestRunsAreListedAndShownToWhoSeesThem(t *testing.T) {
	s := newServer(t)
	if got := into[web.RunList](t, s.get("?kind=launch&product=widget", 200)); len(got.Runs) != 1 || got.Runs[0].RunID != s.run {
		t.Errorf("%+v", got)
	}
	got := into[web.RunDetail](t, s.get("/"+string(s.run), 200))
	if got.State != runs.StateCreated || got.Seq != 1 || got.Product != "widget" || got.Links["events"] == "" {
		t.Errorf("%+v", got)
	}
	s.get("?limit=0", 422)
	s.get("?cursor=x", 422)
	s.caller.Token = "bob"
	if got := into[web.RunList](t, s.get("", 200)); len(got.Runs) != 0 {
		t.Errorf("bob sees %+v", got)
	}
	for _, path := range []string{"", "/events", "/artifacts", "/artifacts/snapshot.json", "/logs"} {
		p := into[rest.Problem](t, s.get("/"+string(s.run)+path, 404))
		if p.Code != fault.RunNotFound || p.Status != 404 || p.Title != "Not Found" {
			t.Errorf("%+v", p)
		}
	}
	s.caller.Scopes = []string{"run"}
	if p := into[rest.Problem](t, s.get("", 403)); p.Code != fault.AuthInsufficientScope {
		t.Errorf("%+v", p)
	}
}

func TestAnUnknownRunIsAProblemDocument(t *testing.T) {
	s := newServer(t)
	for _, id := range []string{"r_20261120T100000Z_aaaaaaaaaaaa", "x", "..%2f..%2fetc", strings.Repeat("x", 300)} {
		for _, path := range []string{"", "/events", "/artifacts", "/artifacts/x.json", "/logs"} {
			a := s.get("/"+id+path, 404)
			if p := into[rest.Problem](t, a); a.Header.Get("Content-Type") != "application/problem+json" || p.Code != fault.RunNotFound || p.Detail == "" {
				t.Errorf("%s%s: %+v", id, path, p)
			}
		}
	}
}

func TestAnArtifactIsGivenInRangesUnderItsHash(t *testing.T) {
	s := newServer(t)
	data := []byte(strings.Repeat("0123456789", 1000))
	sum := s.write("plan.json", data)
	path := "/" + string(s.run) + "/artifacts/plan.json"
	list := into[web.ArtifactList](t, s.get("/"+string(s.run)+"/artifacts", 200))
	if len(list.Artifacts) != 1 || list.Artifacts[0].SHA256 != sum || !strings.HasSuffix(list.Artifacts[0].Href, path) {
		t.Errorf("%+v", list)
	}
	a := s.get(path, 200)
	if !bytes.Equal(a.body, data) || a.Header.Get("ETag") != `"`+sum+`"` || a.Header.Get("Content-Type") != "application/json" || a.Header.Get("Accept-Ranges") != "bytes" {
		t.Errorf("%d bytes, %v", len(a.body), a.Header)
	}
	for span, want := range map[string]string{"bytes=0-3": "0123", "bytes=9995-": "56789", "bytes=-2": "89", "bytes=11-11": "1"} {
		if a := s.get(path, 206, "Range: "+span); string(a.body) != want || a.Header.Get("ETag") != `"`+sum+`"` {
			t.Errorf("%s: %s %v", span, a.body, a.Header)
		}
	}
	s.get(path, 416, "Range: bytes=20000-")
	s.get(path, 304, `If-None-Match: "`+sum+`"`)
	if a := s.get(path, 200, "Range: bytes=0-3", `If-Range: "0000"`); len(a.body) != len(data) {
		t.Errorf("%d bytes of another file", len(a.body))
	}
	for _, name := range []string{"nothing.json", "..%2f..%2findex.db", "%2e%2e", "call.lock", "a%00b"} {
		if p := into[rest.Problem](t, s.get("/"+string(s.run)+"/artifacts/"+name, 404)); p.Code != fault.ArtifactNotFound {
			t.Errorf("%s: %+v", name, p)
		}
	}
	for _, name := range []string{"snapshot.json", "events.ndjson"} {
		if a := s.get("/"+string(s.run)+"/artifacts/"+name, 200); !bytes.Contains(a.body, []byte(s.run)) {
			t.Errorf("%s: %s", name, a.body)
		}
	}
}

func TestSecretsInFilesAreMaskedOrTheFileIsKept(t *testing.T) {
	s := newServer(t)
	s.write("notes.md", []byte("the key is "+secret+"!"))
	a := s.get("/"+string(s.run)+"/artifacts/notes.md", 200)
	sum := sha256.Sum256(a.body)
	if string(a.body) != "the key is [REDACTED:secret]!" || a.Header.Get("ETag") != `"`+hex.EncodeToString(sum[:])+`"` {
		t.Errorf("%s %v", a.body, a.Header)
	}
	large := bytes.Repeat([]byte("all work and no play\n"), 450_000) // beyond what is masked in memory
	clean := s.write("clean.log", large)
	if a := s.get("/"+string(s.run)+"/artifacts/clean.log", 206, "Range: bytes=-5"); string(a.body) != "play\n" || a.Header.Get("ETag") != `"`+clean+`"` {
		t.Errorf("%s %v", a.body, a.Header)
	}
	copy(large[1<<20+16<<10-4:], secret) // across the end of the first piece in which it is looked through
	s.write("leaky.log", large)
	if p := into[rest.Problem](t, s.get("/"+string(s.run)+"/artifacts/leaky.log", 403, "Range: bytes=0-5")); p.Hint == "" {
		t.Errorf("%+v", p)
	}
}

func TestALinkOutOfTheRunIsNotFollowed(t *testing.T) {
	s := newServer(t)
	s.write("plan.json", []byte("{}"))
	path := filepath.Join(s.store.Dir(s.run), "artifacts", "plan.json")
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte("outside"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, path); err != nil {
		t.Fatal(err)
	}
	s.get("/"+string(s.run)+"/artifacts/plan.json", 404)
}

func TestEventsArePaged(t *testing.T) {
	s := newServer(t)
	s.write("a.json", []byte("{}"))
	s.write("b.json", []byte("{}"))
	path := "/" + string(s.run) + "/events"
	var seqs []int64
	for after := int64(0); ; {
		p := into[web.EventPage](t, s.get(fmt.Sprintf("%s?limit=2&after=%d", path, after), 200))
		for _, e := range p.Events {
			seqs = append(seqs, e.Seq)
		}
		if after = p.After; after == 0 {
			break
		}
	}
	if len(seqs) != 3 || seqs[0] != 1 || seqs[2] != 3 {
		t.Errorf("events %v", seqs)
	}
	s.get(path+"?after=x", 422)
	s.get(path+"?limit=1001", 422)
}

// stream is what a browser's EventSource does.
type stream struct {
	t     *testing.T
	close func()
	lines *bufio.Reader
}

func (s *server) follow(last string) *stream {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.t.Context())
	r, _ := http.NewRequestWithContext(ctx, "GET", s.URL+"/api/gantry/v1/runs/"+string(s.run)+"/events", nil)
	r.Header.Set("Accept", "text/event-stream")
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	resp, err := s.Client().Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" {
		s.t.Fatalf("%d %v", resp.StatusCode, resp.Header)
	}
	return &stream{s.t, func() { cancel(); resp.Body.Close() }, bufio.NewReader(resp.Body)}
}

// next returns the id and the name of the next event; "" at the end.
func (f *stream) next() (id, name string) {
	f.t.Helper()
	for {
		line, err := f.lines.ReadString('\n')
		if err != nil {
			return "", ""
		}
		field, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch field {
		case "id":
			id = value
		case "event":
			name = value
		case "data":
			var e runs.Event
			if err := json.Unmarshal([]byte(value), &e); err != nil || fmt.Sprint(e.Seq) != id || strings.Contains(value, secret) {
				f.t.Errorf("%v in %s", err, value)
			}
			return id, name
		}
	}
}

func TestEventsAreFollowedAndResumed(t *testing.T) {
	s := newServer(t)
	f := s.follow("")
	if id, name := f.next(); id != "1" || name != "RUN_CREATED" {
		t.Errorf("%s %s", id, name)
	}
	s.write("a.json", []byte("{}"))
	if id, name := f.next(); id != "2" || name != "ARTIFACT_WRITTEN" {
		t.Errorf("%s %s", id, name)
	}
	f.close()
	s.write("b.json", []byte("{}"))
	s.write("c.json", []byte("{}"))
	f = s.follow("2") // the client comes back
	if id, _ := f.next(); id != "3" {
		t.Errorf("resumed at %s", id)
	}
	if id, _ := f.next(); id != "4" {
		t.Errorf("resumed at %s", id)
	}
	s.drive(func(d *runs.Drive) error {
		return d.Append(runs.Draft{Type: runs.RunStateChanged, Payload: runs.StateChange{OldState: runs.StateCreated, NewState: runs.StateCancelled}})
	})
	if _, name := f.next(); name != "RUN_STATE_CHANGED" {
		t.Error(name)
	}
	if id, name := f.next(); id != "" {
		t.Errorf("the run is over and %s %s comes", id, name)
	}
	f.close()
	v, err := s.store.View(s.run)
	if err != nil {
		t.Fatal(err)
	}
	s.get("/"+string(s.run)+"/events", 204, "Accept: text/event-stream", fmt.Sprintf("Last-Event-ID: %d", v.Seq))
	s.get("/"+string(s.run)+"/events", 422, "Accept: text/event-stream", "Last-Event-ID: x")
}

func TestWhoFollowsIsToldWhenTheServerEnds(t *testing.T) {
	s := newServer(t)
	f := s.follow("")
	f.next()
	close(s.end)
	if id, name := f.next(); id != "" {
		t.Errorf("%s %s", id, name)
	}
	f.close()
}

func TestOutputIsReadOnWhereItEnded(t *testing.T) {
	s := newServer(t)
	path := "/" + string(s.run) + "/logs"
	if p := into[rest.Problem](t, s.get(path, 404)); p.Code != fault.ArtifactNotFound {
		t.Errorf("%+v", p)
	}
	s.output = []byte("one\nthe key is known-secr")
	a := s.get(path, 200)
	if string(a.body) != "one\n" || a.Header.Get(web.NextOffset) != "4" {
		t.Errorf("%q %v", a.body, a.Header)
	}
	s.output = append(s.output, "et-value\n"...)
	if a := s.get(path+"?from=4", 200); string(a.body) != "the key is [REDACTED:secret]\n" || a.Header.Get(web.NextOffset) != fmt.Sprint(len(s.output)) {
		t.Errorf("%q %v", a.body, a.Header)
	}
	s.get(path+"?from=-1", 422)
}
