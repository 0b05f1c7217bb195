package specs

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// keywords are those of draft 2020-12 that our schemas use. Any other one is
// refused: a misspelt keyword would be silently without effect.
var keywords = []string{
	"type", "description", "properties", "required", "additionalProperties", "propertyNames", "maxProperties",
	"items", "minItems", "maxItems", "uniqueItems", "enum", "const", "default", "pattern", "format",
	"minLength", "maxLength", "minimum", "maximum", "allOf", "if", "then", "dependentSchemas",
}

// open are the objects that are not ours to close: run_config is advertised in
// short and checked in full by its own schema, a record's context and numbers are free.
var open = []string{
	"launch_start_run input/run_config",
	"get_telemetry output/records[]/context_json",
	"get_telemetry output/records[]/metrics_json",
}

// linter walks one schema and collects what breaks the rules of architecture.md §4.
type linter struct {
	broken []string
	input  bool // arguments: integers need bounds too
}

func (l *linter) say(at, format string, args ...any) {
	l.broken = append(l.broken, at+": "+fmt.Sprintf(format, args...))
}

// lint checks a schema. The name is where messages start; root says that it is advertised.
func lint(name string, raw []byte, advertised, input bool) []string {
	l := &linter{input: input}
	var root map[string]any
	if err := json.Unmarshal(raw, &root); err != nil {
		return []string{name + ": " + err.Error()}
	}
	if root["type"] != "object" {
		l.say(name, "the root is not type object")
	}
	if advertised {
		for _, k := range []string{"oneOf", "anyOf", "allOf", "if", "not"} {
			if _, ok := root[k]; ok {
				l.say(name, "%s at the root: model APIs refuse it", k)
			}
		}
	}
	l.schema(name, root)
	return l.broken
}

func (l *linter) schema(at string, s map[string]any) {
	for k := range s {
		if !slices.Contains(keywords, k) {
			l.say(at, "unknown keyword %q", k)
		}
	}
	l.object(at, s)
	l.bounds(at, s)
	if props, ok := s["properties"].(map[string]any); ok {
		for name, p := range props {
			l.property(at+"/"+name, p)
		}
	}
	l.nested(at+"[]", s["items"])
	l.nested(at+".*", s["additionalProperties"])
	l.nested(at+" names", s["propertyNames"])
	l.modes(at, s)
	conditions, _ := s["allOf"].([]any)
	for _, c := range conditions {
		if c, ok := c.(map[string]any); ok {
			for k := range c {
				if k != "if" && k != "then" {
					l.say(at, "a condition holds %q", k)
				}
			}
		}
	}
}

// modes holds the rules of what depends on an argument: alternatives, each of which
// says its value and only requires or refuses what the schema has.
func (l *linter) modes(at string, s map[string]any) {
	dependent, _ := s["dependentSchemas"].(map[string]any)
	props, _ := s["properties"].(map[string]any)
	for on, rule := range dependent {
		at := at + " by " + on
		r, _ := rule.(map[string]any)
		modes, _ := r["oneOf"].([]any)
		if len(r) != 1 || len(modes) < 2 || props[on] == nil {
			l.say(at, "is no list of alternatives of a property")
		}
		for _, m := range modes {
			m, _ := m.(map[string]any)
			l.mode(at, on, m, props)
		}
	}
}

func (l *linter) mode(at, on string, m, props map[string]any) {
	said, _ := m["properties"].(map[string]any)
	value, _ := said[on].(map[string]any)
	if value["const"] == nil || len(value) != 1 {
		l.say(at, "an alternative does not say its value")
	}
	for name, p := range said {
		if props[name] == nil || name != on && !nothing(p) {
			l.say(at, "an alternative says more of %q than that it is refused", name)
		}
	}
	required, _ := m["required"].([]any)
	for _, r := range required {
		if name, _ := r.(string); props[name] == nil {
			l.say(at, "an alternative requires %q, which the schema lacks", r)
		}
	}
	for k := range m {
		if k != "properties" && k != "required" {
			l.say(at, "an alternative holds %q", k)
		}
	}
}

func (l *linter) nested(at string, s any) {
	if s, ok := s.(map[string]any); ok {
		if strings.HasSuffix(at, " names") {
			for k := range s {
				if !slices.Contains(keywords, k) {
					l.say(at, "unknown keyword %q", k)
				}
			}
			return
		}
		l.schema(at, s)
	}
}

func (l *linter) property(at string, p any) {
	s, ok := p.(map[string]any)
	if !ok {
		l.say(at, "is no schema")
		return
	}
	if d, _ := s["description"].(string); len(strings.TrimSpace(d)) < 2 {
		l.say(at, "has no description")
	}
	l.schema(at, s)
}

// object holds the rules of objects: closed, or a map with a bound; each
// required member exists.
func (l *linter) object(at string, s map[string]any) {
	props, hasProps := s["properties"].(map[string]any)
	if !is(s, "object") && !hasProps {
		return
	}
	_, isMap := s["additionalProperties"].(map[string]any)
	switch {
	case isMap && s["maxProperties"] == nil:
		l.say(at, "a map without maxProperties")
	case !isMap && s["additionalProperties"] != false && !slices.Contains(open, at):
		l.say(at, "additionalProperties is not false")
	}
	required, _ := s["required"].([]any)
	for _, r := range required {
		name, _ := r.(string)
		if _, ok := props[name]; !ok && !isMap {
			l.say(at, "requires %q, which it lacks", name)
		}
	}
}

// bounded is a pattern that limits the length: anchored, and without * and +
// outside of a class.
func bounded(pattern string) bool {
	bare := regexp.MustCompile(`\\.|\[[^\]]*\]`).ReplaceAllString(pattern, "x")
	return strings.HasPrefix(pattern, "^") && strings.HasSuffix(pattern, "$") && !strings.ContainsAny(bare, "*+.") && !strings.Contains(bare, ",}")
}

func (l *linter) bounds(at string, s map[string]any) {
	pattern, _ := s["pattern"].(string)
	if is(s, "string") && s["maxLength"] == nil && s["enum"] == nil && s["const"] == nil && !bounded(pattern) && !is(s, "object") {
		l.say(at, "a string without a bound")
	}
	if is(s, "array") && !is(s, "object") && (s["maxItems"] == nil || s["items"] == nil) {
		l.say(at, "an array without maxItems or items")
	}
	if l.input && is(s, "integer") && (s["minimum"] == nil || s["maximum"] == nil) {
		l.say(at, "an integer without minimum and maximum")
	}
	if pattern != "" {
		if _, err := regexp.Compile(pattern); err != nil {
			l.say(at, "%v", err)
		}
	}
}

// nothing reports whether a schema accepts no value. It is no bare false: clients with
// types for schemas know objects only.
func nothing(schema any) bool {
	s, _ := schema.(map[string]any)
	not, _ := s["not"].(map[string]any)
	return len(s) == 1 && not != nil && len(not) == 0
}

func is(s map[string]any, kind string) bool {
	switch t := s["type"].(type) {
	case string:
		return t == kind
	case []any:
		return slices.Contains(t, any(kind))
	}
	return false
}

func TestSchemasOfToolsKeepTheRules(t *testing.T) {
	for _, toolset := range Toolsets() {
		tools, err := Tools(toolset)
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range tools {
			if tool.SameAs != "" {
				continue
			}
			for _, broken := range append(
				lint(tool.Name+" input", tool.Input, true, true),
				lint(tool.Name+" output", tool.Output, true, false)...) {
				t.Error(broken)
			}
		}
	}
}

func TestSchemasOfArtifactsAndEventsKeepTheRules(t *testing.T) {
	for _, dir := range []string{"artifacts", "events"} {
		entries, err := fs.ReadDir(Files(), dir)
		if err != nil || len(entries) == 0 {
			t.Fatalf("%s: %v", dir, err)
		}
		for _, e := range entries {
			raw, err := fs.ReadFile(Files(), dir+"/"+e.Name())
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix(e.Name(), ".schema.json") {
				t.Errorf("%s/%s is no schema", dir, e.Name())
			}
			for _, broken := range lint(dir+"/"+e.Name(), raw, false, false) {
				t.Error(broken)
			}
		}
	}
}

// Each rule is seen to fail: one good schema, and one change a case.
func TestEachRuleRefusesWhatBreaksIt(t *testing.T) {
	const good = `{"type":"object","required":["a"],"properties":{
		"a":{"type":"string","maxLength":9,"description":"Text"},
		"n":{"type":"integer","minimum":1,"maximum":9,"description":"Number"},
		"l":{"type":"array","maxItems":3,"items":{"type":"string","pattern":"^[a-z]{1,8}$"},"description":"List"},
		"m":{"type":"object","maxProperties":3,"additionalProperties":{"enum":["x"]},"description":"Map"}},
		"dependentSchemas":{"a":{"oneOf":[{"properties":{"a":{"const":"x"}},"required":["n"]},{"properties":{"a":{"const":"y"},"n":{"not":{}}}}]}},
		"additionalProperties":false}`
	if broken := lint("good", []byte(good), true, true); len(broken) > 0 {
		t.Fatal(broken)
	}
	for _, c := range []struct{ from, to, says string }{
		{`"required":["a"]`, `"requierd":["a"]`, "unknown keyword"},
		{`"required":["a"]`, `"required":["z"]`, "which it lacks"},
		{`"required":["a"]`, `"required":["a"],"$schema":"x"`, "unknown keyword"},
		{`"required":["a"]`, `"required":["a"],"$id":"x"`, "unknown keyword"},
		{`"required":["a"]`, `"required":["a"],"allOf":[]`, "at the root"},
		{`"required":["a"]`, `"required":["a"],"oneOf":[]`, "at the root"},
		{`"required":["a"]`, `"required":["a"],"not":{}`, "at the root"},
		{`"maxLength":9,`, `"maxLenght":9,`, "unknown keyword"},
		{`"maxLength":9,`, ``, "a string without a bound"},
		{`"^[a-z]{1,8}$"`, `"^[a-z]+$"`, "a string without a bound"},
		{`"^[a-z]{1,8}$"`, `"[a-z]{1,8}"`, "a string without a bound"},
		{`,"description":"Text"`, ``, "has no description"},
		{`"maximum":9,`, ``, "an integer without"},
		{`"maxItems":3,`, ``, "an array without"},
		{`"items":{"type":"string","pattern":"^[a-z]{1,8}$"}`, `"items":{"$ref":"other.json"}`, "unknown keyword"},
		{`"maxProperties":3,`, ``, "a map without"},
		{`"additionalProperties":false}`, `"additionalProperties":true}`, "is not false"},
		{`{"type":"object","required"`, `{"type":"array","required"`, "not type object"},
		{`"required":["n"]`, `"required":["z"]`, "which the schema lacks"},
		{`"required":["n"]`, `"requierd":["n"]`, "an alternative holds"},
		{`"n":{"not":{}}`, `"n":{"maximum":3}`, "says more of"},
		{`"n":{"not":{}}`, `"n":false`, "says more of"},
		{`"n":{"not":{}}`, `"z":{"not":{}}`, "says more of"},
		{`{"const":"y"}`, `{"type":"string"}`, "does not say its value"},
		{`{"a":{"oneOf"`, `{"a":{"anyOf"`, "no list of alternatives"},
		{`{"a":{"oneOf"`, `{"z":{"oneOf"`, "no list of alternatives"},
	} {
		bad := strings.Replace(good, c.from, c.to, 1)
		if bad == good {
			t.Fatalf("%s is not in the good schema", c.from)
		}
		if broken := strings.Join(lint("bad", []byte(bad), true, true), "\n"); !strings.Contains(broken, c.says) {
			t.Errorf("%s → %s: got %q, want %q", c.from, c.to, broken, c.says)
		}
	}
}
