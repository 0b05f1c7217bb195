package export_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gantry-run/gantry/telemetry"
	"github.com/gantry-run/gantry/telemetry/export"
)

var update = flag.Bool("update", false, "write the table of metrics into docs/telemetry.md")

const openMetrics = "application/openmetrics-text;version=1.0.0"

func nothing(context.Context) error { return nil }

func TestPrometheusGetsEveryMetricUnderItsName(t *testing.T) {
	tel, x, _ := open(t, export.Options{Prometheus: true, Appends: telemetry.Appends(appends)})
	trace := oneOfEach(t, tel)
	text := scrape(t, x.Metrics(nothing), openMetrics)
	for _, want := range []string{
		`gantry_tool_calls_total{gantry_error_code="RUN_LOCKED",gantry_outcome="failure",gantry_toolset="worktree",gen_ai_tool_name="read_file"} 1`,
		`mcp_server_operation_duration_seconds_count{error_type="-32603",gen_ai_tool_name="read_file",mcp_method_name="tools/call"} 1`,
		`mcp_server_session_duration_seconds_sum{mcp_protocol_version="2025-11-25",network_transport="tcp"} 60`,
		`gantry_guard_rejections_total{gantry_reason="lock"} 1`,
		`gantry_guard_duration_seconds_count 1`,
		`gantry_runs{gantry_run_kind="launch",gantry_run_state="DRAFTING"} 1`,
		`cicd_pipeline_run_active{cicd_pipeline_name="launch",cicd_pipeline_run_state="executing"} 1`,
		`cicd_pipeline_run_duration_seconds_sum{cicd_pipeline_name="launch",cicd_pipeline_result="failure",cicd_pipeline_run_state="executing",error_type="REPO_SCOUT_CLONE_FAILED"} 4`,
		`cicd_pipeline_run_errors_total{cicd_pipeline_name="launch",error_type="REPO_SCOUT_CLONE_FAILED"} 1`,
		`gantry_gate_results_total{gantry_gate="links",gantry_result="ok"} 1`,
		`gantry_processes{gantry_run_kind="target"} 1`,
		`gantry_process_output_bytes_total{gantry_run_kind="session"} 1234`,
		`gantry_journal_append_duration_seconds_count{gantry_run_kind="launch"} 2`,
		`gantry_agent_tokens_total{gantry_executor="CODEX",gen_ai_token_type="input"} 100`,
		`go_goroutines `,
		`target_info{`,
		`# EOF`,
	} {
		if !strings.Contains(text, "\n"+want) {
			t.Errorf("not in the scrape: %s", want)
		}
	}
	for _, part := range []string{"otel_scope", string(launchRun), "it is gone"} {
		if strings.Contains(text, part) {
			t.Errorf("the scrape has %s", part)
		}
	}
	if !regexp.MustCompile(`mcp_server_operation_duration_seconds_bucket\{[^}]*\} 1 # \{[^}]*trace_id="` + trace).MatchString(text) {
		t.Error("no exemplar leads to the call")
	}
	if !regexp.MustCompile(`cicd_pipeline_run_duration_seconds_bucket\{[^}]*\} 1 # \{[^}]*trace_id="` + launchRun.TraceID()).MatchString(text) {
		t.Error("no exemplar leads to the run")
	}
	if t.Failed() {
		t.Log(text)
	}
	if plain := scrape(t, x.Metrics(nothing), "text/plain"); strings.Contains(plain, "trace_id") || !strings.Contains(plain, "gantry_tool_calls_total") {
		t.Error("the older format")
	}
}

func TestAScrapeShowsWhatHappenedBeforeIt(t *testing.T) {
	tel, x, log := open(t, export.Options{Prometheus: true})
	h := x.Metrics(func(ctx context.Context) error {
		_, call := tel.StartCall(ctx, telemetry.CallStart{Toolset: "worktree", Tool: "read_file"})
		call.End(telemetry.CallEnd{Outcome: telemetry.Success})
		return errors.New("somebody holds the file")
	})
	if text := scrape(t, h, "text/plain"); !strings.Contains(text, `gen_ai_tool_name="read_file"} 1`) {
		t.Error(text)
	}
	if !strings.Contains(log.String(), "somebody holds the file") {
		t.Errorf("log: %s", log)
	}
	w := httptest.NewRecorder()
	if h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/metrics", nil)); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST is answered with %d", w.Code)
	}
}

func TestWithoutAWayOutNothingIsMade(t *testing.T) {
	x, err := export.New(t.Context(), export.Options{Env: []string{"OTEL_EXPORTER_OTLP_HEADERS=a=b", "OTEL_EXPORTER_OTLP_ENDPOINT="}})
	if err != nil || x.Any() || x.Metrics(nothing) != nil {
		t.Errorf("%+v %v", x, err)
	}
}

// The table of metrics in the document is what a scrape shows.
func TestTheDocumentNamesEveryMetric(t *testing.T) {
	const file, begin, end = "../../docs/telemetry.md", "<!-- metrics -->\n", "<!-- end of metrics -->"
	tel, x, _ := open(t, export.Options{Prometheus: true, Appends: telemetry.Appends(appends)})
	oneOfEach(t, tel)
	names, labels := families(scrape(t, x.Metrics(nothing), "text/plain"))
	var table strings.Builder
	table.WriteString("| OpenTelemetry | Prometheus | kind | labels | what it is |\n|---|---|---|---|---|\n")
	for _, m := range telemetry.Metrics() {
		name := names[m.Help]
		if name == "" {
			t.Fatalf("%s is not in the scrape", m.Name)
		}
		fmt.Fprintf(&table, "| `%s` | `%s` | %s | %s | %s |\n", m.Name, name, m.Kind, strings.Join(labels[name], " "), m.Help)
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(raw), begin)
	old, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the table", file)
	}
	if *update {
		if err := os.WriteFile(file, []byte(head+begin+table.String()+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(table.String(), old); diff != "" {
		t.Errorf("go test ./telemetry/export -update writes it: %s", diff)
	}
}

// families returns the names in a scrape by their help, and the labels of each.
func families(text string) (byHelp map[string]string, labels map[string][]string) {
	byHelp, labels = map[string]string{}, map[string][]string{}
	label := regexp.MustCompile(`([a-z_]+)="`)
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if help, ok := strings.CutPrefix(line, "# HELP "); ok {
			name, says, _ := strings.Cut(help, " ")
			byHelp[says] = name
			continue
		}
		name, _, _ := strings.Cut(line, "{")
		for _, part := range []string{"_bucket", "_sum", "_count"} {
			name = strings.TrimSuffix(name, part)
		}
		if labels[name] != nil || strings.HasPrefix(line, "#") {
			continue
		}
		for _, m := range label.FindAllStringSubmatch(line, -1) {
			if m[1] != "le" {
				labels[name] = append(labels[name], "`"+m[1]+"`")
			}
		}
	}
	return byHelp, labels
}
