package pages

import (
	"cmp"
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

// key is what the item shows: a snippet or a claim.
func (it item) key() string {
	if len(it.claims) > 0 {
		return it.claims[0]
	}
	return it.snippet
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
	"workflows":     (*book).smallWorkflows,
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
	add := func(lead string, facts []dossier.Fact) {
		for _, fact := range facts {
			if value := b.value(fact.Value); value != "" {
				items = append(items, item{text: lead + value, claims: []string{fact.ClaimID}, bullet: 1})
			}
		}
	}
	add("", b.Facts.Runtime)
	add("Runs on ", b.Facts.SupportedPlatforms)
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
		line = bareCommand(line)
		if line != "" && !strings.HasPrefix(line, "#") && !slices.ContainsFunc(commands, func(c string) bool { return bareCommand(c) == line }) {
			return true
		}
	}
	return false
}

var commandNoise = strings.NewReplacer("@latest", "", " -u ", " ", " -U ", " ", " --upgrade ", " ", " --save ", " ")

// bareCommand is a command without prompt and the options that do not change
// what is installed.
func bareCommand(line string) string {
	line = strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(line), "$ "), "sudo ")
	return strings.TrimSpace(commandNoise.Replace(strings.TrimSpace(line)))
}

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
		first[it.key()] = true
	}
	return !slices.ContainsFunc(b.workflowItems(w.Tag), func(it item) bool { return !first[it.key()] })
}

func (b *book) isGuide(w dossier.Workflow) bool {
	return len(b.workflowItems(w.Tag)) >= b.Ruleset.GuideEvidence
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
