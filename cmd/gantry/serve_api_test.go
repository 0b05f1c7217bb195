package main

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
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gantry-run/gantry/runs"
)

// The tokens that the APIs are called with.
const (
	bothToken   = "both-0123456789abcdef0123"
	readerToken = "reader-0123456789abcdef01"
	writerToken = "writer-0123456789abcdef01"
)

// apis is a `gantry serve` whose APIs are called.
type apis struct {
	t    *testing.T
	base string
}

// serveAPIs starts gantry serve in the world, with tokens.
func (w *world) serveAPIs() *apis {
	w.t.Helper()
	return w.serveAPIsWith("GANTRY_TOKENS=both:" + bothToken + "\nreader:" + readerToken + ":read\nwriter:" + writerToken + ":run\n")
}

func (w *world) serveAPIsWith(tokens string, flags ...string) *apis {
	w.t.Helper()
	log := new(lockedBuffer)
	cmd := exec.Command(binary, append([]string{"serve", "--root", w.root, "--state-dir", w.state, "--addr", "127.0.0.1:0", "--no-worker"}, flags...)...)
	cmd.Env = append(w.env[:len(w.env):len(w.env)], tokens)
	cmd.Dir, cmd.Stderr = w.home, log
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			w.t.Errorf("serve: %v\n%s", err, log)
		}
	})
	a := &apis{t: w.t}
	eventually(w.t, "the server says where it listens", func() bool {
		for _, line := range log.lines() {
			var l struct{ Msg, Addr string }
			if json.Unmarshal([]byte(line), &l) == nil && l.Msg == "serving over HTTP" {
				a.base = "http://" + l.Addr
			}
		}
		return a.base != ""
	})
	return a
}

func (a *apis) request(ctx context.Context, method, path, token, body string, headers ...string) *http.Response {
	a.t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, a.base+path, strings.NewReader(body))
	if err != nil {
		a.t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		a.t.Fatal(err)
	}
	return resp
}

// do makes a request, whose answer has the status.
func (a *apis) do(status int, method, path, token, body string, headers ...string) (http.Header, []byte) {
	a.t.Helper()
	resp := a.request(a.t.Context(), method, path, token, body, headers...)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != status {
		a.t.Fatalf("%s %s: %d, want %d, %v: %.300s", method, path, resp.StatusCode, status, err, raw)
	}
	return resp.Header, raw
}

func (a *apis) get(path string, headers ...string) json.RawMessage {
	a.t.Helper()
	_, raw := a.do(200, "GET", path, readerToken, "", headers...)
	return raw
}

// done is a run that has ended, and that a stdio server has made.
func (w *world) done(p *peer) string {
	w.t.Helper()
	id := p.start(args{"autopilot": args{"open_pr": true}})
	if v := w.until(id, func(v *runs.View) bool { return v.State.Terminal() }); v.State != runs.StateDone {
		w.t.Fatalf("the run ends in %s: %+v", v.State, v.Failure)
	}
	return id
}

func TestARunIsReadOverHTTP(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.serve(stateless)
	id := w.done(p)
	p.end()
	a := w.serveAPIs()
	const base = "/api/gantry/v1/runs"
	if list := a.get(base + "?state=DONE"); field(t, list, "next_cursor") != "" || !strings.Contains(string(list), id) {
		t.Errorf("%s", list)
	}
	if run := a.get(base + "/" + id); field(t, run, "state") != "DONE" || field(t, run, "published.commit_sha") == "" || field(t, run, "links.telemetry") != "/telemetry/"+id {
		t.Errorf("%s", run)
	}
	var list struct {
		Artifacts []struct {
			Name, SHA256, Href string
			Size               int64 `json:"size_bytes"`
		}
	}
	if err := json.Unmarshal(a.get(base+"/"+id+"/artifacts"), &list); err != nil || len(list.Artifacts) < 8 {
		t.Fatalf("%v %+v", err, list)
	}
	for _, one := range list.Artifacts {
		header, whole := a.do(200, "GET", one.Href, readerToken, "")
		sum := sha256.Sum256(whole)
		if hex.EncodeToString(sum[:]) != one.SHA256 || header.Get("ETag") != `"`+one.SHA256+`"` || int64(len(whole)) != one.Size {
			t.Errorf("%s: %d bytes, %v", one.Name, len(whole), header)
		}
		header, part := a.do(206, "GET", one.Href, readerToken, "", "Range: bytes=10-19")
		if !bytes.Equal(part, whole[10:20]) || header.Get("Content-Range") != fmt.Sprintf("bytes 10-19/%d", one.Size) {
			t.Errorf("%s: %q %v", one.Name, part, header)
		}
		a.do(416, "GET", one.Href, readerToken, "", fmt.Sprintf("Range: bytes=%d-", one.Size))
		a.do(304, "GET", one.Href, readerToken, "", `If-None-Match: "`+one.SHA256+`"`)
	}
	if raw := a.get("/telemetry/" + id + "?limit=1000"); field(t, raw, "summary.by_job_type.launch") != "1" || field(t, raw, "summary.by_job_type.commit_service") == "" {
		t.Errorf("%s", raw)
	}
	described := a.get("/api/gantry/v1/openapi.json")
	if kept := read(t, filepath.Join("..", "..", "docs", "openapi.json")); kept != string(described) {
		t.Error("docs/openapi.json is not what is served")
	}
}

// seqs reads server-sent events until one ends the reading, and returns their numbers.
func (a *apis) seqs(path, last string, enough func(seq, name string) bool) (seqs []string) {
	a.t.Helper()
	ctx, cancel := context.WithCancel(a.t.Context())
	defer cancel()
	headers := []string{"Accept: text/event-stream"}
	if last != "" {
		headers = append(headers, "Last-Event-ID: "+last)
	}
	resp := a.request(ctx, "GET", path, readerToken, "", headers...)
	defer resp.Body.Close()
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" {
		a.t.Fatalf("%d %v", resp.StatusCode, resp.Header)
	}
	seq := ""
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		switch name, value, _ := strings.Cut(lines.Text(), ": "); name {
		case "id":
			seq = value
		case "event":
			if seqs = append(seqs, seq); enough(seq, value) {
				return seqs
			}
		}
	}
	return seqs
}

// Events of a run that another process drives are followed; who was cut off comes back and
// misses none, and gets none twice.
func TestARunIsFollowedOverHTTPAndResumed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.serveAPIs()
	p := w.serve(stateless)
	id := p.start(args{"autopilot": args{"open_pr": true}})
	path := "/api/gantry/v1/runs/" + id + "/events"
	seqs := a.seqs(path, "", func(seq, _ string) bool { return seq == "5" })
	for range 3 {
		more := a.seqs(path, seqs[len(seqs)-1], func() func(string, string) bool {
			n := 0
			return func(string, string) bool { n++; return n == 4 }
		}())
		seqs = append(seqs, more...)
	}
	seqs = append(seqs, a.seqs(path, seqs[len(seqs)-1], func(string, string) bool { return false })...) // to its end
	v, err := w.store.View(runs.ID(id))
	if err != nil {
		t.Fatal(err)
	}
	if !v.State.Terminal() {
		t.Errorf("the stream ends in %s", v.State)
	}
	for i, seq := range seqs {
		if seq != fmt.Sprint(i+1) {
			t.Fatalf("events %v", seqs)
		}
	}
	rest := fmt.Sprint(v.Seq)
	if n := len(seqs); fmt.Sprint(n) != rest { // what follows the end of the run is read on
		seqs = append(seqs, a.seqs(path, fmt.Sprint(n), func(string, string) bool { return false })...)
	}
	if fmt.Sprint(len(seqs)) != rest {
		t.Errorf("%d events of %s", len(seqs), rest)
	}
	a.do(204, "GET", path, readerToken, "", "Accept: text/event-stream", "Last-Event-ID: "+rest)
	p.end()
}

// A failure is a problem document that says what to do and repeats nothing unchecked.
func TestFailuresOverHTTPAreProblems(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.serveAPIs()
	for _, path := range []string{"", "/events", "/artifacts", "/artifacts/plan.json", "/logs"} {
		for _, id := range []string{"r_00000000", "..%2f..%2fetc%2fpasswd", "<script>"} {
			header, raw := a.do(404, "GET", "/api/gantry/v1/runs/"+id+path, readerToken, "")
			if id == "..%2f..%2fetc%2fpasswd" && header.Get("Content-Type") != "application/problem+json" {
				continue // the front knows no such path
			}
			if header.Get("Content-Type") != "application/problem+json" || field(t, raw, "code") != "RUN_NOT_FOUND" || field(t, raw, "status") != "404" ||
				bytes.Contains(raw, []byte("script")) {
				t.Errorf("%s: %v %s", path, header, raw)
			}
		}
	}
	paths := []string{"/api/gantry/v1/runs", "/api/v1/runs", "/telemetry/r_00000000"}
	for _, path := range paths {
		for _, token := range []string{"", "wrong-0123456789abcdef012"} {
			if header, _ := a.do(401, "GET", path, token, ""); header.Get("WWW-Authenticate") == "" {
				t.Errorf("%s: %v", path, header)
			}
		}
		if _, raw := a.do(403, "GET", path, writerToken, ""); field(t, raw, "code") != "AUTH_INSUFFICIENT_SCOPE" {
			t.Errorf("%s", raw)
		}
	}
	a.do(403, "POST", "/api/v1/runs", readerToken, "{}")
	a.do(405, "DELETE", "/api/gantry/v1/runs/r_00000000", bothToken, "")
	a.do(404, "GET", "/api/gantry/v1/nothing", readerToken, "")
	a.do(200, "GET", "/health", "", "")
}

// Records of other programs are posted, changed, read; what is secret in them is masked.
func TestRecordsArePostedOverHTTP(t *testing.T) {
	t.Parallel()
	const apiKey = "zq9-very/secret+value=42"
	w := newWorld(t)
	w.env = append(w.env, "MY_API_KEY="+apiKey)
	a := w.serveAPIs()
	record := `{"event_id":"e1","run_id":"outside-1","agent_name":"scout","job_type":"llm_call","start_time":"2026-11-20T10:00:00Z",
		"output_summary":"used ` + apiKey + ` there","context_json":{"trace_id":"x","password":"hunter2"},"metrics_json":{"tokens":5}}`
	for _, want := range []string{"created", "duplicate"} {
		if _, raw := a.do(201, "POST", "/api/v1/runs", writerToken, record); field(t, raw, "status") != want || field(t, raw, "event_id") != "e1" {
			t.Errorf("%s", raw)
		}
	}
	if _, raw := a.do(422, "POST", "/api/v1/runs", writerToken, `{"event_id":"e2"}`); !strings.Contains(field(t, raw, "detail"), "run_id is missing") {
		t.Errorf("%s", raw)
	}
	if _, raw := a.do(200, "PATCH", "/api/v1/runs/e1", writerToken, `{"status":"success","end_time":"2026-11-20T10:00:02Z","duration_ms":2000}`); field(t, raw, "updated") != "true" {
		t.Errorf("%s", raw)
	}
	a.do(422, "PATCH", "/api/v1/runs/e1", writerToken, `{"status":"succeeded"}`)
	a.do(404, "PATCH", "/api/v1/runs/e2", writerToken, `{}`)
	a.do(200, "POST", "/api/v1/runs/e1/associate-commit", writerToken, `{"commit_hash":"6700066aa","commit_source":"manual"}`)
	a.do(400, "POST", "/api/v1/runs/e1/associate-commit", writerToken, `{"commit_hash":"x","commit_source":"manual"}`)
	got := a.get("/api/v1/runs/e1")
	for path, want := range map[string]string{
		"status": "success", "duration_ms": "2000", "git_commit_hash": "6700066aa", "git_commit_source": "manual", "metrics_json.tokens": "5",
		"output_summary": "used [REDACTED:secret] there", "context_json.trace_id": "x",
	} {
		if v := field(t, got, path); v != want {
			t.Errorf("%s is %q, want %q", path, v, want)
		}
	}
	if bytes.Contains(got, []byte("hunter2")) {
		t.Errorf("%s", got)
	}
	if raw := a.get("/telemetry/outside-1"); field(t, raw, "summary.total") != "1" {
		t.Errorf("%s", raw)
	}
	if list := a.get("/api/v1/runs?agent_name=scout&status=completed"); !strings.Contains(string(list), `"e1"`) || !bytes.HasPrefix(list, []byte("[")) {
		t.Errorf("%s", list)
	}
	for name := range tree(t, w.state) {
		if strings.HasPrefix(name, "telemetry.db") && strings.Contains(read(t, filepath.Join(w.state, name)), apiKey) {
			t.Errorf("%s holds the key", name)
		}
	}
}

// The output of a task is read while it runs and afterwards, from where the reader was.
func TestOutputOfATaskIsReadOverHTTP(t *testing.T) {
	t.Parallel()
	w := newProject(t)
	write(t, filepath.Join(w.root, "Makefile"), "talk:\n\t@echo one; echo two\n")
	p := w.serve(stateless, "--toolsets=tasks")
	p.must("task_start", args{"unique_name": "talk"})
	p.end()
	a := w.serveAPIs()
	var list struct {
		Runs []struct {
			ID string `json:"run_id"`
		}
	}
	if err := json.Unmarshal(a.get("/api/gantry/v1/runs?kind=target"), &list); err != nil || len(list.Runs) != 1 {
		t.Fatalf("%v %+v", err, list)
	}
	path := "/api/gantry/v1/runs/" + list.Runs[0].ID + "/logs"
	header, raw := a.do(200, "GET", path, readerToken, "")
	if string(raw) != "one\ntwo\n" || header.Get("Gantry-Next-Offset") != "8" || !strings.HasPrefix(header.Get("Content-Type"), "text/plain") {
		t.Errorf("%q %v", raw, header)
	}
	if _, raw := a.do(200, "GET", path+"?from=4", readerToken, ""); string(raw) != "two\n" {
		t.Errorf("%q", raw)
	}
}

// Who has no token configured serves neither API: they show what callers did.
func TestWithoutTokensTheAPIsAreNotServed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.serveAPIsWith("GANTRY_TOKENS=", "--toolsets=worktree")
	for _, path := range []string{"/api/gantry/v1/runs", "/api/v1/runs", "/telemetry/r_00000000"} {
		a.do(404, "GET", path, "", "")
	}
	a.do(200, "GET", "/health", "", "")
}
