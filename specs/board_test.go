package specs

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// boardTools are the tools of the seed in its order, then those that its later
// requirements add, with their arguments, the required ones, and the members of their results.
var boardTools = []struct{ name, in, required, out string }{
	{"list_projects", "limit cursor", "", "projects count next_cursor"},
	{"list_repos", "project_id limit cursor", "project_id", "project_id repos count next_cursor"},
	{"list_tasks", "project_id status limit cursor", "project_id", "project_id tasks count applied_filters next_cursor"},
	{"list_task_attempts", "task_id limit cursor", "task_id", "task_id attempts count latest_attempt_id latest_session_id next_cursor"},
	{"get_task", "task_id", "task_id", "task_id project_id title description status created_at updated_at latest_attempt_id latest_workspace_branch latest_session_id latest_session_executor has_in_progress_attempt last_attempt_failed"},
	{"create_task", "project_id title description", "project_id title", "task_id"},
	{"update_task", "task_id title description status", "task_id", "task_id project_id title description status created_at updated_at latest_attempt_id latest_workspace_branch latest_session_id latest_session_executor has_in_progress_attempt last_attempt_failed"},
	{"delete_task", "task_id", "task_id", "task_id deleted kept"},
	{"start_task_attempt", "task_id executor variant model prompt repos", "task_id executor repos", "task_id attempt_id session_id execution_process_id workspace_branch"},
	{"follow_up", "attempt_id session_id action prompt variant", "action", "session_id action execution_process_id status queued_message"},
	{"get_attempt_status", "attempt_id", "attempt_id", "attempt_id task_id workspace_branch created_at updated_at latest_session_id latest_execution_process_id state last_activity_at failure_summary"},
	{"tail_attempt_logs", "attempt_id channel limit cursor after_entry_index", "attempt_id", "attempt_id execution_process_id channel entries next_cursor has_more next_after history_truncated"},
	{"get_attempt_changes", "attempt_id force limit cursor", "attempt_id", "attempt_id summary blocked blocked_reason code retryable hint files next_cursor"},
	{"get_context", "", "", "project_id project_name task_id task_title task_status attempt_id workspace_branch workspace_repos"},
	{"list_executors", "", "", "executors count"},
	{"stop_attempt", "attempt_id force", "attempt_id", "attempt_id force state"},
	{"tail_session_messages", "session_id attempt_id limit cursor", "", "session_id entries next_cursor has_more"},
	{"get_attempt_file", "attempt_id path start max_bytes", "attempt_id path", "attempt_id path content start bytes size_bytes truncated blocked blocked_reason code retryable hint"},
	{"get_attempt_patch", "attempt_id paths force max_bytes", "attempt_id paths", "attempt_id patch bytes truncated blocked blocked_reason code retryable hint"},
}

func TestBoardToolsAreThoseOfTheSeedWithItsNames(t *testing.T) {
	tools, err := Tools("board")
	if err != nil || len(tools) != len(boardTools) {
		t.Fatalf("%d tools, want %d: %v", len(tools), len(boardTools), err)
	}
	for i, want := range boardTools {
		tool := tools[i]
		takes := slices.DeleteFunc(membersNamed(t, tool.Input), func(n string) bool { return slices.Contains(tool.Idempotency, n) })
		if got := strings.Join(takes, " "); tool.Name != want.name || got != want.in {
			t.Errorf("%s takes %s, want %s of %s", tool.Name, got, want.in, want.name)
		}
		if got := strings.Join(requiredOf(t, tool.Input), " "); got != want.required {
			t.Errorf("%s requires %s, want %s", tool.Name, got, want.required)
		}
		if got := strings.Join(membersNamed(t, tool.Output), " "); got != want.out {
			t.Errorf("%s answers %s, want %s", tool.Name, got, want.out)
		}
	}
}

// walk calls do for each named property of a schema, at any depth.
func walk(t *testing.T, at string, raw json.RawMessage, do func(at, name string, property map[string]any)) {
	t.Helper()
	var s struct {
		Properties map[string]json.RawMessage
		Items      json.RawMessage
	}
	if json.Unmarshal(raw, &s) != nil {
		return
	}
	for name, p := range s.Properties {
		var property map[string]any
		if err := json.Unmarshal(p, &property); err != nil {
			t.Fatal(err)
		}
		do(at+"."+name, name, property)
		walk(t, at+"."+name, p, do)
	}
	if s.Items != nil {
		walk(t, at+"[]", s.Items, do)
	}
}

func TestBoardIdsAreUUIDsAndTimesRFC3339(t *testing.T) {
	tools, err := Tools("board")
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools {
		check := func(at, name string, p map[string]any) {
			format, description := p["format"], p["description"].(string)
			switch {
			case strings.HasSuffix(name, "_id") && name != "request_id":
				if format != "uuid" {
					t.Errorf("%s has the format %v", at, format)
				}
			case strings.HasSuffix(name, "_at"):
				if format != "date-time" || !strings.Contains(description, "RFC 3339") {
					t.Errorf("%s has the format %v: %s", at, format, description)
				}
			case strings.Contains(name, "workspace_id"):
				t.Errorf("%s: on the wire it is an attempt", at)
			}
		}
		walk(t, tool.Name+" input", tool.Input, check)
		walk(t, tool.Name+" output", tool.Output, check)
	}
}

func TestBoardValuesAreThoseOfTheSeed(t *testing.T) {
	for _, c := range []struct {
		tool, field string
		input       bool
		want        []string
	}{
		{"list_tasks", "status", true, []string{"todo", "inprogress", "inreview", "done", "cancelled"}},
		{"update_task", "status", true, []string{"todo", "inprogress", "inreview", "done", "cancelled"}},
		{"follow_up", "action", true, []string{"send", "queue", "cancel"}},
		{"follow_up", "status", false, []string{"empty", "queued"}},
		{"tail_attempt_logs", "channel", true, []string{"normalized", "raw"}},
		{"get_attempt_status", "state", false, []string{"idle", "running", "completed", "failed"}},
		{"get_attempt_changes", "blocked_reason", false, []string{"summary_failed", "threshold_exceeded", ""}},
		{"get_attempt_file", "blocked_reason", false, []string{"path_outside_workspace", "size_exceeded", "too_many_paths", ""}},
	} {
		tool, _ := ToolByName("board", c.tool)
		raw := tool.Output
		if c.input {
			raw = tool.Input
		}
		var s struct{ Properties map[string]argument }
		if err := json.Unmarshal(raw, &s); err != nil {
			t.Fatal(err)
		}
		if got := s.Properties[c.field].Enum; !slices.Equal(got, c.want) {
			t.Errorf("%s: %s is one of %q, want %q", c.tool, c.field, got, c.want)
		}
	}
}

// A limit that is answered with blocked or lowered is no bound of the schema.
func TestBoardLimitsThatAreAnsweredAreNotRefused(t *testing.T) {
	for _, c := range []struct {
		tool, field, standard string
	}{
		{"tail_attempt_logs", "limit", ""}, {"tail_session_messages", "limit", "20"}, {"get_attempt_file", "max_bytes", "65536"}, {"get_attempt_patch", "max_bytes", "204800"},
	} {
		tool, _ := ToolByName("board", c.tool)
		var s struct{ Properties map[string]argument }
		if err := json.Unmarshal(tool.Input, &s); err != nil {
			t.Fatal(err)
		}
		p := s.Properties[c.field]
		if p.value() != c.standard || *p.Maximum < 1<<40 {
			t.Errorf("%s: %s is at most %v, default %s", c.tool, c.field, *p.Maximum, p.value())
		}
	}
}
