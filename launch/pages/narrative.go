package pages

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gantry-run/gantry/launch/dossier"
)

// quickstart tells the first steps: those that the documentation calls so, else
// the first of the ruleset's workflows that shows code.
func (b *book) quickstart(string) []item {
	items := b.narrative(b.Facts.ClaimGroups.QuickstartSteps, b.tagged("quickstart"))
	for _, tag := range b.Ruleset.FirstSteps {
		if slices.ContainsFunc(items, func(it item) bool { return it.snippet != "" }) {
			break
		}
		for _, w := range b.Facts.Workflows {
			if Slug(w.Tag) == tag && len(items) == 0 {
				items = b.workflowItems(w.Tag)
			}
		}
	}
	return items
}

// workflowItems tells a workflow in the order of its documentation. Tags are not
// unique, so a snippet belongs to it only if it stands in the same file as its claims.
func (b *book) workflowItems(subject string) []item {
	w, _ := b.workflow(subject)
	files := map[string]bool{}
	for _, id := range w.ClaimIDs {
		files[b.claimAt(id).path] = true
	}
	var snippets []string
	for _, id := range b.tagged(w.SnippetTags...) {
		if len(w.ClaimIDs) == 0 || files[b.snippets[id].Path] {
			snippets = append(snippets, id)
		}
	}
	return b.narrative(w.ClaimIDs, snippets)
}

// smallWorkflows tells the workflows that are too small for a guide of their own,
// each under its title.
func (b *book) smallWorkflows(string) []item {
	var items []item
	for _, w := range b.Facts.Workflows {
		if b.skips(w) || b.isGuide(w) {
			continue
		}
		if told := b.workflowItems(w.Tag); len(told) > 0 {
			items = append(append(items, item{heading: cmp.Or(plainText(w.Title), w.Tag)}), told...)
		}
	}
	return items
}

// skips reports whether no page is wanted on the workflow: by the ruleset, or
// because the first steps tell all of it.
func (b *book) skips(w dossier.Workflow) bool {
	skip := b.Ruleset.SkipWorkflows
	if slices.Contains(skip, Slug(w.Tag)) || slices.Contains(skip, Slug(plainText(w.Title))) {
		return true
	}
	first := map[string]bool{}
	for _, it := range append(b.quickstart(""), b.install("")...) {
		first[b.key(it)] = true
	}
	return !slices.ContainsFunc(b.workflowItems(w.Tag), func(it item) bool { return !first[b.key(it)] })
}

func (b *book) isGuide(w dossier.Workflow) bool {
	return len(b.workflowItems(w.Tag)) >= b.Ruleset.GuideEvidence
}

// narrative tells claims and snippets in the order in which they stand in the
// repository. Claims of neighbouring lines share a paragraph; where one of them is
// not a sentence they are a list.
func (b *book) narrative(claims, snippets []string) []item {
	type piece struct {
		item
		at
	}
	var pieces []piece
	for _, id := range claims {
		if b.knows(id) {
			pieces = append(pieces, piece{item{claims: []string{id}}, b.claimAt(id)})
		}
	}
	for _, id := range snippets {
		pieces = append(pieces, piece{item{snippet: id}, b.snippetAt(id)})
	}
	slices.SortStableFunc(pieces, func(x, y piece) int { return x.at.compare(y.at) })
	var items []item
	for start := 0; start < len(pieces); {
		end := start + 1
		for end < len(pieces) && pieces[start].snippet == "" && pieces[end].snippet == "" &&
			pieces[end].path == pieces[end-1].path && pieces[end].start <= pieces[end-1].end+1 {
			end++
		}
		level := 0
		for _, p := range pieces[start:end] {
			if p.snippet == "" && !isSentence(b.texts[p.claims[0]]) {
				level = 1
			}
		}
		for i, p := range pieces[start:end] {
			p.bullet = level
			p.gap = i == 0 && !(level == 1 && lastBullet(items))
			items = append(items, p.item)
		}
		start = end
	}
	return items
}

func lastBullet(items []item) bool {
	return len(items) > 0 && items[len(items)-1].bullet > 0 && items[len(items)-1].snippet == ""
}

func isSentence(text string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(text, "*_`)\"”’"))
	return strings.ContainsRune(".!?:…。", last)
}
