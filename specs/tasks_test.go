package specs

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// argument is the part of an argument's schema that the seed fixes.
type argument struct {
	Type             json.RawMessage
	Default          json.RawMessage
	Minimum, Maximum *float64
	MaxItems         int
	Enum             []string
}

func (m argument) value() string { return string(m.Default) }

func inputOf(t *testing.T, name string) map[string]argument { return schemaOf(t, name, true) }

func schemaOf(t *testing.T, name string, input bool) map[string]argument {
	t.Helper()
	tool, ok := ToolByName("tasks", name)
	if !ok {
		t.Fatalf("there is no tool %s", name)
	}
	raw := tool.Output
	if input {
		raw = tool.Input
	}
	var s struct{ Properties map[string]argument }
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	return s.Properties
}

func TestTasksToolsAreThoseOfTheSeedInItsOrder(t *testing.T) {
	tools, err := Tools("tasks")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, tool := range tools {
		got = append(got, tool.Name)
	}
	if want := "list_tasks status task_start task_status task_output task_stop"; strings.Join(got, " ") != want {
		t.Errorf("%v, want %s", got, want)
	}
}

func TestTasksArgumentsAndResultsHaveTheNamesOfTheSeed(t *testing.T) {
	for name, want := range map[string]struct{ in, required, out string }{
		"list_tasks":  {"runner cwd limit cursor", "", "tasks problems next_cursor"},
		"status":      {"", "", "running not_shown"},
		"task_start":  {"unique_name args env cwd wait_for_exit_seconds keep idempotency_key request_id", "unique_name", "state pid exit_code signal error initial_output truncated"},
		"task_status": {"unique_name", "unique_name", "jobs not_shown"},
		"task_output": {"pid lines show_truncation from", "pid", "pid lines total_lines total_bytes truncated buffer_full next_from"},
		"task_stop":   {"pid grace_period idempotency_key request_id", "pid", "pid status message grace_period_used"},
	} {
		tool, _ := ToolByName("tasks", name)
		in, out := membersNamed(t, tool.Input), membersNamed(t, tool.Output)
		if got := strings.Join(in, " "); got != want.in {
			t.Errorf("%s takes %s, want %s", name, got, want.in)
		}
		if got := strings.Join(requiredOf(t, tool.Input), " "); got != want.required {
			t.Errorf("%s requires %s, want %s", name, got, want.required)
		}
		if got := strings.Join(out, " "); got != want.out {
			t.Errorf("%s answers %s, want %s", name, got, want.out)
		}
	}
}

func TestTasksItemsHaveTheNamesOfTheSeed(t *testing.T) {
	for _, c := range []struct{ tool, list, want string }{
		{"list_tasks", "tasks", "unique_name source_name runner command runner_available allowlisted file_path source_path description"},
		{"status", "running", "pid unique_name state started_at started_time command args cwd exit_code signal error"},
		{"task_status", "jobs", "pid unique_name state started_at started_time command args cwd exit_code signal error"},
	} {
		tool, _ := ToolByName("tasks", c.tool)
		var s struct {
			Properties map[string]struct{ Items json.RawMessage }
		}
		if err := json.Unmarshal(tool.Output, &s); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(membersNamed(t, s.Properties[c.list].Items), " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.tool, got, c.want)
		}
	}
}

func TestTasksDefaultsAndLimitsAreThoseOfTheSeed(t *testing.T) {
	start, output, stop := inputOf(t, "task_start"), inputOf(t, "task_output"), inputOf(t, "task_stop")
	if w := start["wait_for_exit_seconds"]; w.value() != "1" || *w.Minimum != 0 || *w.Maximum != 50 {
		t.Errorf("wait_for_exit_seconds: %+v", w)
	}
	if start["keep"].value() != "false" || start["args"].MaxItems != 64 {
		t.Errorf("keep %s, %d args", start["keep"].value(), start["args"].MaxItems)
	}
	if output["lines"].value() != "200" || output["show_truncation"].value() != "false" {
		t.Errorf("lines %s, show_truncation %s", output["lines"].value(), output["show_truncation"].value())
	}
	if stop["grace_period"].value() != "5" {
		t.Errorf("grace_period %s", stop["grace_period"].value())
	}
	for name, want := range map[string][]string{"task_start": {"exited", "running", "failed"}} {
		if got := schemaOf(t, name, false)["state"].Enum; !slices.Equal(got, want) {
			t.Errorf("%s: %v", name, got)
		}
	}
	if got := schemaOf(t, "task_stop", false)["status"].Enum; !slices.Equal(got, []string{"graceful", "killed", "failed"}) {
		t.Errorf("task_stop: %v", got)
	}
}

func TestATimeoutIsLongerThanTheLongestWaitOfItsTool(t *testing.T) {
	for name, wait := range map[string]string{"task_start": "wait_for_exit_seconds", "task_stop": "grace_period"} {
		tool, _ := ToolByName("tasks", name)
		if longest := *inputOf(t, name)[wait].Maximum; tool.Timeout().Seconds() <= longest {
			t.Errorf("%s ends after %v, and may wait %v s", name, tool.Timeout(), longest)
		}
	}
}

func TestNumbersOfTheSeedAreInTheRegistry(t *testing.T) {
	for code, want := range map[string]int{
		"NOT_ALLOWLISTED": -32010, "NEEDS_REAPPROVAL": -32010, "RUNNER_UNAVAILABLE": -32011, "TASK_NOT_FOUND": -32012,
		"TASK_AMBIGUOUS": -32012, "JOB_NOT_FOUND": -32012, "TOO_MANY_JOBS": 0, "SPAWN_FAILED": 0,
	} {
		for _, e := range Errors() {
			if string(e.Code) == code && e.RPCCode != want {
				t.Errorf("%s: %d, want %d", code, e.RPCCode, want)
			}
		}
	}
}
