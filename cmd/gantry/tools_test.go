package main

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/validate"
)

// listed is a tool as tools/list shows it.
type listed struct {
	Name   string
	Input  json.RawMessage `json:"inputSchema"`
	Output json.RawMessage `json:"outputSchema"`
}

func (p *peer) tools() []listed {
	p.t.Helper()
	a := p.request("tools/list", nil)
	var r struct{ Tools []listed }
	if a.Error != nil || json.Unmarshal(a.Result, &r) != nil {
		p.t.Fatalf("tools/list: %s %.200s", a.Error, a.Result)
	}
	return r.Tools
}

// twins are the tools that are another name of one.
var twins = map[string]string{
	"launch_run": "launch_start_run", "get_run_status": "launch_get_status", "list_runs": "launch_list_runs",
	"get_artifact": "launch_get_artifact", "validate_run": "launch_validate", "resume_run": "launch_resume",
	"cancel_run": "launch_cancel", "get_run_telemetry": "get_telemetry",
	"launch_start_run_from_url": "launch_start_run_from_product_url",
}

// Every tool succeeds once, answers what its output schema says, and answers the
// same under its other name.
func TestEveryToolAnswersAsItsSchemaSays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.repository("repo", productFiles)
	w.rewrite("https://github.com/acme/widget", "repo")
	w.rewrite("https://github.com/Aspose/aspose-cells-foss-python", "repo")
	p := w.serve(stateful, "--rate-limit=0", "--toolsets=launch")
	q := w.serve(stateless, "--rate-limit=0", "--toolsets=launch") // calls the twin

	done := p.start(nil)
	ready, failed, cancelled := p.start(nil), p.start(args{"github_repo_url": "empty"}), p.start(nil)
	broken := p.start(nil)
	for _, id := range []string{done, ready, failed, cancelled, broken} {
		w.rest(id)
	}
	p.must("launch_open_pr", args{"run_id": done})
	w.spoil(broken, docsIndex, addLine("See {{ token }}."))
	p.must("launch_validate", args{"run_id": broken})
	w.git("empty", "commit", "-q", "--allow-empty", "-m", "first")

	calls := map[string]args{
		"launch_start_run":                      {"run_config": args{"github_repo_url": "product"}, "idempotency_key": "one"},
		"launch_start_run_from_product_url":     {"url": "https://products.aspose.org/cells/python/", "idempotency_key": "two"},
		"launch_start_run_from_github_repo_url": {"github_repo_url": "https://github.com/acme/widget", "request_id": "three"},
		"launch_get_status":                     {"run_id": done},
		"launch_wait":                           {"run_id": done, "timeout_s": 1},
		"launch_get_artifact":                   {"run_id": done, "artifact_name": "pr.json"},
		"launch_validate":                       {"run_id": ready},
		"launch_fix_next":                       {"run_id": broken},
		"launch_resume":                         {"run_id": failed, "idempotency_key": "four"},
		"launch_cancel":                         {"run_id": cancelled},
		"launch_open_pr":                        {"run_id": ready},
		"launch_list_runs":                      {"filter": args{"state": "DONE"}, "limit": 200},
		"get_telemetry":                         {"run_id": done, "limit": 3},
		"list_taskcards":                        {},
		"validate_taskcard":                     {"taskcard": "TC-12"},
	}
	listing := p.tools()
	if len(listing) != 24 {
		t.Errorf("%d tools are listed", len(listing))
	}
	schemas := map[string]json.RawMessage{}
	for _, tool := range listing {
		schemas[tool.Name] = tool.Output
		if _, ok := calls[tool.Name]; !ok && twins[tool.Name] == "" {
			t.Errorf("no call of %s here", tool.Name)
		}
	}
	check := func(name string, result json.RawMessage) {
		s, err := validate.Compile(name, schemas[name])
		if err != nil {
			t.Fatal(err)
		}
		problems, err := s.Check(result)
		if err != nil || len(problems) > 0 {
			t.Errorf("%s answers against its schema: %v %v in %.600s", name, problems, err, result)
		}
	}
	order := []string{ // a twin right after its original
		"launch_list_runs", "launch_start_run", "launch_start_run_from_product_url", "launch_start_run_from_github_repo_url", "launch_get_status",
		"launch_get_artifact", "launch_validate", "launch_fix_next", "launch_resume", "launch_cancel", "launch_open_pr", "list_taskcards",
		"validate_taskcard", "get_telemetry", "launch_wait",
	}
	called := 0
	for _, name := range order {
		result := p.must(name, calls[name])
		check(name, result)
		called++
		for twin, original := range twins {
			if original != name {
				continue
			}
			again := q.must(twin, calls[name])
			check(twin, again)
			called++
			if !slices.Equal(comparable(t, again), comparable(t, result)) {
				t.Errorf("%s answers %.600s, %s %.600s", twin, again, name, result)
			}
		}
	}
	if called != len(listing) {
		t.Errorf("%d tools were called, %d are listed", called, len(listing))
	}
	if s := p.status(broken); field(t, s, "state") != string(runs.StateReadyForPR) {
		t.Errorf("fixed, the run is %s", s)
	}
}

// comparable is a result without what time alone changes.
func comparable(t *testing.T, result json.RawMessage) []byte {
	var r map[string]json.RawMessage
	if err := json.Unmarshal(result, &r); err != nil {
		t.Fatal(err)
	}
	delete(r, "state") // of a run that goes on meanwhile
	if _, ok := r["records"]; ok {
		delete(r, "records") // reading records makes one
		delete(r, "summary")
		delete(r, "next_cursor")
	}
	raw, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return canonical(t, raw)
}

// A server that only reads offers no tool that changes anything, and calls of those
// that it does not offer are unknown tools.
func TestReadOnlyServerOffersOnlyToolsThatRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.serve(stateless, "--read-only")
	for _, tool := range p.tools() {
		if slices.Contains([]string{"launch_start_run", "launch_cancel", "launch_open_pr", "validate_run"}, tool.Name) {
			t.Errorf("%s is listed", tool.Name)
		}
	}
	if r := p.refused("launch_start_run", args{"run_config": args{"github_repo_url": "product"}}, "UNKNOWN_TOOL"); r.Code != -32601 {
		t.Errorf("refused with %s", &r)
	}
	p.must("launch_list_runs", args{})
}
