package evidence

import (
	"cmp"
	"context"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gantry-run/gantry/internal/lazyregexp"
	"github.com/gantry-run/gantry/launch/dossier"
)

// productName is the caller's name, else the first manifest's, else the repository's.
func productName(opts Options, inv dossier.RepoInventory) string {
	if opts.ProductName != "" {
		return opts.ProductName
	}
	for _, m := range inv.Profile.Manifests {
		if path.Dir(m.Path) == "." && m.ShortName() != "" {
			return m.ShortName()
		}
	}
	if opts.RepoName != "" {
		return opts.RepoName
	}
	if base := strings.TrimSuffix(path.Base(inv.RepoURL), ".git"); inv.RepoURL != "" && base != "." && base != "/" {
		return base
	}
	return "The product"
}

// nameProduct takes the name as the project writes it, unless the caller gave one:
// the README's title if it is about the same name, else the spelling of the name
// that the README's prose uses most.
func (g *gatherer) nameProduct(context.Context) {
	if g.opts.ProductName != "" {
		return
	}
	for _, doc := range g.docs {
		if doc.readme {
			g.name = cmp.Or(g.titleOf(doc), spellingIn(doc, g.name), g.name)
			break
		}
	}
	g.facts.ProductName = g.name
}

var (
	titleEnd  = lazyregexp.New(`(: | [-–—|] |, (a|an|the) | v?\d+\.\d).*$`)
	titleLead = lazyregexp.New(`(?i)^(welcome to|introduction to|introducing|about|the) `)
)

const (
	maxNameWords = 4
	maxNameRunes = 40
)

// titleOf returns the product's name in the document's title, or "": a title must
// have a word of the name that the manifest or the repository gives.
func (g *gatherer) titleOf(doc document) string {
	for _, b := range doc.blocks {
		if len(b.headings) == 0 {
			continue
		}
		if b.headings[0].level != 1 {
			return ""
		}
		name := titleLead.ReplaceAllString(titleEnd.ReplaceAllString(b.headings[0].title, ""), "")
		name = strings.Trim(name, " .:$_")
		if len(strings.Fields(name)) > maxNameWords || utf8.RuneCountInString(name) > maxNameRunes || !g.sharesWord(name) || strings.ContainsAny(name, "/<>{}[]`@?!") {
			return ""
		}
		return name
	}
	return ""
}

// sharesWord reports whether a text has a word of the name, or the name without
// its separators.
func (g *gatherer) sharesWord(text string) bool {
	have := "-" + slugOf(text) + "-"
	for _, name := range []string{g.name, g.opts.RepoName} {
		whole := slugOf(name)
		if whole == "" {
			continue
		}
		if strings.Contains(strings.ReplaceAll(have, "-", ""), strings.ReplaceAll(whole, "-", "")) {
			return true
		}
		for _, word := range strings.Split(whole, "-") {
			if len(word) > 2 && strings.Contains(have, "-"+word+"-") {
				return true
			}
		}
	}
	return false
}

// spellingIn returns how the document's prose spells the name most often, if it
// does so more than once; "" when it does not.
func spellingIn(doc document, name string) string {
	counts := map[string]int{}
	best := ""
	for _, b := range doc.blocks {
		if b.kind == code {
			continue
		}
		for _, word := range proseWords(string(b.prose.text)) {
			if !strings.EqualFold(word, name) {
				continue
			}
			counts[word]++
			if n := counts[word]; n > 1 && (n > counts[best] || n == counts[best] && word < best) {
				best = word
			}
		}
	}
	return best
}

// proseWords returns the words of cleaned Markdown outside of code and addresses.
func proseWords(text string) []string {
	text = codePattern.ReplaceAllString(linkPattern.ReplaceAllString(text, "$1"), " ")
	return strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_./@", r)
	})
}
