package fixes

import (
	"bytes"
	"cmp"
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
		now.Source = edited(&now, l.Edits)
	}
	return now.Source, nil
}

func edited(p *page.Page, edits []gates.LintEdit) []byte {
	now := *p
	for _, e := range slices.Backward(edits) {
		now.Source = now.ReplaceRange(e.Start, e.End, e.Text)
	}
	return now.Source
}

// withoutBlankEnd cuts blank lines off the end of a page that had none there.
func withoutBlankEnd(before, after []byte) []byte {
	if bytes.HasSuffix(before, []byte("\n\n")) || !bytes.HasSuffix(after, []byte("\n\n")) {
		return after
	}
	return append(bytes.TrimRight(bytes.Clone(after), "\n"), '\n')
}

// tidied returns what a fix made of the page without the lint that the fix itself
// has left: space at the end of a line, blank lines where something was.
func tidied(p *page.Page, after []byte) []byte {
	was, err := page.Parse(p.Path, p.Source)
	if err != nil {
		return after
	}
	now, err := page.Parse(p.Path, after)
	if err != nil {
		return after
	}
	had := map[string]int{}
	for _, l := range gates.LintProblems(was) {
		had[l.Issue.Message]++
	}
	var edits []gates.LintEdit
	for _, l := range gates.LintProblems(now) {
		if had[l.Issue.Message]--; had[l.Issue.Message] < 0 && l.Issue.Code == gates.MarkdownLintError {
			edits = append(edits, l.Edits...)
		}
	}
	slices.SortFunc(edits, func(a, b gates.LintEdit) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End)) })
	for i := 1; i < len(edits); i++ {
		if edits[i].Start < edits[i-1].End {
			return after // two rules want the same bytes: the next rounds see to it
		}
	}
	return edited(now, edits)
}
