package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// The scenarios of the seed about what a client sees before it calls.

// boardListing is the tools/list of the toolset.
func boardListing(t *testing.T) (raw string, tools []boardTool) {
	t.Helper()
	p := newBareWorld(t).serve(stateful, "--toolsets=board")
	a := p.request("tools/list", nil)
	var r struct{ Tools []boardTool }
	if a.Error != nil || json.Unmarshal(a.Result, &r) != nil {
		t.Fatalf("tools/list: %s %.200s", a.Error, a.Result)
	}
	return string(a.Result), r.Tools
}

type boardTool struct {
	Name, Description string
	Input             json.RawMessage `json:"inputSchema"`
	Output            json.RawMessage `json:"outputSchema"`
}

func TestBoardToolsAreDiscoverable(t *testing.T) {
	t.Parallel()
	_, tools := boardListing(t)
	var names []string
	for _, tool := range tools {
		names = append(names, tool.Name)
	}
	for _, want := range strings.Fields(`list_projects list_repos list_tasks list_task_attempts get_task create_task update_task delete_task
		start_task_attempt follow_up get_attempt_status tail_attempt_logs get_attempt_changes get_context
		list_executors stop_attempt tail_session_messages get_attempt_file get_attempt_patch`) {
		if !slices.Contains(names, want) {
			t.Errorf("%s is not listed", want)
		}
	}
	if len(names) != 19 {
		t.Errorf("%d tools", len(names))
	}
}

func TestBoardNoWorkspaceIDInSchemas(t *testing.T) {
	t.Parallel()
	raw, _ := boardListing(t)
	if strings.Contains(raw, "workspace_id") || !strings.Contains(raw, "attempt_id") {
		t.Error("an attempt is called workspace_id")
	}
}

func TestBoardEveryFieldIsDescribed(t *testing.T) {
	t.Parallel()
	_, tools := boardListing(t)
	fields := 0
	var look func(at string, schema any)
	look = func(at string, schema any) {
		s, _ := schema.(map[string]any)
		properties, _ := s["properties"].(map[string]any)
		for name, p := range properties {
			p, _ := p.(map[string]any)
			description, _ := p["description"].(string)
			if len(description) < 4 {
				t.Errorf("%s.%s is not described", at, name)
			}
			if strings.HasSuffix(name, "_id") && name != "request_id" && !strings.Contains(description+" "+at, "UUID") && p["format"] != "uuid" {
				t.Errorf("%s.%s does not say that it is a UUID", at, name)
			}
			fields++
			look(at+"."+name, p)
		}
		if s["items"] != nil {
			look(at+"[]", s["items"])
		}
	}
	for _, tool := range tools {
		for part, raw := range map[string]json.RawMessage{"input": tool.Input, "output": tool.Output} {
			var s any
			if err := json.Unmarshal(raw, &s); err != nil {
				t.Fatal(err)
			}
			look(tool.Name+" "+part, s)
		}
	}
	if fields < 150 {
		t.Errorf("only %d fields were found", fields)
	}
}

func TestBoardDescriptionsHaveTheHeadings(t *testing.T) {
	t.Parallel()
	_, tools := boardListing(t)
	for _, tool := range tools {
		at := 0
		for _, heading := range []string{"Use when:", "Required:", "Optional:", "Next:", "Avoid:"} {
			i := strings.Index(tool.Description, heading)
			if i < at {
				t.Errorf("%s: %s is missing or out of order", tool.Name, heading)
			}
			at = i
		}
	}
}

func TestBoardFollowUpSaysInItsSchemaThatSendNeedsAPrompt(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	_, tools := boardListing(t)
	i := slices.IndexFunc(tools, func(tool boardTool) bool { return tool.Name == "follow_up" })
	var s struct {
		Dependent map[string]struct {
			OneOf []struct {
				Properties map[string]json.RawMessage
				Required   []string
			}
		} `json:"dependentSchemas"`
	}
	if err := json.Unmarshal(tools[i].Input, &s); err != nil {
		t.Fatal(err)
	}
	needs := map[string]bool{}
	for _, mode := range s.Dependent["action"].OneOf {
		needs[field(t, mode.Properties["action"], "const")] = slices.Contains(mode.Required, "prompt")
	}
	if len(needs) != 3 || !needs["send"] || !needs["queue"] || needs["cancel"] {
		t.Errorf("prompt is required for %v", needs)
	}
	const nobody = "0192f0c0-0000-7000-8000-000000000000"
	for _, action := range []string{"send", "queue"} {
		if f := d.fails("follow_up", args{"attempt_id": nobody, "action": action}, "missing_required"); !strings.Contains(f.Hint, "prompt") {
			t.Errorf("%s without a prompt: %s", action, f.Hint)
		}
	}
	d.fails("follow_up", args{"attempt_id": nobody, "action": "cancel", "prompt": "x"}, "invalid_argument")
	d.fails("follow_up", args{"attempt_id": nobody, "action": "jump", "prompt": "x"}, "invalid_argument")
}

func TestBoardServesUnderItsNameAndBesideTasks(t *testing.T) {
	t.Parallel()
	w := newBareWorld(t)
	p := w.serve(stateless, "--toolsets=board")
	if a := p.request("server/discover", nil); !strings.Contains(string(a.Result), `"gantry-board"`) {
		t.Errorf("the server is %.300s", a.Result)
	}
	both := w.serve(stateless, "--toolsets=tasks,board")
	var names []string
	for _, tool := range both.tools() {
		names = append(names, tool.Name)
	}
	for _, want := range []string{"tasks_list_tasks", "board_list_tasks", "list_projects", "task_start"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is not among %v", want, names)
		}
	}
	if slices.Contains(names, "list_tasks") {
		t.Error("list_tasks is ambiguous")
	}
}

func TestBoardReadOnlyOffersNothingThatChanges(t *testing.T) {
	t.Parallel()
	p := newBareWorld(t).serve(stateful, "--toolsets=board", "--read-only")
	for _, tool := range p.tools() {
		if slices.Contains(strings.Fields("create_task update_task delete_task start_task_attempt follow_up stop_attempt"), tool.Name) {
			t.Errorf("%s is offered", tool.Name)
		}
	}
}
