package pages

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// part is a block of one page with its content.
type part struct {
	Block
	items []item
	left  int // lines for which there was no room
}

// parts fills the blocks of a rule for a page on the subject. Within the page
// nothing is told twice, no claim stands in two blocks and no snippet is shown
// twice; a block keeps to its bounds and the page to its lines. The keep functions
// narrow what may be used; Plan passes nil and takes all.
func (b *book) parts(rule Rule, subject string, keepClaim, keepSnippet func(id string) bool) []part {
	f := filler{book: b, seen: map[string]bool{}, keepClaim: keepClaim, keepSnippet: keepSnippet, room: b.room()}
	var parts []part
	for _, block := range rule.Blocks {
		parts = append(parts, f.fill(block, subject))
	}
	return parts
}

// room is the number of lines that blocks may take: four fifths of what the budget
// allows a file, for front matter and links take some too.
func (b *book) room() int {
	if limit := b.Config.Budgets.MaxLinesPerFile; limit > 0 {
		return max(limit*4/5, 1)
	}
	return math.MaxInt
}

// filler fills the blocks of one page.
type filler struct {
	*book
	seen                   map[string]bool // claims of the blocks before, snippets, texts and headings
	stated                 map[string]bool // claims of this block
	room                   int             // lines left
	keepClaim, keepSnippet func(id string) bool
}

func (f *filler) fill(block Block, subject string) part {
	p := part{Block: block}
	claims, snippets := 0, 0
	f.stated = map[string]bool{}
	for _, it := range sources[block.Source](f.book, subject) {
		switch {
		case it.heading != "":
			it.heading = unique(it.heading, f.seen)
		case it.snippet != "":
			if !f.admitSnippet(it.snippet) || snippets >= block.MaxSnippets {
				continue
			}
			snippets++
		case !f.admit(&it):
			continue
		case claims >= block.MaxClaims:
			p.left++
			continue
		default:
			claims++
		}
		if f.room -= f.lines(it); f.room < 0 {
			if f.room += f.lines(it); it.heading == "" {
				p.left++
			}
			continue
		}
		f.note(it)
		p.items = append(p.items, it)
	}
	for id := range f.stated {
		f.seen[id] = true
	}
	p.items = dropEmptyHeadings(dropDangling(p.items))
	return p
}

// admit reports whether a line may be told, and fills in its text.
func (f *filler) admit(it *item) bool {
	id := it.claims[0]
	if !f.knows(id) || f.seen[id] || f.keepClaim != nil && !f.keepClaim(id) {
		return false
	}
	if it.text == "" { // the claim in its own words
		if f.stated[id] {
			return false
		}
		it.text = f.texts[id]
	}
	return !f.seen[told(it.text)]
}

func (f *filler) admitSnippet(id string) bool {
	_, known := f.snippets[id]
	return known && !f.seen[f.code(id)] && (f.keepSnippet == nil || f.keepSnippet(id))
}

// note remembers what was put on the page. Within a block one claim may carry
// several lines: each command of one way to install, say.
func (f *filler) note(it item) {
	switch {
	case it.snippet != "":
		f.seen[f.code(it.snippet)] = true
	case it.heading == "":
		f.stated[it.claims[0]] = true
		f.seen[told(it.text)] = true
	}
}

// lines is how many lines the item takes.
func (f *filler) lines(it item) int {
	switch {
	case it.heading != "":
		return 3
	case it.snippet != "":
		return strings.Count(f.escaped[it.snippet], "\n") + 7
	case it.gap:
		return 2
	}
	return 1
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
