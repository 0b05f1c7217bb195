package fixes

import (
	"slices"
	"strings"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/launch/gates"
	"github.com/gantry-run/gantry/launch/page"
)

// citeOrRemove cites the claim whose text the statement is, word for word, and
// removes a statement that no claim says.
func citeOrRemove(in *gates.Input, p *page.Page, issue dossier.Issue) ([]byte, error) {
	_, line := issue.At()
	for _, s := range p.Statements {
		if s.Line != line || len(s.ClaimIDs) > 0 || gates.UncitedIssue(p.Path, s).ID != issue.ID {
			continue
		}
		claims, err := gates.ClaimsOf(in)
		if err != nil {
			return nil, fault.New(fault.Internal, "the evidence cannot be read").Because(err)
		}
		for _, c := range claims {
			if plainText(c.Text) == plainText(s.Text) {
				return p.InsertAtLineEnd(line, " <!-- claim_id: "+c.ID+" -->"), nil
			}
		}
		return p.RemoveLine(line), nil
	}
	return nil, noOp(issue)
}

// plainText is what two ways to write one sentence have in common: its words,
// without list marks, table bars and a final full stop.
func plainText(s string) string {
	s = strings.Join(strings.Fields(strings.Trim(s, "|")), " ")
	s = strings.TrimPrefix(strings.TrimPrefix(s, "- "), "* ")
	return strings.TrimSuffix(s, ".")
}

// removeCiting removes the line whose claim cannot stand.
func removeCiting(_ *gates.Input, p *page.Page, issue dossier.Issue) ([]byte, error) {
	_, line := issue.At()
	for _, m := range p.Claims {
		if m.Line == line && strings.Contains(issue.Message, m.ID) {
			return p.RemoveLine(line), nil
		}
	}
	return nil, noOp(issue)
}

// removeMarker removes a marker that names no claim. If that leaves a statement
// uncited, that is the next issue.
func removeMarker(in *gates.Input, p *page.Page, issue dossier.Issue) ([]byte, error) {
	now := *p
	for _, m := range slices.Backward(p.Claims) {
		found, err := gates.InvalidMarker(in, p.Path, m)
		if err != nil {
			return nil, fault.New(fault.Internal, "the evidence cannot be read").Because(err)
		}
		if found.ID == issue.ID {
			now.Source = now.ReplaceRange(spaceBefore(p.Source, m.Start), m.End, "")
		}
	}
	return now.Source, nil
}

// spaceBefore returns where the spaces before the offset start, unless they
// start the line.
func spaceBefore(src []byte, at int) int {
	start := at
	for start > 0 && src[start-1] == ' ' {
		start--
	}
	if start == 0 || src[start-1] == '\n' {
		return at
	}
	return start
}
