package fixes

import (
	"strconv"
	"strings"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/launch/gates"
	"github.com/gantry-run/gantry/launch/page"
)

// retype writes a value in the type that the section's pages have, if it means
// something in it; else what the launch knows.
func retype(in *gates.Input, p *page.Page, issue dossier.Issue) ([]byte, error) {
	contract, err := gates.Contract(in)
	if err != nil {
		return nil, fault.New(fault.Internal, "the front matter contract cannot be read").Because(err)
	}
	for _, problem := range gates.FrontmatterProblems(in, contract, p) {
		if problem.Issue.ID != issue.ID {
			continue
		}
		field, _ := p.Front.Field(problem.Key)
		value := firstOf(converted(field.Text, problem.Want), knownValue(in, p, problem.Key, problem.Want))
		if value == "" {
			return nil, unfixable(issue, "%q cannot be written as a %s", field.Text, problem.Want)
		}
		after, err := page.SetFrontmatter(p.Source, problem.Key, value)
		if err != nil {
			return nil, unfixable(issue, "%s", fault.From(err).Message)
		}
		return after, nil
	}
	return nil, noOp(issue)
}

// converted returns a scalar as YAML of the type, or "".
func converted(text, want string) string {
	switch text = strings.TrimSpace(text); want {
	case page.String:
		if text != "" {
			return strconv.Quote(text)
		}
	case page.Number:
		if n, err := strconv.Atoi(text); err == nil {
			return strconv.Itoa(n)
		}
	case page.Boolean:
		if lower := strings.ToLower(text); lower == "true" || lower == "false" {
			return lower
		}
	}
	return ""
}
