package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/specs"
)

// debianPackage finds a program of the Debian package prometheus.
func debianPackage(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err == nil {
		return path
	}
	if os.Getenv("GANTRY_CI") != "" {
		t.Fatal(program + " is not in PATH; .ci/run installs it")
	}
	t.Skip(program + " is not installed: apt-get install prometheus")
	return ""
}

const deployed = "../../deploy"

func TestRulesAndAlertsPassTheirOwnTests(t *testing.T) {
	t.Parallel()
	promtool := debianPackage(t, "promtool")
	for _, words := range [][]string{
		{"check", "config", "--lint-fatal", "prometheus.yml"},
		{"check", "rules", "--lint-fatal", "rules.yml", "alerts.yml"},
		{"test", "rules", "tests/alerts_test.yml"},
	} {
		cmd := exec.CommandContext(t.Context(), promtool, words...)
		cmd.Dir = deployed + "/prometheus"
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", words, err, out)
		}
	}
	tests := read(t, deployed+"/prometheus/tests/alerts_test.yml")
	for _, m := range regexp.MustCompile(`alert: (\w+)`).FindAllStringSubmatch(read(t, deployed+"/prometheus/alerts.yml"), -1) {
		if !regexp.MustCompile(`alertname: ` + m[1] + `\n\s+exp_alerts:\n`).MatchString(tests) {
			t.Errorf("no test lets %s fire", m[1])
		}
	}
}

// monitor is a Prometheus of the deployed configuration, faster, on one server.
type monitor struct {
	t    *testing.T
	base string
}

func (s *watched) monitor(program string) *monitor {
	s.t.Helper()
	dir := s.t.TempDir()
	for _, name := range []string{"prometheus.yml", "rules.yml", "alerts.yml"} {
		text := read(s.t, filepath.Join(deployed, "prometheus", name))
		text = strings.ReplaceAll(text, "_interval: 15s", "_interval: 1s")
		write(s.t, filepath.Join(dir, name), strings.ReplaceAll(text, "127.0.0.1:9464", strings.TrimPrefix(s.metrics, "http://")))
	}
	log := new(lockedBuffer)
	cmd := exec.Command(program, "--config.file="+filepath.Join(dir, "prometheus.yml"), "--storage.tsdb.path="+filepath.Join(dir, "data"),
		"--web.listen-address=127.0.0.1:0", "--enable-feature=exemplar-storage")
	cmd.Env, cmd.Stderr = []string{"PATH=" + os.Getenv("PATH")}, log
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	m := &monitor{t: s.t}
	at := regexp.MustCompile(`msg="Listening on" address=(\S+)`)
	eventually(s.t, "Prometheus says where it listens", func() bool {
		found := at.FindStringSubmatch(log.String())
		if found != nil {
			m.base = "http://" + found[1]
		}
		return found != nil
	})
	return m
}

// ask reads an answer of the API; false if there is none yet.
func (m *monitor) ask(path string, query url.Values, into any) bool {
	m.t.Helper()
	a, err := http.Get(m.base + "/api/v1/" + path + "?" + query.Encode())
	if err != nil {
		m.t.Fatal(err)
	}
	defer a.Body.Close()
	out := struct {
		Status, Error string
		Data          any
	}{Data: into}
	err = json.NewDecoder(a.Body).Decode(&out)
	if a.StatusCode == http.StatusServiceUnavailable {
		return false // it starts
	}
	if err != nil || out.Status != "success" {
		m.t.Fatalf("%s %v: %v %s", path, query, err, out.Error)
	}
	return true
}

// has reports whether a query gives a value that is a number.
func (m *monitor) has(expr string) bool {
	m.t.Helper()
	var got struct {
		Result []struct{ Value [2]any }
	}
	if !m.ask("query", url.Values{"query": {expr}}, &got) {
		return false
	}
	for _, r := range got.Result {
		if text, _ := r.Value[1].(string); text != "NaN" {
			return true
		}
	}
	return false
}

// queries returns the queries of the dashboard by their panel, as Grafana would ask them.
func queries(t *testing.T) map[string]string {
	t.Helper()
	var board struct {
		Panels []struct {
			Title   string
			Type    string
			Targets []struct{ Expr, RefID string }
		}
	}
	if err := json.Unmarshal([]byte(read(t, deployed+"/grafana/gantry.json")), &board); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, p := range board.Panels {
		if p.Type != "row" && len(p.Targets) == 0 {
			t.Errorf("the panel %q asks nothing", p.Title)
		}
		for _, q := range p.Targets {
			out[p.Title+" "+q.RefID] = strings.NewReplacer("$__rate_interval", "1m", "$instance", ".*", "$toolset", ".*").Replace(q.Expr)
		}
	}
	return out
}

// The real Prometheus scrapes the real server with the deployed configuration: rules load,
// alerts fire, and each query of the dashboard has something to show after a little of
// everything was done.
func TestPrometheusShowsWhatTheServerDoes(t *testing.T) {
	t.Parallel()
	program := debianPackage(t, "prometheus")
	w := newWorld(t)
	write(t, filepath.Join(w.root, "Makefile"), "build:\n\t@echo built; sleep 2\n")
	w.allow("[[entries]]\npath = \"" + w.root + "\"\nscope = \"Directory\"\n")
	s := w.watch(nil, "--no-worker")
	m := s.monitor(program)
	eventually(t, "Prometheus has scraped the server", func() bool { return m.has(`up{job="gantry"} == 1`) })

	load := func() {
		c, p := s.connect(), w.serve(stateless)
		c.call("launch_start_run", args{"run_config": args{"github_repo_url": "product", "site_repo_url": "site", "autopilot": args{"open_pr": true}}})
		c.call("launch_start_run", args{"run_config": args{"github_repo_url": "empty"}})
		c.call("task_start", args{"unique_name": "build", "wait_for_exit_seconds": 0})
		c.call("launch_get_status", args{"run_id": "r_00000000"})
		c.call("launch_get_status", args{"run": 7})
		p.must("launch_list_runs", args{})
		p.end()
		c.close()
	}
	for range 3 {
		load()
	}
	w.turn()
	eventually(t, "Prometheus has scraped that", func() bool { return m.has(`gantry_agent_tokens_total`) })
	load() // a rate is of what comes after the first scrape
	w.turn()

	missing := queries(t)
	if len(missing) < 25 {
		t.Fatalf("the dashboard asks only %d queries", len(missing))
	}
	defer func() {
		if t.Failed() {
			t.Errorf("without an answer: %q", missing)
		}
	}()
	eventually(t, "every query of the dashboard has an answer", func() bool {
		for panel, expr := range missing {
			if m.has(expr) {
				delete(missing, panel)
			}
		}
		return len(missing) == 0
	})
	eventually(t, "an alert fires", func() bool { return m.has(`ALERTS{alertname="GantryRunsFailing",alertstate="firing"}`) })
	m.rulesAreWell()
	var exemplars []struct {
		Exemplars []struct{ Labels map[string]string }
	}
	m.ask("query_exemplars", url.Values{"query": {"mcp_server_operation_duration_seconds_bucket"}, "start": {"0"}, "end": {"99999999999"}}, &exemplars)
	if len(exemplars) == 0 || len(exemplars[0].Exemplars[0].Labels["trace_id"]) != 32 {
		t.Errorf("no exemplar leads to a trace: %v", exemplars)
	}
}

// turn leaves a session with a turn that used tokens, as an agent's command line would.
func (w *world) turn() {
	w.t.Helper()
	raw, _ := specs.Workflow("session")
	var flow runs.Workflow
	if err := json.Unmarshal(raw, &flow); err != nil {
		w.t.Fatal(err)
	}
	id, _, err := w.store.Create(w.t.Context(), runs.StartRequest{Kind: runs.Session, Workflow: flow, Input: json.RawMessage(`{}`)})
	if err != nil {
		w.t.Fatal(err)
	}
	d, ok, err := w.store.Drive(w.t.Context(), id)
	if err != nil || !ok {
		w.t.Fatalf("drive: %v %v", ok, err)
	}
	next, err := d.Settle()
	if err != nil || len(next.Execute) != 1 {
		w.t.Fatalf("%+v %v", next, err)
	}
	item := next.Execute[0]
	err = d.Append(
		runs.Draft{Type: runs.WorkItemStarted, Span: item.Key, Payload: runs.ItemStarted{WorkItemID: item.Key, Worker: item.Node.Worker, Attempt: 1}},
		runs.Draft{Type: runs.ProcessEnded, Span: item.Key, Payload: runs.Process{Key: "agent", State: "exited", OutputBytes: 4096}},
		runs.Draft{Type: runs.WorkItemFinished, Span: item.Key, Payload: runs.ItemFinished{WorkItemID: item.Key, Worker: item.Node.Worker, Attempt: 1, Outcome: "completed",
			Data: json.RawMessage(`{"executor":"CODEX","summary":{"usage":{"input_tokens":1200,"output_tokens":80}}}`)}},
	)
	if err == nil {
		_, err = d.Settle()
	}
	if err == nil {
		err = d.Close(w.t.Context())
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// rulesAreWell checks that every rule was evaluated, and that every metric that one names
// is there.
func (m *monitor) rulesAreWell() {
	m.t.Helper()
	var got struct {
		Groups []struct {
			Rules []struct{ Name, Query, Health, LastError string }
		}
	}
	m.ask("rules", nil, &got)
	var names []string
	m.ask("label/__name__/values", nil, &names)
	named, all := regexp.MustCompile(`\b(?:gantry|mcp|cicd|process|go)_\w+`), 0
	label := regexp.MustCompile(`\b\w+\s*(?:=~|!~|!=|=)\s*"[^"]*"|\b(?:by|on)\s*\([^)]*\)`)
	for _, g := range got.Groups {
		for _, r := range g.Rules {
			all++
			if r.Health != "ok" {
				m.t.Errorf("%s is %s: %s", r.Name, r.Health, r.LastError)
			}
			for _, name := range named.FindAllString(label.ReplaceAllString(r.Query, ""), -1) {
				if !slices.Contains(names, name) {
					m.t.Errorf("%s asks for %s, which the server does not have", r.Name, name)
				}
			}
		}
	}
	if all < 18 {
		m.t.Errorf("%d rules are loaded: %v", all, fmt.Sprint(got))
	}
}
