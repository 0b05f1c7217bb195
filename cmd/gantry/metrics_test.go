package main

import (
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/telemetry/export/exporttest"
)

// Every call is counted once at /metrics, whichever process on the state directory took
// it, refused ones too, and also when that process was gone before anybody asked.
func TestEveryCallIsCountedOnceAtMetrics(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.watch(nil)
	s.scrape() // from now on nothing is history
	const (
		clients = 10 // over HTTP, and as many servers over standard input and output
		each    = 5
		all     = 2 * clients * each
	)
	want := map[string]int{
		"launch launch_list_runs success ":                          all,
		"launch launch_get_status failure RUN_NOT_FOUND":            all,
		"launch launch_get_status failure SCHEMA_VALIDATION_FAILED": all,
		"_OTHER _OTHER failure UNKNOWN_TOOL":                        all,
	}
	calls := func(call func(tool string, arguments any)) {
		for range each {
			call("launch_list_runs", args{})
			call("launch_get_status", args{"run_id": "r_00000000"})
			call("launch_get_status", args{"run": 7})
			call("../../etc/passwd", args{"token": "x"})
		}
	}
	var busy sync.WaitGroup
	for range clients {
		c, p := s.connect(), w.serve(stateful, "--rate-limit=0")
		busy.Go(func() { calls(func(tool string, arguments any) { c.call(tool, arguments) }); c.close() })
		busy.Go(func() { calls(func(tool string, arguments any) { p.call(tool, arguments) }); p.end() })
	}
	busy.Wait()
	got := s.scrape()
	same(t, "calls", sum(got, "gantry_tool_calls_total", "gantry_toolset", "gen_ai_tool_name", "gantry_outcome", "gantry_error_code"), want)
	same(t, "guards", sum(got, "gantry_guard_duration_seconds_count"), map[string]int{"": 4 * all})
	same(t, "refusals", sum(got, "gantry_guard_rejections_total", "gantry_reason"), map[string]int{"schema": 2 * all})
	same(t, "durations", sum(got, "mcp_server_operation_duration_seconds_count", "mcp_method_name", "gen_ai_tool_name"), map[string]int{
		"tools/call launch_list_runs": all, "tools/call launch_get_status": 2 * all, "tools/call _OTHER": all,
		"initialize ": clients, "notifications/initialized ": clients,
	})
	eventually(t, "every session has ended", func() bool {
		return sum(s.scrape(), "mcp_server_session_duration_seconds_count", "network_transport")["tcp"] == clients
	})
	eventually(t, "every call is recorded", func() bool {
		recorded := 0
		for _, r := range w.records() {
			if r.JobType == "mcp_tool_call" {
				recorded++
			}
		}
		return recorded == 4*all
	})
	same(t, "calls, asked again", sum(s.scrape(), "gantry_tool_calls_total", "gantry_toolset", "gen_ai_tool_name", "gantry_outcome", "gantry_error_code"), want)
	for series := range got {
		if strings.Contains(series, "r_0000") || strings.Contains(series, w.root) || strings.Contains(series, "passwd") || strings.Contains(series, "otel_scope") {
			t.Errorf("a label tells too much: %s", series)
		}
	}
}

func TestMetricsAreForThoseWithATokenOfScopeRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.watch(nil)
	for token, want := range map[string]int{"": http.StatusUnauthorized, "wrong": http.StatusUnauthorized, "7d1e5b0c9f384a2ab6c5d4e3f2a1b0c9": http.StatusForbidden, scrapeToken: http.StatusOK} {
		status, header, body := s.send("GET", s.base+"/metrics", token, "", "")
		if status != want || (status == http.StatusOK) != strings.Contains(body, "go_goroutines") {
			t.Errorf("token %q: %d %.200s", token, status, body)
		}
		if status == http.StatusUnauthorized && header.Get("Www-Authenticate") == "" {
			t.Error("401 without WWW-Authenticate")
		}
	}
	if status, _, body := s.send("GET", s.metrics+"/metrics", "", "", ""); status != http.StatusOK || !strings.Contains(body, "target_info") {
		t.Errorf("on its own address: %d", status)
	}
	if status, _, _ := s.send("POST", s.metrics+"/mcp", scrapeToken, "", "{}"); status != http.StatusNotFound {
		t.Errorf("the address of metrics serves more: %d", status)
	}
}

// A run is a trace: its ids come from its own, also when the process that began it is
// killed and another one ends it, and each span is sent once.
func TestARunIsATraceAtTheCollector(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := exporttest.NewCollector(t)
	w.env = append(w.env, c.Env()...)
	w.env = append(w.env, "OTEL_BSP_SCHEDULE_DELAY=100")
	p := w.serve(stateful, "--no-worker")
	id := runs.ID(p.start(nil))
	w.until(string(id), func(v *runs.View) bool { return v.State != runs.StateCreated })
	if err := p.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-p.read
	_ = p.cmd.Wait()
	p.ended = true

	q := w.serve(stateful, "--no-worker")
	w.rest(string(id))
	q.must("launch_open_pr", args{"run_id": string(id)})
	w.until(string(id), func(v *runs.View) bool { return v.State == runs.StateDone })
	if q.end() != 0 {
		t.Error("the server failed")
	}
	seen, run := map[string]int{}, exporttest.Span{}
	calls := 0
	for _, span := range c.Spans() {
		if seen[span.TraceID+span.SpanID]++; seen[span.TraceID+span.SpanID] > 1 {
			t.Errorf("%s was sent twice", span.Name)
		}
		switch {
		case strings.HasPrefix(span.Name, "tools/call "):
			calls++
		case span.TraceID != id.TraceID():
			t.Errorf("%s is in another trace than the run's", span.Name)
		case span.ParentID == "":
			run = span
		case span.ParentID != id.SpanID(""):
			t.Errorf("%s is not below the run", span.Name)
		}
	}
	if run.Name != "RUN launch" || run.SpanID != id.SpanID("") || run.Attribute("cicd.pipeline.result") != "success" || len(run.Links) != 1 {
		t.Errorf("the run's span: %+v", run)
	}
	if calls == 0 || len(seen) < 8 { // what the killed process had claimed and not sent is lost
		t.Errorf("%d spans, %d of calls", len(seen), calls)
	}
	for _, name := range []string{"gantry.tool.calls", "cicd.pipeline.run.duration", "gantry.journal.append.duration", "gantry.runs"} {
		if !c.HasMetric(name) {
			t.Errorf("%s was not sent", name)
		}
	}
}

// A collector that nobody can reach costs neither an answer nor the exit code.
func TestACollectorThatIsGoneCostsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.env = append(w.env, "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1")
	p := w.serve(stateless)
	p.must("launch_list_runs", args{})
	if code := p.end(); code != 0 {
		t.Errorf("exit code %d: %s", code, p.err)
	}
}
