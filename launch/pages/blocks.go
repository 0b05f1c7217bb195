package pages

import (
	"fmt"
	"slices"
	"strings"
)

// part is a block of one page with its content.
type part struct {
	Block
	items []item
}

// parts fills the blocks of a rule for a page on the subject. Within the page
// nothing is told twice and no snippet shown twice; a block keeps to its bounds.
// The keep functions narrow what may be used; Plan passes nil and takes all.
func (b *book) parts(rule Rule, subject string, keepClaim, keepSnippet func(id string) bool) []part {
	seen := map[string]bool{}
	var parts []part
	for _, block := range rule.Blocks {
		p := part{Block: block}
		claims, snippets := 0, 0
		for _, it := range sources[block.Source](b, subject) {
			switch {
			case it.heading != "":
				it.heading = unique(it.heading, seen)
			case it.snippet != "":
				if _, ok := b.snippets[it.snippet]; !ok || seen[it.snippet] || snippets >= block.MaxSnippets || keepSnippet != nil && !keepSnippet(it.snippet) {
					continue
				}
				seen[it.snippet] = true
				snippets++
			default:
				if !b.admit(&it, seen, keepClaim) || claims >= block.MaxClaims {
					continue
				}
				seen[it.claims[0]], seen[told(it.text)] = true, true
				claims++
			}
			p.items = append(p.items, it)
		}
		p.items = dropEmptyHeadings(dropDangling(p.items))
		parts = append(parts, p)
	}
	return parts
}

// admit reports whether a line may be told, and fills in its text.
func (b *book) admit(it *item, seen map[string]bool, keep func(string) bool) bool {
	id := it.claims[0]
	if !b.knows(id) || keep != nil && !keep(id) {
		return false
	}
	if it.text == "" { // the claim in its own words, once
		it.text = b.texts[id]
		return !seen[told(it.text)] && !seen[id]
	}
	return !seen[told(it.text)]
}

// told is what two lines that say the same have in common.
func told(text string) string {
	return strings.TrimRight(strings.ToLower(plainText(text)), ".!: ")
}

// unique makes a heading that the page does not have yet.
func unique(heading string, seen map[string]bool) string {
	name := heading
	for n := 2; seen["# "+name]; n++ {
		name = fmt.Sprintf("%s (%d)", heading, n)
	}
	seen["# "+name] = true
	return name
}

// dropDangling leaves out lines that end with a colon and introduce nothing.
func dropDangling(items []item) []item {
	var kept []item
	for i, it := range items {
		introduces := i+1 < len(items) && (items[i+1].snippet != "" || items[i+1].bullet > it.bullet)
		if it.text != "" && strings.HasSuffix(strings.TrimRight(it.text, "*_"), ":") && !introduces {
			continue
		}
		kept = append(kept, it)
	}
	return kept
}

func dropEmptyHeadings(items []item) []item {
	var kept []item
	for i, it := range items {
		if it.heading != "" && (i+1 == len(items) || items[i+1].heading != "") {
			continue
		}
		kept = append(kept, it)
	}
	return kept
}

// used returns the claims and snippets of the parts, claims sorted, snippets in
// the order of the page.
func used(parts []part) (claims, snippets []string) {
	claims, snippets = []string{}, []string{}
	for _, p := range parts {
		for _, it := range p.items {
			claims = append(claims, it.claims...)
			if it.snippet != "" {
				snippets = append(snippets, it.snippet)
			}
		}
	}
	slices.Sort(claims)
	return slices.Compact(claims), snippets
}

// headings returns the headings of the parts that have content.
func headings(parts []part) []string {
	list := []string{}
	for _, p := range parts {
		if len(p.items) > 0 && p.Heading != "" {
			list = append(list, p.Heading)
		}
	}
	return list
}
