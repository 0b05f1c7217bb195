package specs

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// every calls do for each tool of each toolset.
func every(t *testing.T, do func(t *testing.T, tool Tool)) {
	t.Helper()
	for _, toolset := range Toolsets() {
		tools, err := Tools(toolset)
		if err != nil {
			t.Fatal(err)
		}
		if len(tools) == 0 {
			t.Errorf("toolset %s has no tools", toolset)
		}
		for _, tool := range tools {
			t.Run(toolset+"/"+tool.Name, func(t *testing.T) { do(t, tool) })
		}
	}
}

func TestLaunchToolsAreListedInTheOrderOfTheSeed(t *testing.T) {
	want := strings.Fields(`launch_start_run launch_start_run_from_product_url launch_start_run_from_github_repo_url
		launch_get_status launch_get_artifact launch_validate launch_fix_next launch_resume launch_cancel launch_open_pr
		launch_list_runs launch_start_run_from_url launch_run get_run_status list_runs get_artifact validate_run resume_run
		cancel_run get_telemetry list_taskcards validate_taskcard get_run_telemetry launch_wait`)
	tools, err := Tools("launch")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, tool := range tools {
		got = append(got, tool.Name)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

var toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

func TestFactsOfToolsAreComplete(t *testing.T) {
	positions := map[string]string{}
	every(t, func(t *testing.T, tool Tool) {
		if !toolName.MatchString(tool.Name) || tool.Title == "" {
			t.Errorf("name %q, title %q", tool.Name, tool.Title)
		}
		if !slices.Contains([]Effect{Read, Write, Run, Destroy}, tool.Effect) {
			t.Errorf("effect %q", tool.Effect)
		}
		if !slices.Contains([]Delivery{Once, LongPoll, Stream}, tool.Delivery) {
			t.Errorf("delivery %q", tool.Delivery)
		}
		if tool.TimeoutS < 1 || tool.TimeoutS > 3600 {
			t.Errorf("timeout %d s", tool.TimeoutS)
		}
		at := tool.Toolset + string(rune(tool.Position))
		if tool.Position < 1 || positions[at] != "" {
			t.Errorf("position %d is that of %q", tool.Position, positions[at])
		}
		positions[at] = tool.Name
	})
}

func TestDescriptionsHaveFiveHeadings(t *testing.T) {
	every(t, func(t *testing.T, tool Tool) {
		lines := strings.Split(tool.Description.String(), "\n")
		for i, heading := range []string{"Use when: ", "Required: ", "Optional: ", "Next: ", "Avoid: "} {
			text, ok := strings.CutPrefix(lines[i], heading)
			if !ok || len(text) < 3 || !strings.HasSuffix(text, ".") {
				t.Errorf("%q is no sentence under %q", lines[i], heading)
			}
		}
		if len(lines) != 5 {
			t.Errorf("%d lines", len(lines))
		}
		if tool.SameAs != "" && !strings.Contains(tool.Description.UseWhen, tool.SameAs) {
			t.Errorf("Use when does not say that it equals %s", tool.SameAs)
		}
		inputs := membersNamed(t, tool.Input)
		for _, name := range requiredOf(t, tool.Input) {
			if !strings.Contains(tool.Description.Required, name) {
				t.Errorf("Required does not name %s", name)
			}
		}
		for _, name := range inputs {
			known := strings.Contains(tool.Description.Required+tool.Description.Optional, name)
			if !known && !slices.Contains(tool.Idempotency, name) {
				t.Errorf("neither Required nor Optional names %s", name)
			}
		}
	})
}

func TestReadersTakeNoLockAndNoKeyAndOthersTakeBothKeys(t *testing.T) {
	every(t, func(t *testing.T, tool Tool) {
		inputs := membersNamed(t, tool.Input)
		if tool.Lock != "" && !slices.Contains(inputs, tool.Lock) {
			t.Errorf("the lock %q is no argument", tool.Lock)
		}
		if tool.Effect == Read {
			if tool.Lock != "" || len(tool.Idempotency) > 0 {
				t.Errorf("a reader with lock %q and keys %v", tool.Lock, tool.Idempotency)
			}
			return
		}
		if !slices.Equal(tool.Idempotency, []string{"idempotency_key", "request_id"}) {
			t.Errorf("keys %v", tool.Idempotency)
		}
		for _, key := range tool.Idempotency {
			if !slices.Contains(inputs, key) {
				t.Errorf("the key %q is no argument", key)
			}
		}
	})
}

func TestCancelTakesNoLockSoThatItAlwaysGetsThrough(t *testing.T) {
	for _, name := range []string{"launch_cancel", "cancel_run"} {
		tool, ok := ToolByName("launch", name)
		if !ok || tool.Lock != "" || tool.Effect != Destroy {
			t.Errorf("%s: %v, lock %q, effect %s", name, ok, tool.Lock, tool.Effect)
		}
	}
}

func TestTimeoutsOfLaunchToolsAreTheAgreedOnes(t *testing.T) {
	agreed := map[string]int{
		"launch_get_status": 5, "launch_list_runs": 10, "list_taskcards": 10, "launch_get_artifact": 30,
		"launch_validate": 600, "launch_cancel": 10, "launch_wait": 40,
	}
	every(t, func(t *testing.T, tool Tool) {
		if tool.Toolset != "launch" {
			return
		}
		name := tool.Name
		if tool.SameAs != "" {
			name = tool.SameAs
		}
		want, ok := agreed[name]
		if !ok {
			want = 300
		}
		if tool.TimeoutS != want {
			t.Errorf("%d s, want %d", tool.TimeoutS, want)
		}
	})
}

func TestDuplicateEqualsItsOriginal(t *testing.T) {
	every(t, func(t *testing.T, tool Tool) {
		if tool.SameAs == "" {
			return
		}
		o, ok := ToolByName(tool.Toolset, tool.SameAs)
		if !ok {
			t.Fatalf("there is no %s", tool.SameAs)
		}
		if tool.Effect != o.Effect || tool.Lock != o.Lock || tool.TimeoutS != o.TimeoutS || tool.Delivery != o.Delivery ||
			!slices.Equal(tool.Errors, o.Errors) || !slices.Equal(tool.Idempotency, o.Idempotency) ||
			string(tool.Input) != string(o.Input) || string(tool.Output) != string(o.Output) {
			t.Errorf("it differs from %s", tool.SameAs)
		}
	})
}

func TestListsTakeLimitAndCursorAndGiveNextCursor(t *testing.T) {
	for _, name := range []string{"launch_list_runs", "list_runs", "get_telemetry", "get_run_telemetry", "list_taskcards"} {
		tool, ok := ToolByName("launch", name)
		if !ok {
			t.Fatal(name)
		}
		var in struct {
			Properties struct {
				Limit, Cursor struct{ Minimum, Maximum, Default, MaxLength int }
			}
		}
		if err := json.Unmarshal(tool.Input, &in); err != nil {
			t.Fatal(err)
		}
		l, c := in.Properties.Limit, in.Properties.Cursor
		if l.Minimum != 1 || l.Maximum != 200 || l.Default != 50 || c.MaxLength != 512 {
			t.Errorf("%s: limit %+v, cursor %+v", name, l, c)
		}
		if !slices.Contains(requiredOf(t, tool.Output), "next_cursor") {
			t.Errorf("%s: next_cursor is not always there", name)
		}
	}
}

// What a model sees of the toolset: the default set, with the four worktree
// tools, has 20 KB.
func TestLaunchToolsFitIntoTheirShareOfTheContext(t *testing.T) {
	const most = 16_500
	tools, err := Tools("launch")
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, tool := range tools {
		raw, err := json.Marshal(map[string]any{
			"name": tool.Name, "description": tool.Description.String(), "inputSchema": tool.Input,
		})
		if err != nil {
			t.Fatal(err)
		}
		total += len(raw)
	}
	if total >= most {
		t.Errorf("%d bytes, want fewer than %d", total, most)
	}
}

func TestReportInResultsIsTheArtifactsSchema(t *testing.T) {
	for _, name := range []string{"launch_validate", "launch_fix_next"} {
		tool, _ := ToolByName("launch", name)
		var out struct {
			Properties map[string]json.RawMessage
		}
		if err := json.Unmarshal(tool.Output, &out); err != nil {
			t.Fatal(err)
		}
		if got := artifactOf(out.Properties["validation_report"]); got != "validation_report.json" {
			t.Errorf("%s: validation_report is not the schema of the artifact", name)
		}
	}
}

func TestEveryResultSaysOK(t *testing.T) {
	every(t, func(t *testing.T, tool Tool) {
		if tool.Toolset == "launch" && !slices.Contains(requiredOf(t, tool.Output), "ok") {
			t.Error("ok is not always there")
		}
	})
}

func TestUnknownMemberOfAToolFileIsAnError(t *testing.T) {
	if _, err := parseTool([]byte(`{"name":"x","timeout":5}`)); err == nil {
		t.Error("accepted")
	}
}

func TestUnknownToolAndToolsetAreSaid(t *testing.T) {
	if _, err := Tools("nope"); err == nil {
		t.Error("there is a toolset nope")
	}
	if _, ok := ToolByName("launch", "nope"); ok {
		t.Error("there is a tool nope")
	}
}

func membersNamed(t *testing.T, schema json.RawMessage) []string {
	t.Helper()
	var s struct{ Properties json.RawMessage }
	if err := json.Unmarshal(schema, &s); err != nil {
		t.Fatal(err)
	}
	members, err := membersOf(s.Properties)
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, len(members))
	for i, m := range members {
		names[i] = m.name
	}
	return names
}

func requiredOf(t *testing.T, schema json.RawMessage) []string {
	t.Helper()
	var s struct{ Required []string }
	if err := json.Unmarshal(schema, &s); err != nil {
		t.Fatal(err)
	}
	return s.Required
}
