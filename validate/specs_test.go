package validate_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/specs"
	"github.com/gantry-run/gantry/validate"
)

func allTools(t *testing.T) []specs.Tool {
	t.Helper()
	var all []specs.Tool
	for _, toolset := range specs.Toolsets() {
		tools, err := specs.Tools(toolset)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, tools...)
	}
	return all
}

func TestEverySchemaOfSpecsCompiles(t *testing.T) {
	var lazy validate.Lazy
	for _, tool := range allTools(t) {
		if _, err := lazy.Input(tool); err != nil {
			t.Error(err)
		}
		if _, err := lazy.Output(tool); err != nil {
			t.Error(err)
		}
	}
	for _, a := range specs.Artifacts() {
		if s, err := lazy.Artifact(a.Name); err != nil || (s == nil) != (a.Schema == "") {
			t.Errorf("%s: %v, %v", a.Name, s, err)
		}
	}
	events, err := fs.Glob(specs.Files(), "events/*")
	if err != nil || len(events) != len(specs.EventTypes()) {
		t.Fatalf("%d files, %d types, %v", len(events), len(specs.EventTypes()), err)
	}
	for _, e := range specs.EventTypes() {
		if s, err := lazy.Event(e); err != nil || s == nil {
			t.Errorf("%s: %v", e, err)
		}
	}
}

func TestASchemaIsCompiledOnce(t *testing.T) {
	var lazy validate.Lazy
	tool, _ := specs.ToolByName("launch", "launch_get_status")
	a, errA := lazy.Input(tool)
	b, errB := lazy.Input(tool)
	if a != b || errA != nil || errB != nil {
		t.Error("compiled twice")
	}
	out, err := lazy.Output(tool)
	if err != nil || out == a {
		t.Error("input and output are mixed up")
	}
}

func TestUnknownArtifactIsNotFoundAndAnUnknownEventHasNoSchema(t *testing.T) {
	var lazy validate.Lazy
	if _, err := lazy.Artifact("nope.json"); !fault.Is(err, fault.ArtifactNotFound) {
		t.Error(err)
	}
	if s, err := lazy.Event("NOPE"); s != nil || err != nil {
		t.Error(s, err)
	}
}

// H041: arguments that are no object are refused by every tool, and so is a
// member in another case (H043) or one that no tool has.
func TestEveryToolRefusesArgumentsThatAreNoObjectOfItsMembers(t *testing.T) {
	var lazy validate.Lazy
	for _, tool := range allTools(t) {
		schema, err := lazy.Input(tool)
		if err != nil {
			t.Fatal(err)
		}
		for _, raw := range []string{`null`, `[]`, `"x"`, `42`, `true`, `{"Run_Id":"r_12345678"}`, `{"nope":1}`, `{"__proto__":{}}`} {
			problems, err := schema.Check(json.RawMessage(raw))
			if err != nil || len(problems) == 0 {
				t.Errorf("%s %s: %v, %v", tool.Name, raw, problems, err)
			}
		}
		for _, raw := range []string{``, ` `, `{`, `{}{}`, `{} x`, `nul`} {
			if _, err := schema.Check(json.RawMessage(raw)); !fault.Is(err, fault.SchemaValidationFailed) {
				t.Errorf("%s %q: %v", tool.Name, raw, err)
			}
		}
	}
}

// H045.
func TestEveryListRefusesALimitThatIsNoWholeNumberFrom1To200(t *testing.T) {
	var lazy validate.Lazy
	lists := 0
	for _, tool := range allTools(t) {
		if !strings.Contains(string(tool.Input), `"limit":`) || tool.Toolset != "launch" {
			continue
		}
		lists++
		schema, err := lazy.Input(tool)
		if err != nil {
			t.Fatal(err)
		}
		for _, limit := range []string{"-1", "0", "201", "2147483648", "9007199254740993", "1.5", `"50"`, "true", "null", "[]", "1e400", "1e999999999", "1e-999999999",
			strings.Repeat("9", 5000)} {
			refused(t, schema, fmt.Sprintf(`{"run_id":"r_12345678","limit":%s}`, limit), "/limit")
		}
		for _, cursor := range []string{"7", "null", `"` + strings.Repeat("x", 10_240) + `"`} {
			refused(t, schema, fmt.Sprintf(`{"run_id":"r_12345678","cursor":%s}`, cursor), "/cursor")
		}
	}
	if lists < 5 {
		t.Errorf("only %d lists", lists)
	}
}

func TestLimitsWithinTheBoundsAreAccepted(t *testing.T) {
	var lazy validate.Lazy
	tool, _ := specs.ToolByName("launch", "launch_list_runs")
	schema, err := lazy.Input(tool)
	if err != nil {
		t.Fatal(err)
	}
	for _, raw := range []string{`{}`, `{"limit":1}`, `{"limit":200,"cursor":"abc"}`, `{"filter":{"state":"DONE","product_slug":"x"}}`} {
		if problems, err := schema.Check(json.RawMessage(raw)); err != nil || len(problems) > 0 {
			t.Errorf("%s: %v, %v", raw, problems, err)
		}
	}
}

// H061 to H087, and idempotency keys: the schema of the argument and the rule in this
// package agree on every value.
func TestArgumentsAndRulesAgree(t *testing.T) {
	var lazy validate.Lazy
	values := []string{
		"r_12345678", "../../etc/passwd", "r_1234567/../r_other", "r_12345678\x00.json", "ｒ_12345678", "-rf-12345", "________", "aaaaaaa",
		"con-lpt1-aux", "${jndi:ldap://x}", "$(id)-aaaaaa", "r_12345678\n", "", strings.Repeat("a", 64), strings.Repeat("a", 65), strings.Repeat("a", 129),
		"../run.json", "/etc/passwd", `C:\Windows\win.ini`, `\\host\share\x`, "file:///etc/passwd", ".git/config", ".env", ".ssh/id_rsa",
		"page_plan.json", "reports/x.md", "a..b", "..", ".", "a.", "a:b", "k.1_2:3-4", strings.Repeat("k", 128),
	}
	for _, c := range []struct {
		tool, member, rest string
		rule               func(string) error
	}{
		{"launch_get_status", "run_id", ``, validate.RunID},
		{"launch_get_artifact", "artifact_name", `,"run_id":"r_12345678"`, validate.ArtifactName},
		{"launch_cancel", "idempotency_key", `,"run_id":"r_12345678"`, validate.Key},
		{"launch_cancel", "request_id", `,"run_id":"r_12345678"`, validate.Key},
	} {
		tool, ok := specs.ToolByName("launch", c.tool)
		if !ok {
			t.Fatal(c.tool)
		}
		schema, err := lazy.Input(tool)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range values {
			quoted, _ := json.Marshal(v)
			problems, err := schema.Check(json.RawMessage(fmt.Sprintf(`{"%s":%s%s}`, c.member, quoted, c.rest)))
			if err != nil {
				t.Fatal(err)
			}
			if byRule := c.rule(v); (byRule == nil) != (len(problems) == 0) {
				t.Errorf("%s %q: rule says %v, schema %v", c.member, v, byRule, problems)
			}
		}
	}
}

func refused(t *testing.T, schema *validate.Schema, raw, at string) {
	t.Helper()
	problems, err := schema.Check(json.RawMessage(raw))
	if err != nil {
		t.Errorf("%.80s: %v", raw, err)
		return
	}
	for _, p := range problems {
		if p.Path == at {
			return
		}
	}
	t.Errorf("%.80s: no problem at %s: %v", raw, at, problems)
}
