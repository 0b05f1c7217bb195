package evidence

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/gantry-run/gantry/internal/lazyregexp"
	"github.com/gantry-run/gantry/launch/dossier"
)

const (
	maxExampleLines = 200
	maxExamples     = 200
	maxSnippets     = 1000
	maxSnippetBytes = 64 << 10
)

// collectSnippets catalogues the code of the documents and the example files.
func (g *gatherer) collectSnippets(ctx context.Context) {
	for _, doc := range g.docs {
		for i, b := range doc.blocks {
			if ctx.Err() != nil {
				return
			}
			if b.kind == code && len(g.snippets) < maxSnippets {
				g.fence(doc, i)
			}
		}
	}
	for _, name := range g.inv.ExamplePaths[:min(len(g.inv.ExamplePaths), maxExamples)] {
		if ctx.Err() != nil {
			return
		}
		g.exampleFile(name)
	}
	slices.SortFunc(g.snippets, func(a, b dossier.Snippet) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.StartLine, b.StartLine), cmp.Compare(a.ID, b.ID))
	})
}

// fence catalogues the i-th block of a document.
func (g *gatherer) fence(doc document, i int) {
	b := doc.blocks[i]
	title := b.section().title
	if title == "" {
		title = path.Base(doc.path)
	}
	tags := map[string]bool{sectionTag(doc, b.headings): true}
	for _, h := range b.headings {
		if h.slug != "" {
			tags[h.slug] = true
		}
	}
	for _, rule := range tagRules() {
		if slices.ContainsFunc(b.headings, func(h heading) bool { return rule.heading.MatchString(h.title) }) {
			tags[rule.tag] = true
		}
	}
	lang := fenceWord(b.info)
	if lang == "unknown" {
		lang = g.guessed(doc, b.content)
	}
	if lang == "console" || lang == "output" || lang == "text" || isDiagram(lang, b.content) {
		tags["output"] = true
	}
	if id := g.addSnippet(doc.path, b.start, b.end, lang, "fence", title, tags, b.content); id != "" {
		g.snippets[len(g.snippets)-1].Lead = g.lead(doc, i)
	}
}

// isDiagram reports whether code is a picture, which a reader looks up where it is drawn.
func isDiagram(lang, content string) bool {
	return slices.Contains([]string{"mermaid", "dot", "graphviz", "plantuml"}, lang) || strings.ContainsFunc(content, func(r rune) bool { return r >= 0x2500 && r <= 0x25ff })
}

var (
	pythonCode = lazyregexp.New(`(?m)^(>>> |import \w|from [\w.]+ import |def \w+\(|class \w+[(:]|@\w|(if|for|with|while) .*:$|try:$|[a-z_][\w.]* = |[a-z_][\w.]*\(.*\)$)`)
	shellCode  = lazyregexp.New(`^(\$ \w|(go (get|install|run|build|test)|npm|npx|yarn|pnpm|pip|pipx|uv|cargo|git|curl|docker|make|brew|apt|apt-get|gem|composer|dotnet) [\w-])`)
)

// guessed is the language of code that names none: what the first characters
// leave no doubt about. Sphinx takes literal blocks for Python.
func (g *gatherer) guessed(doc document, content string) string {
	switch {
	case shellCode.MatchString(content):
		return "bash"
	case g.inv.Profile.PlatformFamily == "python" && path.Ext(doc.path) == ".rst" && pythonCode.MatchString(content):
		return "python"
	}
	return "unknown"
}

// tagRule ties a tag to the headings that earn it.
type tagRule struct {
	tag     string
	heading *lazyregexp.Regexp
}

func tagRules() []tagRule {
	return []tagRule{
		{"install", installHeading},
		{"quickstart", quickstartHeading},
		{"usage", lazyregexp.New(`(?i)\b(usage|using|use)\b`)},
		{"example", lazyregexp.New(`(?i)\b(examples?|samples?|demos?)\b`)},
		{"config", lazyregexp.New(`(?i)\b(config\w*|options|settings|environment)\b`)},
		{"output", lazyregexp.New(`(?i)\b(outputs?|results?)\b`)},
	}
}

// addSnippet catalogues a piece of code unless nothing is in it.
func (g *gatherer) addSnippet(name string, start, end int, lang, origin, title string, tags map[string]bool, content string) string {
	content = tidy(content)
	if strings.TrimSpace(content) == "" || len(content) > maxSnippetBytes {
		return ""
	}
	syntax, problem := checkSyntax(lang, content)
	id := "s" + shortHash(name, strconv.Itoa(start)+"-"+strconv.Itoa(end), content)
	g.snippets = append(g.snippets, dossier.Snippet{
		ID: id, Path: name, StartLine: start, EndLine: end, Language: lang, Origin: origin, Title: title,
		Tags: sortedSet(tags), Syntax: syntax, SyntaxErr: problem, Content: content,
	})
	return id
}

// tidy trims trailing white space and blank lines at both ends, and ends with one newline.
func tidy(content string) string {
	lines := strings.Split(content, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \t\r")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n") + "\n"
}

func sortedSet(set map[string]bool) []string {
	list := make([]string, 0, len(set))
	for item := range set {
		list = append(list, item)
	}
	slices.Sort(list)
	return list
}

var pandocClass = lazyregexp.New(`\.([A-Za-z][\w+#-]*)\s*\}?$`)

// fenceWord is the language that a fence names, in lower case: "go", "unknown".
func fenceWord(info string) string {
	info = strings.TrimSpace(info)
	if strings.HasPrefix(info, "{") {
		if m := pandocClass.FindStringSubmatch(strings.TrimRight(info, "} ")); m != nil {
			return strings.ToLower(m[1])
		}
		return "unknown"
	}
	word, _, _ := strings.Cut(info, " ")
	word, _, _ = strings.Cut(word, "{")
	word, _, _ = strings.Cut(word, ",")
	if word == "" {
		return "unknown"
	}
	return strings.ToLower(word)
}

// exampleFile catalogues an example file: whole, or its first coherent part.
func (g *gatherer) exampleFile(name string) {
	data, ok := g.read(name, maxDocument)
	if !ok {
		return
	}
	lang := fenceLanguage(g.language(name))
	if lang == "unknown" {
		return
	}
	lines := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	start := afterNotice(lines)
	end := len(lines)
	if end-start > maxExampleLines {
		end = start + coherentEnd(lines[start:start+maxExampleLines+1])
	}
	if end == start {
		return
	}
	title := exampleTitle(name)
	tags := map[string]bool{"example": true, slugOf(title): true}
	id := g.addSnippet(name, start+1, end, lang, "example_file", title, tags, strings.Join(lines[start:end], "\n"))
	if id == "" {
		return
	}
	g.facts.Examples = append(g.facts.Examples, dossier.Example{
		ID: slugOf(strings.TrimSuffix(name, path.Ext(name))), Title: title, Tags: sortedSet(tags), PrimarySnippet: id,
	})
}

var (
	lineComment = lazyregexp.New(`^(//|#|--|;)`)
	notice      = lazyregexp.New(`(?i)\b(copyright|licen[sc]ed?|all rights reserved|SPDX)\b`)
)

// afterNotice returns how many lines the copyright notice takes with which a file
// begins, up to the code after the blank line below it; 0 if there is none.
func afterNotice(lines []string) int {
	end, found := 0, false
	for end < len(lines) && lineComment.MatchString(lines[end]) && !strings.HasPrefix(lines[end], "#!") && !strings.HasPrefix(lines[end], "//go:") {
		found = found || notice.MatchString(lines[end])
		end++
	}
	if !found || end == len(lines) || strings.TrimSpace(lines[end]) != "" {
		return 0
	}
	for end < len(lines) && strings.TrimSpace(lines[end]) == "" {
		end++
	}
	return end
}

// coherentEnd returns how many lines to keep: up to the last blank line that a
// line without indent follows.
func coherentEnd(lines []string) int {
	for i := len(lines) - 1; i > 1; i-- {
		next := lines[i]
		if strings.TrimSpace(lines[i-1]) == "" && next != "" && !strings.ContainsAny(next[:1], " \t})]") {
			return i - 1
		}
	}
	return 0
}

// exampleTitle names an example by its file, or by its folder where the file's name says nothing.
func exampleTitle(name string) string {
	stem := strings.TrimSuffix(path.Base(name), path.Ext(name))
	if slices.Contains([]string{"main", "index", "app", "example", "program", "__main__", "server", "client", "mod", "lib"}, strings.ToLower(stem)) {
		if dir := path.Base(path.Dir(name)); !inDir("x/"+dir+"/y", "examples", "example", "samples", "demo", "demos") {
			if up := path.Base(path.Dir(path.Dir(name))); !inDir(up+"/x", "examples", "example", "samples", "demo", "demos", ".") {
				dir = up + " " + dir
			}
			if stem == "main" || stem == "index" || stem == "__main__" {
				stem = dir
			} else {
				stem = dir + " " + stem
			}
		}
	}
	return upperFirst(strings.Join(strings.FieldsFunc(stem, func(r rune) bool { return r == '-' || r == '_' || r == ' ' }), " "))
}

// language is what the inventory says of a file.
func (g *gatherer) language(name string) string {
	for _, file := range g.inv.Paths {
		if file.Path == name {
			return file.Language
		}
	}
	return ""
}

// fenceLanguage is the fence word for linguist's name of a language.
func fenceLanguage(language string) string {
	switch language {
	case "":
		return "unknown"
	case "C++":
		return "cpp"
	case "C#":
		return "csharp"
	case "F#":
		return "fsharp"
	case "Shell":
		return "bash"
	case "Batchfile":
		return "bat"
	case "Go Module", "Go Checksums", "Text", "Ignore List":
		return "unknown"
	case "Visual Basic .NET":
		return "vbnet"
	case "Objective-C":
		return "objc"
	case "Protocol Buffer":
		return "protobuf"
	case "Jupyter Notebook":
		return "unknown"
	}
	return strings.ToLower(strings.ReplaceAll(language, " ", "-"))
}
