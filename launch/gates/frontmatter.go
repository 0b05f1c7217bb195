package gates

import (
	"context"
	"time"

	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/launch/page"
)

// frontmatterGate holds the front matter of each changed page against the
// contract of its section. It is also the gate that reports pages which cannot
// be read at all, so that the others need not.
func frontmatterGate() Gate {
	return Gate{
		Name: "frontmatter", Title: "front matter is valid and has what its section's pages have",
		Codes: []string{
			FrontmatterInvalid, FrontmatterMissing, FrontmatterFieldMissing, FrontmatterTypeMismatch,
			ValidatorGateExecutionFailed,
		},
		Timeout: within(60*time.Second, 120*time.Second), Run: runFrontmatter,
	}
}

func runFrontmatter(ctx context.Context, in *Input) (Outcome, error) {
	contract, err := Contract(in)
	if err != nil {
		return Outcome{}, err
	}
	var out Outcome
	out.Checked, err = in.changedPages(ctx, func(p *page.Page) {
		check := func(p *page.Page) []FrontmatterProblem { return FrontmatterProblems(in, contract, p) }
		for _, f := range fresh(in, p, check, func(f FrontmatterProblem) dossier.Issue { return f.Issue }) {
			out.Issues = append(out.Issues, f.Issue)
		}
	}, func(name string, why error) {
		out.Issues = append(out.Issues, issue("frontmatter", ValidatorGateExecutionFailed, dossier.Blocker, name, 0,
			"Make it a plain UTF-8 Markdown file of ordinary size.", "the page cannot be read: %s", why.Error()))
	})
	return out, err
}

// FrontmatterProblem is one thing wrong with a page's front matter.
type FrontmatterProblem struct {
	Issue dossier.Issue
	Key   string // the missing or mistyped key, or ""
	Want  string // the type that the contract names for it, or ""
}

// Contract returns the front matter contract of the launch.
func Contract(in *Input) (dossier.FrontmatterContract, error) {
	var contract dossier.FrontmatterContract
	err := in.document(dossier.FrontmatterContractName, &contract)
	return contract, err
}

// SectionContract returns what the contract says of the page's section; the zero
// value for a page outside the sections.
func SectionContract(in *Input, contract dossier.FrontmatterContract, name string) dossier.SectionFrontmatter {
	section, _ := in.sectionOf(name)
	return contract.Sections[section]
}

// FrontmatterProblems returns what is wrong with the page's front matter.
func FrontmatterProblems(in *Input, contract dossier.FrontmatterContract, p *page.Page) []FrontmatterProblem {
	section := SectionContract(in, contract, p.Path)
	make := func(code, severity string, line int, fix, format string, args ...any) FrontmatterProblem {
		return FrontmatterProblem{Issue: issue("frontmatter", code, severity, p.Path, line, fix, format, args...)}
	}
	if p.Front.Err != nil {
		return []FrontmatterProblem{make(FrontmatterInvalid, dossier.Blocker, p.Front.ErrLine,
			"Correct the front matter at this line.", "%s", quote(p.Front.Err.Error()))}
	}
	if p.Front.Format == "" {
		if len(section.Required) == 0 {
			return nil
		}
		return []FrontmatterProblem{make(FrontmatterMissing, dossier.Blocker, 1,
			"Begin the page with a block between --- lines that has the section's required keys.", "the page has no front matter")}
	}
	var found []FrontmatterProblem
	for _, key := range section.Required {
		if f, ok := p.Front.Field(key); !ok || f.Type == page.Null {
			problem := make(FrontmatterFieldMissing, dossier.Error, max(f.Line, p.Front.Line),
				"Add the key; every sampled page of the section has it.", "the required key %s has no value", quote(key))
			problem.Key, problem.Want = key, section.Types[key]
			found = append(found, problem)
		}
	}
	for _, f := range p.Front.Fields {
		want := section.Types[f.Key]
		if want == "" || f.Type == page.Null || f.Is(want) {
			continue
		}
		problem := make(FrontmatterTypeMismatch, dossier.Error, f.Line,
			"Write a "+want+", as the section's other pages do.", "the key %s is a %s and should be a %s", quote(f.Key), f.Type, want)
		problem.Key, problem.Want = f.Key, want
		found = append(found, problem)
	}
	return found
}
