package gates

import (
	"context"
	"strings"
	"time"

	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/launch/page"
)

// snippetsGate lets a page show no code that the product does not have: each
// code block is a snippet of the catalogue, or consists of install commands and
// signatures of the product facts.
func snippetsGate() Gate {
	return Gate{
		Name: "snippets", Title: "every code block is from the product's repository",
		Codes:   []string{SnippetNotInCatalog, SnippetSyntaxError, SnippetLanguageMismatch},
		Timeout: within(60*time.Second, 120*time.Second), Run: runSnippets,
	}
}

func runSnippets(ctx context.Context, in *Input) (Outcome, error) {
	known, err := newKnownCode(in)
	if err != nil {
		return Outcome{}, err
	}
	var out Outcome
	_, err = in.changedPages(ctx, func(p *page.Page) {
		out.Checked += len(p.Fences)
		for _, f := range fresh(in, p, known.checkAll, func(s SnippetProblem) dossier.Issue { return s.Issue }) {
			out.Issues = append(out.Issues, f.Issue)
		}
	}, nil)
	return out, err
}

// knownCode is the code that a page may show.
type knownCode struct {
	byID      map[string]dossier.Snippet
	byContent map[string]dossier.Snippet // by trimmed content, the first of a kind
	lines     map[string]bool            // install commands and lines of signatures
}

func newKnownCode(in *Input) (*knownCode, error) {
	var catalog dossier.SnippetCatalog
	if err := in.document(dossier.SnippetCatalogName, &catalog); err != nil {
		return nil, err
	}
	var facts dossier.ProductFacts
	if err := in.document(dossier.ProductFactsName, &facts); err != nil {
		return nil, err
	}
	k := &knownCode{byID: map[string]dossier.Snippet{}, byContent: map[string]dossier.Snippet{}, lines: map[string]bool{}}
	for _, s := range catalog.Snippets {
		k.byID[s.ID] = s
		if _, ok := k.byContent[trimCode(s.Content)]; !ok {
			k.byContent[trimCode(s.Content)] = s
		}
	}
	for _, d := range facts.Distribution {
		k.addLines(d.InstallCommands...)
	}
	for _, m := range facts.APISurface.Modules {
		for _, s := range m.Symbols {
			k.addLines(s.Signature)
		}
	}
	return k, nil
}

func (k *knownCode) addLines(texts ...string) {
	for _, text := range texts {
		for line := range strings.Lines(text) {
			k.lines[strings.TrimSpace(line)] = true
		}
	}
}

// SnippetProblem is what is wrong with one code block.
type SnippetProblem struct {
	Issue   dossier.Issue
	Fence   page.Fence
	Snippet dossier.Snippet // the one that the block shows or names; the zero value if there is none
}

// SnippetProblems returns what is wrong with the code blocks of the page, by line.
func SnippetProblems(in *Input, p *page.Page) ([]SnippetProblem, error) {
	known, err := newKnownCode(in)
	if err != nil {
		return nil, err
	}
	return known.checkAll(p), nil
}

func (k *knownCode) checkAll(p *page.Page) []SnippetProblem {
	var found []SnippetProblem
	for _, f := range p.Fences {
		if strings.TrimSpace(f.Content) == "" {
			continue
		}
		if problem := k.check(p.Path, f); problem != nil {
			problem.Fence = f
			found = append(found, *problem)
		}
	}
	return found
}

func (k *knownCode) check(path string, f page.Fence) *SnippetProblem {
	var snippet dossier.Snippet
	var ok bool
	one := func(code, severity, fix, format string, args ...any) *SnippetProblem {
		return &SnippetProblem{Issue: issue("snippets", code, severity, path, f.Line, fix, format, args...), Snippet: snippet}
	}
	f.Content = page.UnescapeHugo(f.Content)
	snippet, ok = k.byContent[trimCode(f.Content)]
	if named, known := k.byID[f.SnippetID]; f.SnippetID != "" {
		switch {
		case !known:
			return one(SnippetNotInCatalog, dossier.Error, "Name a snippet of snippet_catalog.json.",
				"there is no snippet %s", quote(f.SnippetID))
		case trimCode(named.Content) != trimCode(f.Content):
			snippet = named
			return one(SnippetNotInCatalog, dossier.Error, "Show the snippet as the catalogue has it.",
				"the code block differs from snippet %s", f.SnippetID)
		}
		snippet, ok = named, true
	}
	if !ok && !k.onlyKnownLines(f.Content) {
		first, _, _ := strings.Cut(strings.TrimSpace(f.Content), "\n")
		return one(SnippetNotInCatalog, dossier.Error, "Replace it by a snippet of snippet_catalog.json, or remove it.",
			"the code block is not from the repository; it begins %s", quote(first))
	}
	if ok && snippet.Syntax == "invalid" {
		return one(SnippetSyntaxError, dossier.Warning, "Choose another snippet, or correct it in the product's repository.",
			"snippet %s does not parse: %s", snippet.ID, quote(snippet.SyntaxErr))
	}
	if want := snippet.Language; ok && f.Info != "" && want != "" && want != "unknown" && f.Info != want {
		return one(SnippetLanguageMismatch, dossier.Error, "Mark the code block as "+quote(want)+".",
			"snippet %s is %s in the repository and marked as %s", snippet.ID, quote(want), quote(f.Info))
	}
	return nil
}

func (k *knownCode) onlyKnownLines(content string) bool {
	for line := range strings.Lines(content) {
		if line = strings.TrimSpace(line); line != "" && !k.lines[line] {
			return false
		}
	}
	return true
}

// trimCode removes what a page may change: CR, space at line ends, and blank
// lines and the line end at the end.
func trimCode(code string) string {
	var b strings.Builder
	for line := range strings.Lines(code) {
		b.WriteString(strings.TrimRight(line, " \t\r\n"))
		b.WriteByte('\n')
	}
	return strings.Trim(b.String(), "\n")
}
