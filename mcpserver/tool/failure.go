package tool

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/validate"
)

// Failure is a fault in the style of the toolsets whose tools fail with a result: the
// envelope that is the text of a result with isError. Its codes are in lower case.
type Failure struct {
	Code      string `json:"code"`
	Message   string `json:"message"`
	Retryable bool   `json:"retryable"`
	Hint      string `json:"hint"`
	Details   any    `json:"details,omitempty"`
}

// FailureOf returns the envelope of a fault, from wherever it comes. Arguments that do not
// obey their schema are invalid_argument, or missing_required when all that is wrong is
// that some are missing, with a hint that names them; INVALID_INPUT is invalid_argument
// too. Every other code is its own in lower case.
func FailureOf(f *fault.Fault) Failure {
	out := Failure{strings.ToLower(string(f.Code)), f.Message, f.Retryable, f.Hint, f.Details}
	switch f.Code {
	case fault.InvalidInput:
		out.Code = invalidArgument
	case fault.SchemaValidationFailed:
		out.Code = invalidArgument
		if wrong, missing := fields(f.Details); len(missing) > 0 && len(wrong) == 0 {
			out.Code, out.Hint = strings.ToLower(string(fault.MissingRequired)), "supply "+strings.Join(missing, ", ")
		} else if all := append(wrong, missing...); len(all) > 0 {
			out.Hint = "correct " + strings.Join(all, ", ") + " and call again"
		}
	}
	return out
}

const invalidArgument = "invalid_argument"

// fields returns the names of the arguments that problems are about, those that are wrong
// and those that are missing, each once and in the order of the problems.
func fields(details any) (wrong, missing []string) {
	raw, err := json.Marshal(details)
	var problems []validate.Problem
	if err != nil || json.Unmarshal(raw, &problems) != nil {
		return nil, nil
	}
	add := func(to *[]string, at, name string) {
		name = strings.Trim(strings.ReplaceAll(at+"/"+name, "/", "."), ".")
		if name != "" && !slices.Contains(*to, name) {
			*to = append(*to, name)
		}
	}
	for _, p := range problems {
		switch p.Keyword {
		case "required", "dependentRequired":
			for _, name := range quoted(p.Message, "'") {
				add(&missing, p.Path, name)
			}
		case "additionalProperties":
			for _, name := range quoted(p.Message, `"`) {
				add(&wrong, p.Path, name)
			}
		default:
			add(&wrong, p.Path, "")
		}
	}
	return wrong, missing
}

// quoted returns what stands between marks.
func quoted(text, mark string) (out []string) {
	parts := strings.Split(text, mark)
	for i := 1; i < len(parts)-1; i += 2 {
		out = append(out, parts[i])
	}
	return out
}
