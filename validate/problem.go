package validate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/gantry-run/gantry/internal/fault"
)

// MaxProblems is how many problems are reported of one value.
const MaxProblems = 20

// maxText bounds, in runes, what a problem repeats of the value.
const maxText = 200

// Problem is one place where a value does not obey its schema.
type Problem struct {
	Path    string `json:"path"`    // JSON pointer into the value; "" is the value itself
	Keyword string `json:"keyword"` // of the schema: required, type, pattern, …
	Message string `json:"message"`
}

// Message returns a sentence that names the tool and its first three problems.
func Message(tool string, problems []Problem) string {
	var b strings.Builder
	fmt.Fprintf(&b, "invalid arguments for %s", clean(tool))
	separator := ": "
	for i, p := range problems {
		if i == 3 {
			fmt.Fprintf(&b, "; and %d more", len(problems)-3)
			break
		}
		b.WriteString(separator)
		separator = "; "
		if p.Path != "" {
			b.WriteString(p.Path + ": ")
		}
		b.WriteString(p.Message)
	}
	return b.String()
}

// Fault returns the refusal of a call whose arguments have problems:
// SCHEMA_VALIDATION_FAILED with them as details. It returns nil for none.
func Fault(tool string, problems []Problem) *fault.Fault {
	if len(problems) == 0 {
		return nil
	}
	return fault.New(fault.SchemaValidationFailed, "%s", Message(tool, problems)).WithDetails(problems)
}

// problems flattens an error of the library: its leaves are the problems.
func (s *Schema) problems(err *jsonschema.ValidationError, value any) []Problem {
	at, key := plain(err.InstanceLocation), keyword(err.KeywordLocation)
	if len(err.Causes) > 0 {
		var all []Problem
		for _, cause := range err.Causes {
			if found := s.problems(cause, value); key != "oneOf" || !slices.ContainsFunc(found, otherMode) {
				all = append(all, found...)
			}
		}
		if all == nil {
			all = []Problem{{at, key, "it is none of the alternatives"}}
		}
		return all
	}
	if key == "not" {
		return []Problem{{at, "not", "is not allowed here"}}
	}
	if key != "additionalProperties" {
		return []Problem{{at, key, sentence(key, err.Message)}}
	}
	var all []Problem
	for _, name := range s.unknown(err, value) {
		all = append(all, Problem{at, key, fmt.Sprintf("unknown member %q", clean(name))})
	}
	if all == nil {
		all = []Problem{{at, key, "a member is not allowed"}}
	}
	return all
}

// otherMode reports whether a problem says that an alternative is not the one that was
// meant: each says by a const for what it is.
func otherMode(p Problem) bool { return p.Keyword == "const" }

// unknown returns the members that the schema at the error does not allow. The
// library's message names them too, but in no order, and quoted in a way that a
// hostile name breaks.
func (s *Schema) unknown(err *jsonschema.ValidationError, value any) []string {
	_, location, _ := strings.Cut(err.AbsoluteKeywordLocation, "#")
	schema, _ := resolve(s.source, strings.TrimSuffix(plain(location), "/additionalProperties")).(map[string]any)
	object, _ := resolve(value, plain(err.InstanceLocation)).(map[string]any)
	if _, patterns := schema["patternProperties"]; patterns {
		return nil
	}
	allowed, _ := schema["properties"].(map[string]any)
	var names []string
	for name := range object {
		if _, ok := allowed[name]; !ok {
			names = append(names, name)
		}
	}
	return names
}

// keyword returns the schema keyword that a location ends in. Those of
// dependencies end in a member's name and an index.
func keyword(location string) string {
	for _, k := range []string{"dependentRequired", "dependencies"} {
		if strings.Contains(location, "/"+k+"/") {
			return k
		}
	}
	return location[strings.LastIndex(location, "/")+1:]
}

// sentence makes the library's message fit to show: of a value that misses its format
// it repeats nothing.
func sentence(key, message string) string {
	if key == "format" {
		if i := strings.LastIndex(message, " is not valid "); i >= 0 {
			return "is not a valid " + strings.Trim(message[i+len(" is not valid "):], "'")
		}
	}
	return message
}

// arrange cleans, sorts and caps problems.
func arrange(problems []Problem) []Problem {
	for i := range problems {
		problems[i].Path, problems[i].Message = clean(problems[i].Path), clean(problems[i].Message)
	}
	slices.SortFunc(problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Keyword, b.Keyword), cmp.Compare(a.Message, b.Message))
	})
	problems = slices.Compact(problems)
	return problems[:min(len(problems), MaxProblems)]
}

// clean shortens a text and replaces what does not print.
func clean(text string) string {
	runes := 0
	for i := range text {
		if runes++; runes > maxText {
			text = text[:i] + "…"
			break
		}
	}
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, text)
}
