package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// schema is as much of a JSON schema as is needed to break it.
type schema struct {
	Type       any
	Properties map[string]schema
	Required   []string
	Items      *schema
	Enum       []any
	Pattern    string
	MinLength  *int
	MaxLength  *int
	Minimum    *float64
	Maximum    *float64
	MinItems   *int
	MaxItems   *int
}

// breaks returns values that break the schema, by the keyword that each breaks.
func (s schema) breaks() map[string]any {
	out := map[string]any{"type: null": nil, "type: list": []any{}, "type: object": map[string]any{}, "type: text": "x", "type: number": 42, "type: boolean": true}
	switch s.Type {
	case "string":
		delete(out, "type: text")
		if s.Pattern != "" {
			out["pattern: control character"] = "aaaaaaaa\n"
			out["pattern: path"] = "../../etc/passwd"
			out["pattern: wide letters"] = "ｒ_12345678"
		}
		if s.Pattern != "" || s.MinLength != nil || s.Enum != nil {
			out["minLength"] = ""
		}
		if s.MaxLength != nil || s.Pattern != "" {
			out["maxLength"] = strings.Repeat("a", 5000)
		}
	case "integer":
		delete(out, "type: number")
		out["type: fraction"], out["type: digits"] = 1.5, "50"
		if s.Minimum != nil {
			out["minimum"], out["far below"] = *s.Minimum-1, -1
		}
		if s.Maximum != nil {
			out["maximum"], out["beyond float"] = *s.Maximum+1, json.RawMessage("9007199254740993")
		}
	case "boolean":
		delete(out, "type: boolean")
	case "object":
		delete(out, "type: object")
		if len(s.Required) > 0 {
			out["required: nested"] = map[string]any{}
		}
		out["additionalProperties: nested"] = map[string]any{"no_such_field": 1}
	case "array":
		delete(out, "type: list")
		if s.MinItems != nil && *s.MinItems > 0 {
			out["minItems"] = []any{}
		}
		if s.Items != nil {
			for name, v := range s.Items.breaks() {
				out["items: "+name] = []any{v}
			}
		}
	}
	if s.Enum != nil {
		out["enum"] = "no such value"
	}
	return out
}

// violations returns arguments that break the schema of a tool in one place each,
// starting from arguments that are right.
func (s schema) violations(right map[string]any) map[string]any {
	out := map[string]any{"arguments are a list": []any{}, "arguments are text": "x", "arguments are a number": 42, "arguments are true": true, "arguments are null": nil}
	with := func(key string, value any) map[string]any {
		m := maps.Clone(right)
		m[key] = value
		return m
	}
	out["unknown field"] = with("no_such_field", 1)
	for name, p := range s.Properties {
		out[name+" in upper case"] = with(strings.ToUpper(name[:1])+name[1:], right[name])
		for kind, v := range p.breaks() {
			out[name+" "+kind] = with(name, v)
		}
		inner, isObject := right[name].(map[string]any)
		if p.Type == "object" && len(p.Properties) > 0 {
			if !isObject {
				inner = map[string]any{}
			}
			for kind, v := range p.violations(inner) {
				out[name+"."+kind] = with(name, v)
			}
		}
	}
	for _, name := range s.Required {
		m := maps.Clone(right)
		delete(m, name)
		out[name+" missing"] = m
	}
	return out
}

func TestEverySchemaViolationIsRefusedWithItsProblems(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.serve(stateful, "--rate-limit=0", "--toolsets=launch")
	run := map[string]any{"run_id": "r_20260101T000000Z_aaaaaaaaaaaa"}
	right := map[string]map[string]any{
		"launch_start_run":                      {"run_config": map[string]any{"github_repo_url": "product"}},
		"launch_start_run_from_product_url":     {"url": "https://products.aspose.org/cells/python/"},
		"launch_start_run_from_github_repo_url": {"github_repo_url": "https://github.com/acme/widget"},
		"launch_get_artifact":                   {"run_id": run["run_id"], "artifact_name": "pr.json"},
		"launch_list_runs":                      {}, "list_taskcards": {},
		"validate_taskcard": {"taskcard": "TC-12"},
	}
	total := 0
	for _, tool := range p.tools() {
		name := tool.Name
		if original := twins[name]; original != "" {
			name = original
		}
		ok := right[name]
		if ok == nil {
			ok = run
		}
		var s schema
		if err := json.Unmarshal(tool.Input, &s); err != nil {
			t.Fatal(err)
		}
		all := s.violations(ok)
		for _, kind := range slices.Sorted(maps.Keys(all)) {
			total++
			a := p.call(tool.Name, all[kind])
			if problem := notASchemaRefusal(a); problem != "" {
				raw, _ := json.Marshal(all[kind])
				t.Errorf("%s, %s (%.200s): %s", tool.Name, kind, raw, problem)
			}
		}
	}
	if total < 500 {
		t.Errorf("only %d violations were tried", total)
	}
	if got := field(t, p.must("launch_list_runs", args{}), "runs"); got != "[]" {
		t.Errorf("refused calls made runs: %s", got)
	}
}

// notASchemaRefusal says what is wrong with the answer to arguments that break a schema.
func notASchemaRefusal(a answer) string {
	if a.Error == nil {
		return fmt.Sprintf("accepted: %.200s", a.Result)
	}
	var problems []struct{ Path, Keyword, Message string }
	err := json.Unmarshal(a.Error.Data.Details, &problems)
	switch {
	case a.Error.Code != -32602 || a.Error.Data.Code != "SCHEMA_VALIDATION_FAILED" || a.Error.Data.Hint == "":
		return a.Error.String()
	case err != nil || len(problems) == 0 || len(problems) > 20 || problems[0].Message == "":
		return fmt.Sprintf("details are %s", a.Error.Data.Details)
	case !strings.Contains(a.Error.Message, problems[0].Message):
		return fmt.Sprintf("the message %q does not hold the problem %q", a.Error.Message, problems[0].Message)
	}
	return ""
}

// The whole run_config is checked against its own schema, which tools/list shows only
// in part.
func TestRunConfigIsCheckedInFull(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.serve(stateless, "--rate-limit=0")
	for name, bad := range map[string]args{
		"unknown key":      {"no_such_key": 1},
		"profile":          {"validation_profile": "strictest"},
		"slug":             {"product_slug": "../x"},
		"fix attempts":     {"max_fix_attempts": -1},
		"too many":         {"max_fix_attempts": 1000},
		"budget":           {"budgets": args{"max_runtime_s": 0}},
		"unknown budget":   {"budgets": args{"max_everything": 1}},
		"sections":         {"required_sections": []string{"docs", "secrets"}},
		"no sections":      {"required_sections": []string{}},
		"allowed_paths":    {"allowed_paths": []string{}},
		"ref is an option": {"github_ref": "--upload-pack=x"},
		"autopilot":        {"autopilot": args{"fix": "yes"}},
		"locale":           {"locale": "English"},
	} {
		bad["github_repo_url"] = "product"
		a := p.call("launch_start_run", args{"run_config": bad})
		if problem := notASchemaRefusal(a); problem != "" {
			t.Errorf("%s: %s", name, problem)
		}
	}
}

func TestUnknownToolsAndRunsAreToldWithWhatToDo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.serve(stateful, "--rate-limit=0")
	for _, name := range []string{"no_such_tool", "launch_start_run ", "LAUNCH_START_RUN", "../launch_cancel", "\x1b[2J\x1b]0;pwn\x07", strings.Repeat("x", 1000)} {
		r := p.refused(name, args{}, "UNKNOWN_TOOL")
		if r.Code != -32601 || strings.ContainsRune(r.Message, '\x1b') || len(r.Message) > 300 {
			t.Errorf("%q: %s", name, &r)
		}
	}
	for _, tool := range p.tools() {
		arguments := args{"run_id": "r_20260101T000000Z_aaaaaaaaaaaa"}
		if strings.HasSuffix(tool.Name, "get_artifact") {
			arguments["artifact_name"] = "pr.json"
		}
		if !strings.Contains(string(tool.Input), `"run_id"`) {
			continue
		}
		for _, id := range []string{"r_20260101T000000Z_aaaaaaaaaaaa", "-rf-12345", "________", "con-lpt1-aux"} {
			arguments["run_id"] = id
			p.refused(tool.Name, arguments, "RUN_NOT_FOUND")
		}
	}
}
