package main

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/telemetry"
)

// records returns every record of the world's state directory, the newest first.
func (w *world) records() []telemetry.Record {
	w.t.Helper()
	tel, err := telemetry.Open(w.t.Context(), telemetry.Options{DBPath: filepath.Join(w.state, "telemetry.db")})
	if err != nil {
		w.t.Fatal(err)
	}
	defer tel.Shutdown(w.t.Context())
	page, err := tel.Records(w.t.Context(), telemetry.Query{Limit: 1000})
	if err != nil || page.NextCursor != "" {
		w.t.Fatalf("records: %v, and more: %q", err, page.NextCursor)
	}
	return page.Records
}

// Every call, refused ones too, makes one record and one line in the log, both with
// the tool, how it ended and under which code.
func TestEveryCallMakesOneRecordAndOneLine(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.serve(stateful, "--rate-limit=12")
	id := p.start(nil)
	w.rest(id)
	p.must("launch_get_status", args{"run_id": id})
	p.must("get_run_status", args{"run_id": id})
	p.must("launch_list_runs", args{})
	p.refused("launch_get_status", args{}, "SCHEMA_VALIDATION_FAILED")
	p.refused("launch_get_artifact", args{"run_id": id, "artifact_name": "nothing.json"}, "ARTIFACT_NOT_FOUND")
	p.refused("launch_get_status", args{"run_id": "r_00000000"}, "RUN_NOT_FOUND")
	p.refused("launch_fix_next", args{"run_id": id}, "ILLEGAL_STATE")
	p.refused("no_such_tool", args{}, "UNKNOWN_TOOL")
	p.refused("\x1b[31mpwn", args{}, "UNKNOWN_TOOL")
	p.refused("launch_start_run", args{"run_config": args{"github_repo_url": "/etc"}}, "POLICY_PATH_ESCAPE")
	telemetryOfRun := p.must("get_telemetry", args{"run_id": id, "limit": 200})
	p.refused("launch_list_runs", args{}, "RATE_LIMITED")
	p.end()

	want := map[string]int{
		"launch_start_run success ": 1, "launch_get_status success ": 1, "get_run_status success ": 1, "launch_list_runs success ": 1,
		"launch_get_status failure SCHEMA_VALIDATION_FAILED": 1, "launch_get_artifact failure ARTIFACT_NOT_FOUND": 1, "launch_get_status failure RUN_NOT_FOUND": 1,
		"launch_fix_next failure ILLEGAL_STATE": 1, "no_such_tool failure UNKNOWN_TOOL": 1, "pwn failure UNKNOWN_TOOL": 1,
		"launch_start_run failure POLICY_PATH_ESCAPE": 1, "get_telemetry success ": 1, "launch_list_runs failure RATE_LIMITED": 1,
	}
	got := map[string]int{}
	for _, r := range w.records() {
		if r.JobType != "mcp_tool_call" {
			continue
		}
		var c struct {
			Tool string `json:"tool"`
			Code string `json:"error_code"`
		}
		if err := json.Unmarshal(r.Context, &c); err != nil {
			t.Fatal(err)
		}
		got[c.Tool+" "+string(r.Status)+" "+c.Code]++
	}
	same(t, "records", got, want)
	lines := map[string]int{}
	for _, line := range p.err.lines() {
		var l struct {
			Msg, Tool, Outcome string
			Code               string `json:"error_code"`
			Trace              string `json:"trace_id"`
		}
		if json.Unmarshal([]byte(line), &l) == nil && l.Msg == "tools/call" {
			lines[l.Tool+" "+l.Outcome+" "+l.Code]++
			if len(l.Trace) != 32 {
				t.Errorf("no trace in %s", line)
			}
		}
	}
	same(t, "lines of the log", lines, want)

	var page struct {
		Summary struct {
			ByJobType map[string]int `json:"by_job_type"`
		}
	}
	if err := json.Unmarshal(telemetryOfRun, &page); err != nil {
		t.Fatal(err)
	}
	if n := page.Summary.ByJobType["mcp_tool_call"]; n != 5 { // start, twice status, artifact, fix
		t.Errorf("the run's telemetry has %d calls: %v", n, page.Summary)
	}
}

func same(t *testing.T, what string, got, want map[string]int) {
	t.Helper()
	for k, n := range want {
		if got[k] != n {
			t.Errorf("%s: %d of %q, want %d", what, got[k], k, n)
		}
	}
	for k, n := range got {
		if want[k] == 0 {
			t.Errorf("%s: %d of %q, which did not happen", what, n, k)
		}
	}
}

// A run makes records of itself, its nodes and its gates.
func TestARunMakesRecordsOfItsParts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.serve(stateless)
	id := p.start(args{"autopilot": args{"open_pr": true}})
	if w.until(id, func(v *runs.View) bool { return v.State == runs.StateDone }); p.end() != 0 {
		t.Error("the server failed")
	}
	q := w.serve(stateful)
	got := map[string]int{}
	eventually(t, "the run is among the records", func() bool {
		clear(got)
		for _, r := range w.records() {
			if got[string(r.JobType)]++; r.JobType != "mcp_tool_call" && !strings.HasPrefix(r.RunID, id) {
				t.Errorf("a record of %s", r.RunID)
			}
		}
		return got["launch"] == 1 && got["gate"] >= 6
	})
	if got["orchestrator_node"] < 9 {
		t.Errorf("records: %v", got)
	}
	q.end()
}

// Secrets of the environment and of addresses leave by no way: not in results, errors,
// resources, logs, records, nor in what a run lets read.
func TestSecretsLeaveByNoWay(t *testing.T) {
	t.Parallel()
	const (
		apiKey   = "zq9-very/secret+value=42"
		password = "hunter2-but-longer"
		userinfo = "s3cr3t-pa55word"
		token    = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
	)
	w := newWorld(t)
	leaky := map[string]string{}
	for name, text := range productFiles {
		leaky[name] = text
	}
	leaky["README.md"] += "\n- Connects with the key " + apiKey + " to the server.\n- Uses " + token + " for requests.\n"
	w.repository("leaky", leaky)
	w.rewrite("https://git.example.com/acme/widget", "leaky")
	w.git("", "config", "--file", filepath.Join(w.home, ".gitconfig"), // git's own words then hold the password
		"url.https://bot:"+userinfo+"@no-such-host.invalid/.insteadOf", "https://forge.example.com/")
	w.env = append(w.env, "MY_API_KEY="+apiKey, "DB_PASSWORD="+password)
	p := w.serve(stateful, "--rate-limit=0", "--verbose", "--span-arguments")

	var said strings.Builder
	call := func(tool string, arguments args) string {
		a := p.call(tool, arguments)
		said.Write(a.Result)
		if a.Error != nil {
			said.WriteString(a.Error.String() + a.Error.Data.Hint)
			return ""
		}
		return field(t, p.success(tool, a), "run_id")
	}
	id := call("launch_start_run", args{"run_config": args{
		"github_repo_url": "https://git.example.com/acme/widget", "product_name": "Widget " + password, "autopilot": args{"open_pr": true},
	}})
	gone := call("launch_start_run", args{"run_config": args{"github_repo_url": "https://forge.example.com/acme/widget"}})
	call("launch_start_run", args{"run_config": args{"github_repo_url": "https://bot:" + userinfo + "@git.example.com/acme/widget"}})
	call("launch_start_run", args{"run_config": args{"github_repo_url": "ftp://bot:" + userinfo + "@example.com/x"}})
	call("launch_start_run", args{"run_config": args{"github_repo_url": "../" + apiKey, "no_" + token: password}})
	call("launch_start_run_from_github_repo_url", args{"github_repo_url": "https://bot:" + userinfo + "@github.com/acme/widget"})
	call("launch_start_run_from_product_url", args{"url": "https://bot:" + userinfo + "@products.example.com/" + apiKey})
	call("launch_get_status", args{"run_id": apiKey})
	call("launch_get_artifact", args{"run_id": id, "artifact_name": token})
	call("launch_list_runs", args{"cursor": apiKey})
	call("validate_taskcard", args{"taskcard": "plans/" + password + ".md"})
	call(token, args{})
	if v := w.until(id, func(v *runs.View) bool { return v.State.Terminal() }); v.State != runs.StateDone {
		t.Fatalf("the run ends in %s: %+v", v.State, v.Failure)
	}
	var s struct{ Artifacts []struct{ Name string } }
	if err := json.Unmarshal(p.status(id), &s); err != nil {
		t.Fatal(err)
	}
	names := []string{"snapshot.json", "events.ndjson", "run_config.yaml"}
	for _, a := range s.Artifacts {
		names = append(names, a.Name)
	}
	for _, name := range names {
		call("launch_get_artifact", args{"run_id": id, "artifact_name": name, "max_bytes": 1 << 20})
		call("launch_get_artifact", args{"run_id": gone, "artifact_name": name, "max_bytes": 1 << 20})
		a := p.request("resources/read", map[string]any{"uri": "resource://run/" + id + "/" + name})
		said.Write(a.Result)
	}
	for _, run := range []string{id, gone} {
		call("launch_get_status", args{"run_id": run})
		call("get_telemetry", args{"run_id": run, "limit": 200})
	}
	call("launch_list_runs", args{})
	p.end()

	ways := map[string]string{"a result or an error": said.String(), "the log": p.err.String()}
	for _, file := range []string{"telemetry.db", "telemetry.db-wal"} {
		for name := range tree(t, w.state) {
			if name == file {
				ways[file] = read(t, filepath.Join(w.state, file))
			}
		}
	}
	for way, text := range ways {
		for _, secret := range []string{apiKey, password, userinfo, token} {
			for _, form := range []string{secret, url.QueryEscape(secret), base64.StdEncoding.EncodeToString([]byte(secret))} {
				if at := strings.Index(text, form); at >= 0 {
					t.Errorf("%s tells %q: …%.120q…", way, form, text[max(0, at-80):])
				}
			}
		}
	}
	for _, name := range names { // userinfo is in no file of the run that can be read
		for path := range tree(t, filepath.Join(w.state, "runs", id)) {
			if strings.HasSuffix(path, "/"+name) && strings.Contains(read(t, filepath.Join(w.state, "runs", id, path)), userinfo) {
				t.Errorf("%s holds the user information of an address", path)
			}
		}
	}
	if !strings.Contains(said.String(), "[REDACTED:") {
		t.Error("nothing was masked: the test does not reach what it should")
	}
}
