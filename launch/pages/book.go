package pages

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/launch/page"
)

// book looks up the evidence that pages may use.
type book struct {
	PlanInput
	repo     repoLinks
	claims   map[string]dossier.Claim   // those that may be stated
	texts    map[string]string          // claim id → Markdown for a page
	snippets map[string]dossier.Snippet // those that may be shown
	order    []string                   // ids of those, in catalogue order
	escaped  map[string]string          // snippet id → content for a page
}

// newBook leaves out claims that are inferred, unless inference is allowed, that
// lost a contradiction or are in an unresolved one, or that have nothing to show;
// and snippets that are broken, mere output, too long or cannot be shown.
func newBook(in PlanInput) *book {
	b := &book{
		PlanInput: in, repo: newRepoLinks(in.Facts.RepoURL, in.Facts.RepoSHA),
		claims: map[string]dossier.Claim{}, texts: map[string]string{},
		snippets: map[string]dossier.Snippet{}, escaped: map[string]string{},
	}
	lost := losers(in.Evidence.Contradictions)
	for _, claim := range in.Evidence.Claims {
		if lost[claim.ID] || claim.Truth == "inference" && !in.Config.AllowInference {
			continue
		}
		from := ""
		if len(claim.Citations) > 0 {
			from = claim.Citations[0].Path
		}
		if text := inline(claim.Text, b.repo, from); text != "" {
			b.claims[claim.ID], b.texts[claim.ID] = claim, text
		}
	}
	for _, snippet := range in.Snippets.Snippets {
		escaped, ok := page.EscapeHugo(snippet.Content)
		if !ok || snippet.Syntax == "invalid" || slices.Contains(snippet.Tags, "output") ||
			strings.TrimSpace(escaped) == "" || strings.Count(escaped, "\n") > maxSnippetLines {
			continue
		}
		b.snippets[snippet.ID], b.escaped[snippet.ID] = snippet, escaped
		b.order = append(b.order, snippet.ID)
	}
	return b
}

const maxSnippetLines = 80 // a longer one is a program to read in the repository

func losers(contradictions []dossier.Contradiction) map[string]bool {
	lost := map[string]bool{}
	for _, c := range contradictions {
		for _, id := range []string{c.ClaimA, c.ClaimB} {
			if id != c.Winner {
				lost[id] = true
			}
		}
	}
	return lost
}

// knows reports whether the claim may be stated.
func (b *book) knows(id string) bool { return b.texts[id] != "" }

// at is where a claim or a snippet stands in the repository.
type at struct {
	path       string
	start, end int
}

func (b *book) claimAt(id string) at {
	if c := b.claims[id].Citations; len(c) > 0 {
		return at{c[0].Path, c[0].StartLine, c[0].EndLine}
	}
	return at{}
}

func (b *book) snippetAt(id string) at {
	s := b.snippets[id]
	return at{s.Path, s.StartLine, s.EndLine}
}

func (a at) compare(o at) int {
	return cmp.Or(cmp.Compare(a.path, o.path), cmp.Compare(a.start, o.start), cmp.Compare(a.end, o.end))
}

// code is what two snippets that show the same have in common.
func (b *book) code(id string) string { return "code " + strings.TrimSpace(b.escaped[id]) }

// tagged returns the snippets with any of the tags, in catalogue order.
func (b *book) tagged(tags ...string) []string {
	var ids []string
	for _, id := range b.order {
		if slices.ContainsFunc(b.snippets[id].Tags, func(tag string) bool { return slices.Contains(tags, tag) }) {
			ids = append(ids, id)
		}
	}
	return ids
}

func (b *book) workflow(tag string) (dossier.Workflow, bool) {
	i := slices.IndexFunc(b.Facts.Workflows, func(w dossier.Workflow) bool { return w.Tag == tag })
	if i < 0 {
		return dossier.Workflow{}, false
	}
	return b.Facts.Workflows[i], true
}
