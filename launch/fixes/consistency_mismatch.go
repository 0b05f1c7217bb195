package fixes

import (
	"slices"
	"strconv"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/launch/gates"
	"github.com/gantry-run/gantry/launch/page"
)

// correct writes what the launch knows in the place of what is at odds with it:
// a name, the address of a link, the value of a key, or the words of a heading.
func correct(in *gates.Input, p *page.Page, issue dossier.Issue) ([]byte, error) {
	found, err := gates.Mismatches(in, p)
	if err != nil {
		return nil, fault.New(fault.Internal, "the facts cannot be read").Because(err)
	}
	now := *p
	for _, m := range slices.Backward(found) {
		if m.Issue.ID != issue.ID {
			continue
		}
		switch {
		case m.Key != "":
			after, err := page.SetFrontmatter(now.Source, m.Key, strconv.Quote(m.Want))
			if err != nil {
				return nil, unfixable(issue, "%s", fault.From(err).Message)
			}
			return after, nil
		case m.Link != nil:
			now.Source = now.Relink(*m.Link, m.Want)
		case m.End > m.Start:
			now.Source = now.ReplaceRange(m.Start, m.End, m.Want)
		default:
			return nil, unfixable(issue, "no heading of the page is near to %q", m.Want)
		}
	}
	return now.Source, nil
}
