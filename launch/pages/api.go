package pages

import (
	"strings"

	"github.com/gantry-run/gantry/launch/dossier"
)

// modules lists the modules of the API with what their documentation says. The
// text gets a link to the module's page when the page is written.
func (b *book) modules(string) []item {
	var items []item
	for _, m := range b.Facts.APISurface.Modules {
		items = append(items, item{text: b.moduleLine(m, codeSpan(m.Name)), claims: []string{m.ClaimID}, bullet: 1})
	}
	return items
}

func (b *book) moduleLine(m dossier.APIModule, name string) string {
	if doc := inline(m.Doc, b.repo, m.Path); doc != "" {
		return name + ": " + stopped(doc)
	}
	return name
}

// apiNotes are the claims on the API that are not about a module or symbol that is
// listed anyway, and not told in a guide.
func (b *book) apiNotes(string) []item {
	listed := map[string]bool{}
	for _, m := range b.Facts.APISurface.Modules {
		listed[m.ClaimID] = true
		for _, s := range m.Symbols {
			listed[s.ClaimID] = true
		}
	}
	for _, w := range b.Facts.Workflows {
		for _, id := range w.ClaimIDs {
			listed[id] = true // the guides tell it
		}
	}
	var items []item
	for _, id := range b.Facts.Claims {
		if b.claims[id].Kind == "api" && !listed[id] {
			items = append(items, item{claims: []string{id}, bullet: 1})
		}
	}
	return items
}

func (b *book) moduleDoc(subject string) []item {
	m, n := b.module(subject)
	if text := inline(m.Doc, b.repo, m.Path); text != "" && n == 1 {
		return []item{{text: text, claims: []string{m.ClaimID}}}
	}
	return nil
}

// types lists each type that has methods under a heading of its own, followed by
// them, and then the types that have none: those of the module's n-th page.
func (b *book) types(subject string) []item {
	m, n := b.module(subject)
	var items []item
	plain := false
	for _, group := range b.typePages(m)[n-1] {
		switch {
		case len(group.methods) > 0:
			items = append(items, item{heading: group.symbol.Name})
		case !plain && len(items) > 0:
			items = append(items, item{heading: "Other types"})
		}
		plain = len(group.methods) == 0
		items = append(items, b.symbol(group.symbol, 1))
		for _, method := range group.methods {
			items = append(items, b.symbol(method, 1))
		}
	}
	return items
}

// functions lists functions, and methods whose type is not listed.
func (b *book) functions(subject string) []item {
	m, n := b.module(subject)
	if n > 1 {
		return nil
	}
	types := map[string]bool{}
	for _, s := range m.Symbols {
		types[s.Name] = types[s.Name] || isType(s)
	}
	var items []item
	for _, s := range m.Symbols {
		if s.Kind == "func" || s.Kind == "method" && !types[owner(s.Name)] {
			items = append(items, b.symbol(s, 1))
		}
	}
	return items
}

func (b *book) values(subject string) []item {
	m, n := b.module(subject)
	if n > 1 {
		return nil
	}
	var items []item
	for _, s := range m.Symbols {
		if s.Kind != "func" && s.Kind != "method" && !isType(s) {
			items = append(items, b.symbol(s, 1))
		}
	}
	return items
}

func isType(s dossier.APISymbol) bool {
	return s.Kind == "type" || s.Kind == "interface" || s.Kind == "class"
}

// owner is the type of a method named Type.Method.
func owner(name string) string {
	i := strings.LastIndexByte(name, '.')
	if i < 0 {
		return ""
	}
	return name[:i]
}

// stopped ends a documentation sentence with one full stop.
func stopped(doc string) string {
	doc = strings.TrimSuffix(doc, " .")
	if isSentence(doc) {
		return doc
	}
	return doc + "."
}

// symbol is one line: the signature, as a link to the source, and what the
// documentation says.
func (b *book) symbol(s dossier.APISymbol, level int) item {
	signature := s.Signature
	if signature == "" {
		signature = s.Name
	}
	text := codeSpan(shorten(strings.Join(strings.Fields(signature), " "), 300))
	if address := b.repo.file(s.Path, s.Line, s.Line); address != "" {
		text = "[" + text + "](" + address + ")"
	}
	if doc := inline(s.Doc, b.repo, s.Path); doc != "" {
		text += ": " + stopped(doc)
	}
	if shows(text) {
		return item{text: text, claims: []string{s.ClaimID}, bullet: level}
	}
	return item{text: codeSpan(s.Name), claims: []string{s.ClaimID}, bullet: level}
}
