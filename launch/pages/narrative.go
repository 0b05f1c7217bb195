package pages

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gantry-run/gantry/launch/dossier"
)

// quickstart tells the first steps: the code that the README opens with, then the
// best of the ruleset's workflows that show code.
func (b *book) quickstart(string) []item {
	items := b.group(introduction)
	for _, tag := range b.Ruleset.FirstSteps {
		for _, w := range b.Facts.Workflows {
			top, ok := upTo(w.Tag, tag)
			if !ok || strings.Contains(top, "/") && !b.inReadme(w) {
				continue // a part of some other document is about one thing
			}
			if told := b.group(top); showsCode(told) {
				if title := b.titleOf(top); len(items) > 0 && title != "" {
					return append(append(items, item{heading: title}), told...)
				}
				return append(items, withoutOnlyHeading(told)...)
			}
		}
	}
	if len(items) > 0 {
		return items
	}
	return b.narrative(b.Facts.ClaimGroups.QuickstartSteps, b.tagged("quickstart"))
}

// introduction is the workflow of what stands before the README's second heading.
const introduction = "introduction"

// withoutOnlyHeading leaves a heading out that divides nothing.
func withoutOnlyHeading(items []item) []item {
	headings := 0
	for _, it := range items {
		if it.heading != "" {
			headings++
		}
	}
	if headings == 1 && items[0].heading != "" {
		return items[1:]
	}
	return items
}

// inReadme reports whether a workflow is a section of the README.
func (b *book) inReadme(w dossier.Workflow) bool {
	name := ""
	if len(w.ClaimIDs) > 0 {
		name = b.claimAt(w.ClaimIDs[0]).path
	} else if ids := b.tagged(w.SnippetTags...); len(ids) > 0 {
		name = b.snippets[ids[0]].Path
	}
	return strings.HasPrefix(strings.ToLower(name), "readme")
}

// upTo returns the tag up to and with the part of the name.
func upTo(tag, name string) (string, bool) {
	parts := strings.Split(tag, "/")
	i := slices.Index(parts, name)
	return strings.Join(parts[:i+1], "/"), i >= 0
}

func (b *book) titleOf(tag string) string {
	w, _ := b.workflow(tag)
	return plainText(w.Title)
}

func showsCode(items []item) bool {
	return slices.ContainsFunc(items, func(it item) bool { return it.snippet != "" })
}

// workflowItems tells a workflow in the order of its documentation, without its
// parts. A snippet belongs to it only if it stands in the same file as its claims.
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

// group tells a workflow and then its parts, each under its title.
func (b *book) group(tag string) []item {
	items := b.workflowItems(tag)
	for _, part := range b.Facts.Workflows {
		if strings.HasPrefix(part.Tag, tag+"/") && !b.housekeeping(path.Base(part.Tag)) {
			if told := b.workflowItems(part.Tag); len(told) > 0 {
				items = append(append(items, item{heading: cmp.Or(plainText(part.Title), part.Tag)}), told...)
			}
		}
	}
	return items
}

// roots lists the workflows that are no part of another.
func (b *book) roots() []dossier.Workflow {
	var roots []dossier.Workflow
	tags := map[string]bool{}
	for _, w := range b.Facts.Workflows {
		tags[w.Tag] = true
	}
	for _, w := range b.Facts.Workflows {
		part := false
		for up := path.Dir(w.Tag); up != "." && up != "/"; up = path.Dir(up) {
			part = part || tags[up]
		}
		if !part {
			roots = append(roots, w)
		}
	}
	return roots
}

// smallWorkflows tells the workflows that are too small for a guide of their own,
// each under its title.
func (b *book) smallWorkflows(string) []item {
	var items []item
	shown := b.firstStepsShown()
	for _, w := range b.roots() {
		if b.skips(w, shown) || b.isGuide(w) {
			continue
		}
		if told := b.group(w.Tag); len(told) > 0 {
			items = append(append(items, item{heading: cmp.Or(plainText(w.Title), w.Tag)}), told...)
		}
	}
	return items
}

// skips reports whether no page is wanted on the workflow: by the ruleset, or
// because the first steps, which have shown the given, tell all of it.
func (b *book) skips(w dossier.Workflow, shown map[string]bool) bool {
	if b.housekeeping(path.Base(w.Tag)) || b.housekeeping(Slug(plainText(w.Title))) {
		return true
	}
	return !slices.ContainsFunc(b.group(w.Tag), func(it item) bool { return it.heading == "" && !shown[b.key(it)] })
}

func (b *book) housekeeping(slug string) bool {
	return slices.Contains(b.Ruleset.SkipWorkflows, slug) || strings.HasPrefix(slug, "what-is-") || strings.HasPrefix(slug, "why-")
}

// firstStepsShown is what the page with the first steps has room for.
func (b *book) firstStepsShown() map[string]bool {
	shown := map[string]bool{}
	keep := func(block Block, items []item) {
		claims, snippets := block.MaxClaims, block.MaxSnippets
		for _, it := range items {
			room := &claims
			if it.snippet != "" {
				room = &snippets
			}
			if it.heading == "" && *room > 0 {
				*room--
				shown[b.key(it)] = true
			}
		}
	}
	for _, rule := range b.Ruleset.Pages {
		for _, block := range rule.Blocks {
			switch block.Source {
			case "quickstart":
				keep(block, b.quickstart(""))
			case "install":
				keep(block, b.install(""))
			}
		}
	}
	return shown
}

func (b *book) isGuide(w dossier.Workflow) bool {
	n := 0
	for _, it := range b.group(w.Tag) {
		if it.heading == "" {
			n++
		}
	}
	return n >= b.Ruleset.GuideEvidence
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
