package pages

import (
	"slices"
	"strings"

	"github.com/gantry-run/gantry/internal/lazyregexp"
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

// key is what the item shows: a claim or code.
func (b *book) key(it item) string {
	if len(it.claims) > 0 {
		return it.claims[0]
	}
	return b.code(it.snippet)
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
	"workflow":      (*book).group,
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
		ids := group(b.Facts.ClaimGroups)
		for _, id := range ids {
			if !b.saidMore(id, ids) {
				items = append(items, item{claims: []string{id}, bullet: 1})
			}
		}
		return items
	}
}

// saidMore reports whether another of the claims begins with the words of this one
// and goes on.
func (b *book) saidMore(id string, ids []string) bool {
	words := told(b.texts[id])
	return slices.ContainsFunc(ids, func(other string) bool {
		rest, ok := strings.CutPrefix(told(b.texts[other]), words)
		return ok && strings.IndexAny(rest, " ,;:") == 0
	})
}

// positioning tells what the product is: the tagline, in its own words where it is
// no sentence, and the short description.
func (b *book) positioning(string) []item {
	tagline, short := b.Facts.Positioning.Tagline, b.Facts.Positioning.ShortDescription
	var items []item
	if !b.saidMore(tagline.ClaimID, []string{short.ClaimID}) {
		it := item{claims: []string{tagline.ClaimID}}
		if strings.Contains(b.texts[tagline.ClaimID], " is described as ") {
			if words := b.value(tagline.Value); words != "" {
				it.text = stopped(words)
			}
		}
		items = append(items, it)
	}
	return append(items, item{claims: []string{short.ClaimID}})
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

var bareValue = lazyregexp.New(`^[0-9][0-9.+-]*$`)

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

func (b *book) examples(string) []item {
	var items []item
	for _, example := range b.Facts.Examples {
		if _, ok := b.snippets[example.PrimarySnippet]; ok {
			items = append(items, item{heading: plainText(example.Title)}, item{snippet: example.PrimarySnippet})
		}
	}
	return items
}
