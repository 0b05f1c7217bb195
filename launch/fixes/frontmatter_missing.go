package fixes

import (
	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/launch/gates"
	"github.com/gantry-run/gantry/launch/page"
)

// addFrontmatter gives the page a title and every required key whose value is
// known. Those that are not become issues of their own.
func addFrontmatter(in *gates.Input, p *page.Page, issue dossier.Issue) ([]byte, error) {
	if p.Front.Format != "" {
		return nil, noOp(issue)
	}
	contract, err := gates.Contract(in)
	if err != nil {
		return nil, fault.New(fault.Internal, "the front matter contract cannot be read").Because(err)
	}
	section := gates.SectionContract(in, contract, p.Path)
	after, err := page.SetFrontmatter(p.Source, "title", knownValue(in, p, "title", page.String))
	if err != nil {
		return nil, unfixable(issue, "%s", fault.From(err).Message)
	}
	for _, key := range section.Required {
		value := knownValue(in, p, key, section.Types[key])
		if value == "" || key == "title" {
			continue
		}
		if after, err = page.SetFrontmatter(after, key, value); err != nil {
			return nil, unfixable(issue, "%s", fault.From(err).Message)
		}
	}
	return after, nil
}
