package fixes

import (
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
