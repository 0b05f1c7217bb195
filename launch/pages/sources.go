package pages

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gantry-run/gantry/launch/dossier"
)

// item is one line of a page, or one snippet.
type item struct {
	heading string   // a heading below the block's; then nothing else is set
	text    string   // Markdown; empty: the text of the first claim
	claims  []string // what the line states, at least one
	snippet string   // a snippet's id; then nothing else is set
	bullet  int      // nesting of a list item, 0 for a sentence of a paragraph
	gap     bool     // a new paragraph or list begins here
}

// sources make the content of a block from the evidence. The subject is the
// page's: a workflow's tag or a module's name.
var sources = map[string]func(b *book, subject string) []item{
	"positioning":   (*book).positioning,
	"details":       (*book).details,
	"features":      groupOf(func(g dossier.ClaimGroups) []string { return g.KeyFeatures }),
	"formats":       (*book).formats,
	"requirements":  (*book).requirements,
	"commands":      (*book).commands,
	"install":       (*book).install,
	"quickstart":    (*book).quickstart,
	"workflow":      (*book).workflowItems,
	"limitations":   groupOf(func(g dossier.ClaimGroups) []string { return g.Limitations }),
	"compatibility": groupOf(func(g dossier.ClaimGroups) []string { return g.CompatibilityNotes }),
	"examples":      (*book).examples,
	"modules":       (*book).modules,
	"api_notes":     (*book).apiNotes,
	"module":        (*book).moduleDoc,
	"types":         (*book).types,
	"functions":     (*book).functions,
	"values":        (*book).values,
}

// groupOf lists a group of claims as bullets.
func groupOf(group func(dossier.ClaimGroups) []string) func(*book, string) []item {
	return func(b *book, _ string) []item {
		var items []item
		for _, id := range group(b.Facts.ClaimGroups) {
			items = append(items, item{claims: []string{id}, bullet: 1})
		}
		return items
	}
}

func (b *book) positioning(string) []item {
	var items []item
	for _, fact := range []dossier.Fact{b.Facts.Positioning.Tagline, b.Facts.Positioning.ShortDescription} {
		items = append(items, item{claims: []string{fact.ClaimID}})
	}
	return items
}

func (b *book) details(string) []item {
	var items []item
	label := func(name string, fact *dossier.Fact) {
		if fact == nil {
			return
		}
		if value := b.value(fact.Value); value != "" {
			items = append(items, item{text: "**" + name + ":** " + value, claims: []string{fact.ClaimID}, bullet: 1})
		}
	}
	label("Version", b.Facts.Version)
	label("License", b.Facts.License)
	for i := range b.Facts.SupportedPlatforms {
		label("Platform", &b.Facts.SupportedPlatforms[i])
	}
	for i := range b.Facts.Runtime {
		label("Requires", &b.Facts.Runtime[i])
	}
	return items
}

// value renders a bare value, which unlike a claim need not hold a letter.
func (b *book) value(value string) string {
	if text := inline(value, b.repo, ""); text != "" {
		return text
	}
	if bareValue.MatchString(value) {
		return value
	}
	return ""
}

var bareValue = regexp.MustCompile(`^[0-9][0-9.+-]*$`)

func (b *book) formats(string) []item {
	var items []item
	for _, format := range b.Facts.SupportedFormats {
		text := b.value(format.Format)
		if text == "" || format.Status != "implemented" && format.Status != "planned" {
			continue
		}
		if format.Status == "planned" {
			text += " (planned)"
		}
		items = append(items, item{text: text, claims: []string{format.ClaimID}, bullet: 1})
	}
	return items
}

func (b *book) requirements(string) []item {
	var items []item
	for _, fact := range append(slices.Clone(b.Facts.Runtime), b.Facts.SupportedPlatforms...) {
		if value := b.value(fact.Value); value != "" {
			items = append(items, item{text: value, claims: []string{fact.ClaimID}, bullet: 1})
		}
	}
	return items
}

// methodNames are how people call the ways to get a product.
var methodNames = map[string]string{
	"pip": "pip", "nuget": "NuGet", "maven": "Maven", "npm": "npm", "cargo": "Cargo", "go": "Go", "composer": "Composer",
	"gem": "RubyGems", "swift": "Swift Package Manager", "docker": "Docker", "source": "From source",
}

// commands lists the exact commands that install the product.
func (b *book) commands(string) []item {
	var items []item
	for _, d := range b.Facts.Distribution {
		for _, command := range d.InstallCommands {
			text := codeSpan(command)
			if name := methodNames[d.Method]; name != "" {
				text = "**" + name + ":** " + text
			}
			items = append(items, item{text: text, claims: []string{d.ClaimID}, bullet: 1})
		}
	}
	return items
}

// install lists the commands, then what the documentation says of installing,
// with the snippets that show more than those commands.
func (b *book) install(string) []item {
	var commands, snippets []string
	for _, d := range b.Facts.Distribution {
		commands = append(commands, d.InstallCommands...)
	}
	for _, id := range b.tagged("install") {
		if showsMore(b.snippets[id].Content, commands) {
			snippets = append(snippets, id)
		}
	}
	return append(b.commands(""), b.narrative(b.Facts.ClaimGroups.InstallSteps, snippets)...)
}

// showsMore reports whether a snippet has a line that is none of the commands.
func showsMore(content string, commands []string) bool {
	for line := range strings.Lines(content) {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "$ "))
		if line != "" && !strings.HasPrefix(line, "#") && !slices.Contains(commands, line) {
			return true
		}
	}
	return false
}

func (b *book) quickstart(string) []item {
	return b.narrative(b.Facts.ClaimGroups.QuickstartSteps, b.tagged("quickstart"))
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

func (b *book) examples(string) []item {
	var items []item
	for _, example := range b.Facts.Examples {
		if _, ok := b.snippets[example.PrimarySnippet]; ok {
			items = append(items, item{heading: plainText(example.Title)}, item{snippet: example.PrimarySnippet})
		}
	}
	return items
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
