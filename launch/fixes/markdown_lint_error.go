package fixes

import (
	"slices"

	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/launch/gates"
	"github.com/gantry-run/gantry/launch/page"
)

// tidy writes what the rule wants in the places that break it, from the last of
// them to the first.
func tidy(_ *gates.Input, p *page.Page, issue dossier.Issue) ([]byte, error) {
	now := *p
	for _, l := range slices.Backward(gates.LintProblems(p)) {
		if l.Issue.ID != issue.ID {
			continue
		}
		for _, e := range slices.Backward(l.Edits) {
			now.Source = now.ReplaceRange(e.Start, e.End, e.Text)
		}
	}
	return now.Source, nil
}
