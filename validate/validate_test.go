package validate_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/validate"
)

const person = `{"type":"object","required":["name","age"],"additionalProperties":false,"properties":{
	"name":{"type":"string","minLength":1,"maxLength":5,"pattern":"^[a-z]*$"},
	"age":{"type":"integer","minimum":0,"maximum":150},
	"born":{"type":"string","format":"date-time"},
	"tags":{"type":"array","maxItems":2,"items":{"enum":["x","y"]}},
	"mode":{"enum":["a","b"]}},
	"dependentRequired":{"mode":["tags"]}}`

func compile(t *testing.T, raw string) *validate.Schema {
	t.Helper()
	s, err := validate.Compile("test", []byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestProblemsNamePathAndKeyword(t *testing.T) {
	s := compile(t, person)
	for _, c := range []struct{ raw, path, keyword, message string }{
		{`{}`, "", "required", "missing properties: 'name', 'age'"},
		{`[]`, "", "type", "expected object, but got array"},
		{`{"name":"a","age":1,"x":2}`, "", "additionalProperties", `unknown member "x"`},
		{`{"name":"a","age":1,"k/\\'~":2}`, "", "additionalProperties", `unknown member "k/\\'~"`},
		{`{"name":"A","age":1}`, "/name", "pattern", "does not match pattern '^[a-z]*$'"},
		{`{"name":"a","age":151}`, "/age", "maximum", "must be <= 150 but found 151"},
		{`{"name":"a","age":1.5}`, "/age", "type", "expected integer, but got number"},
		{`{"name":"a","age":9007199254740993}`, "/age", "maximum", "must be <= 150 but found 9007199254740993"},
		{`{"name":"a","age":1e999999999}`, "/age", "type", "the number has too many digits or too large an exponent"},
		{`{"name":"a","age":1,"tags":["z"]}`, "/tags/0", "enum", `value must be one of "x", "y"`},
		{`{"name":"a","age":1,"born":"s3cret"}`, "/born", "format", "is not a valid date-time"},
		{`{"name":"a","age":1,"mode":"a"}`, "", "dependentRequired", "property 'tags' is required, if 'mode' property exists"},
	} {
		problems, err := s.Check(json.RawMessage(c.raw))
		want := []validate.Problem{{Path: c.path, Keyword: c.keyword, Message: c.message}}
		if err != nil || !slices.Equal(problems, want) {
			t.Errorf("%s\ngot  %v, %v\nwant %v", c.raw, problems, err, want)
		}
	}
}

func TestGoodValueHasNoProblems(t *testing.T) {
	problems, err := compile(t, person).Check(json.RawMessage(`{"name":"ab","age":150,"born":"2026-01-02T03:04:05Z","tags":["x"],"mode":"b"}`))
	if err != nil || problems != nil {
		t.Error(problems, err)
	}
}

func TestNumbersAreComparedExactly(t *testing.T) {
	s := compile(t, `{"type":"integer","maximum":9007199254740992}`)
	for raw, good := range map[string]bool{"9007199254740992": true, "9007199254740993": false, "1.0": true, "1e2": true, "0.1": false} {
		problems, err := s.Check(json.RawMessage(raw))
		if err != nil || (len(problems) == 0) != good {
			t.Errorf("%s: %v, %v", raw, problems, err)
		}
	}
}

// A number that would cost exact arithmetic without limit is refused wherever it is, also
// where the schema says nothing of it.
func TestHugeNumbersAreRefusedBeforeTheyAreComputed(t *testing.T) {
	s := compile(t, `{"type":"object"}`)
	for _, n := range []string{"1e1000000", "-1E+999999999", "1e-99999", strings.Repeat("1", 100_000), "0." + strings.Repeat("3", 5000), "1e99999999999999999999"} {
		problems, err := s.Check(json.RawMessage(`{"a/b":[` + n + `]}`))
		if err != nil || len(problems) != 1 || problems[0].Path != "/a~1b/0" {
			t.Errorf("%.20s: %v, %v", n, problems, err)
		}
	}
}

func TestProblemsAreSortedAndCappedAndTheSameEveryTime(t *testing.T) {
	s := compile(t, person)
	var members []string
	for i := range 50 {
		members = append(members, fmt.Sprintf(`"m%02d":%d`, i, i))
	}
	raw := json.RawMessage(`{"age":-1,"tags":["p","q","r"],"name":"TOOLONG",` + strings.Join(members, ",") + `}`)
	first, err := s.Check(raw)
	if err != nil || len(first) != validate.MaxProblems {
		t.Fatal(len(first), err)
	}
	byPath := func(a, b validate.Problem) int {
		return strings.Compare(a.Path+"\x00"+a.Keyword+"\x00"+a.Message, b.Path+"\x00"+b.Keyword+"\x00"+b.Message)
	}
	if !slices.IsSortedFunc(first, byPath) {
		t.Errorf("not sorted: %v", first)
	}
	for range 20 {
		if again, _ := s.Check(raw); !slices.Equal(first, again) {
			t.Fatalf("first %v\nagain %v", first, again)
		}
	}
}

func TestProblemsRepeatLittleAndNothingUnprintable(t *testing.T) {
	s := compile(t, person)
	long := strings.Repeat("ü", 10_000)
	raw, _ := json.Marshal(map[string]any{"name": "a", "age": 1, long: 1, "\x1b[31m\u202e'quoted\\": 2, "born": "token=" + long})
	problems, err := s.Check(raw)
	if err != nil || len(problems) != 3 {
		t.Fatal(problems, err)
	}
	for _, p := range problems {
		if utf8.RuneCountInString(p.Message) > 250 || strings.ContainsAny(p.Message, "\x1b\u202e") || strings.Contains(p.Message, "token=") {
			t.Errorf("%q", p.Message)
		}
	}
}

func TestMessageShowsTheFirstThreeProblems(t *testing.T) {
	var problems []validate.Problem
	for _, at := range []string{"", "/b", "/c", "/d", "/e"} {
		problems = append(problems, validate.Problem{Path: at, Keyword: "type", Message: "wrong"})
	}
	const want = "invalid arguments for launch_resume: wrong; /b: wrong; /c: wrong; and 2 more"
	if got := validate.Message("launch_resume", problems); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	f := validate.Fault("launch_resume", problems)
	if f.Code != fault.SchemaValidationFailed || f.Message != want || f.Retryable {
		t.Errorf("%+v", f)
	}
	details, err := json.Marshal(f.Details)
	if err != nil || !strings.HasPrefix(string(details), `[{"path":"","keyword":"type","message":"wrong"}`) {
		t.Errorf("%s, %v", details, err)
	}
	if validate.Fault("x", nil) != nil {
		t.Error("a fault without problems")
	}
}

func TestSchemaThatLeadsOutOrIsNoneIsRefused(t *testing.T) {
	for _, raw := range []string{
		`{"$ref":"https://example.com/x.json"}`, `{"$ref":"file:///etc/passwd"}`, `{"$ref":"other.json"}`,
		`{"type":"strin"}`, `{"pattern":"("}`, `{`, ``,
	} {
		if _, err := validate.Compile("test", []byte(raw)); err == nil {
			t.Errorf("%s compiles", raw)
		}
	}
}

func TestRunIDs(t *testing.T) {
	for id, good := range map[string]bool{
		"r_12345678": true, "-rf-12345": true, "________": true, "con-lpt1-aux": true, strings.Repeat("a", 64): true,
		"": false, "aaaaaaa": false, strings.Repeat("a", 65): false, "../../etc/passwd": false, "r_12345678\n": false, "ｒ_12345678": false, "r_12345678\x00": false,
	} {
		holds(t, "RunID", id, good, validate.RunID)
	}
}

func TestArtifactNames(t *testing.T) {
	for name, good := range map[string]bool{
		"page_plan.json": true, "pr.json": true, "fix_i0123456789ab.md": true, ".env": true, strings.Repeat("a", 128): true,
		"": false, "..": false, ".": false, "a..b": false, "../run.json": false, "reports/x.md": false, "/etc/passwd": false, `C:\x`: false,
		"a b": false, "ä.json": false, "a\x00": false, "a.": false, strings.Repeat("a", 129): false,
	} {
		holds(t, "ArtifactName", name, good, validate.ArtifactName)
	}
}

func TestKeys(t *testing.T) {
	for key, good := range map[string]bool{
		"a": true, "K.1_2:3-4": true, strings.Repeat("k", 128): true,
		"": false, strings.Repeat("k", 129): false, "a b": false, "a/b": false, "a\n": false, "ключ": false,
	} {
		holds(t, "Key", key, good, validate.Key)
	}
}

func TestRelPaths(t *testing.T) {
	for p, good := range map[string]bool{
		"a": true, "a/b.md": true, ".": true, ".github/x": true, "ä/b c.md": true, "a..b/c": true, strings.Repeat("a", 1024): true,
		"": false, "/etc": false, "..": false, "../a": false, "a/../b": false, "a//b": false, "a/": false, "./a": false, `a\b`: false, "C:/x": false, "c:x": false,
		"a\x00b": false, "a\nb": false, "a\xff": false, "a\u202eb": false, strings.Repeat("a", 1025): false,
	} {
		holds(t, "RelPath", p, good, validate.RelPath)
	}
}

func holds(t *testing.T, rule, value string, good bool, check func(string) error) {
	t.Helper()
	err := check(value)
	if (err == nil) != good || (err != nil && !fault.Is(err, fault.InvalidInput)) {
		t.Errorf("%s(%.40q) = %v", rule, value, err)
	}
}

func TestDecodeRefusesWhatTheTypeDoesNotHold(t *testing.T) {
	type args struct {
		Limit int `json:"limit"`
	}
	var a args
	if err := validate.Decode(json.RawMessage(`{"limit":50}`), &a); err != nil || a.Limit != 50 {
		t.Error(a, err)
	}
	for _, raw := range []string{`{"limit":50.0}`, `{"limit":1e2}`, `{"limit":"5"}`, `{"other":1}`, `{`} {
		if err := validate.Decode(json.RawMessage(raw), new(args)); !fault.Is(err, fault.SchemaValidationFailed) {
			t.Errorf("%s: %v", raw, err)
		}
	}
	f := fault.From(validate.Decode(json.RawMessage(`{"limit":50.0}`), &a))
	if want := "/limit: expected int, got number 50.0"; f.Message != want {
		t.Errorf("got %q, want %q", f.Message, want)
	}
}

func TestOfAlternativesTheOneThatWasMeantIsReported(t *testing.T) {
	s, err := validate.Compile("modes", []byte(`{"type":"object","required":["action"],"properties":{"action":{"enum":["send","cancel"]},"prompt":{"type":"string"}},
		"dependentSchemas":{"action":{"oneOf":[{"properties":{"action":{"const":"send"}},"required":["prompt"]},
			{"properties":{"action":{"const":"cancel"},"prompt":{"not":{}}}}]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		`{"action":"send","prompt":"x"}`:   "[]",
		`{"action":"cancel"}`:              "[]",
		`{"action":"send"}`:                "[{ required missing properties: 'prompt'}]",
		`{"action":"cancel","prompt":"x"}`: "[{/prompt not is not allowed here}]",
		`{"action":"x"}`:                   `[{ oneOf it is none of the alternatives} {/action enum value must be one of "send", "cancel"}]`,
		`{}`:                               "[{ required missing properties: 'action'}]",
	} {
		got, err := s.Check(json.RawMessage(in))
		if fmt.Sprint(got) != want || err != nil {
			t.Errorf("%s: %v, want %s (%v)", in, got, want, err)
		}
	}
}
