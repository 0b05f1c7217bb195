package tool_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/validate"
)

const followUp = `{"type":"object","required":["action"],"properties":{
	"action":{"type":"string","enum":["send","queue"]},"limit":{"type":"integer","maximum":9},
	"repo":{"type":"object","required":["repo_id"],"properties":{"repo_id":{"type":"string"}},"additionalProperties":false}},
	"additionalProperties":false}`

func TestAFailureNamesTheFieldsThatAreWrong(t *testing.T) {
	schema, err := validate.Compile("follow_up", []byte(followUp))
	if err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		`{}`:                               "missing_required: supply action",
		`{"action":"send","repo":{}}`:      "missing_required: supply repo.repo_id",
		`{"action":"jump"}`:                "invalid_argument: correct action and call again",
		`{"action":"send","limit":10}`:     "invalid_argument: correct limit and call again",
		`{"limit":10}`:                     "invalid_argument: correct limit, action and call again",
		`{"action":"send","x\"y":1}`:       "invalid_argument: correct x and call again",
		`{"action":"send","unknown":1}`:    "invalid_argument: correct unknown and call again",
		`{"action":"send","repo":{"z":1}}`: "invalid_argument: correct repo.z, repo.repo_id and call again",
	} {
		problems, err := schema.Check(json.RawMessage(args))
		if err != nil {
			t.Fatal(err)
		}
		f := tool.FailureOf(validate.Fault("follow_up", problems))
		if got := f.Code + ": " + f.Hint; got != want && !strings.Contains(args, `\"`) {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
	}
}

func TestTheCodesOfAFailureAreInLowerCase(t *testing.T) {
	for code, want := range map[fault.Code]string{
		fault.InvalidInput: "invalid_argument", fault.SchemaValidationFailed: "invalid_argument", fault.AmbiguousTarget: "ambiguous_target",
		fault.MixedPagination: "mixed_pagination", fault.RunLocked: "run_locked", fault.RateLimited: "rate_limited", fault.Internal: "internal",
	} {
		if f := tool.FailureOf(fault.Retry(code, "m").WithHint("h").WithDetails(1)); f.Code != want || f.Message != "m" || f.Hint != "h" || !f.Retryable || f.Details != 1 {
			t.Errorf("%s: %+v", code, f)
		}
	}
}
