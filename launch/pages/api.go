package pages

import (
	"slices"
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
		return name + ": " + doc
	}
	return name
}

// apiNotes are the claims on the API that are not about a module or symbol that is
// listed anyway.
func (b *book) apiNotes(string) []item {
	listed := map[string]bool{}
	for _, m := range b.Facts.APISurface.Modules {
		listed[m.ClaimID] = true
		for _, s := range m.Symbols {
			listed[s.ClaimID] = true
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
	m, _ := b.module(subject)
	if text := inline(m.Doc, b.repo, m.Path); text != "" {
		return []item{{text: text, claims: []string{m.ClaimID}}}
	}
	return nil
}

// types lists each type that has methods under a heading of its own, followed by
// them, and then the types that have none.
func (b *book) types(subject string) []item {
	m, _ := b.module(subject)
	methods := map[string][]item{}
	for _, s := range m.Symbols {
		if s.Kind == "method" {
			methods[owner(s.Name)] = append(methods[owner(s.Name)], b.symbol(s, 1))
		}
	}
	var items, plain []item
	for _, s := range m.Symbols {
		switch {
		case !isType(s):
		case methods[s.Name] == nil:
			plain = append(plain, b.symbol(s, 1))
		default:
			items = append(items, item{heading: s.Name}, b.symbol(s, 1))
			items = append(items, methods[s.Name]...)
		}
	}
	if len(items) > 0 && len(plain) > 0 {
		items = append(items, item{heading: "Other types"})
	}
	return append(items, plain...)
}

// functions lists functions, and methods whose type is not listed.
func (b *book) functions(subject string) []item {
	m, _ := b.module(subject)
	var items []item
	for _, s := range m.Symbols {
		stray := s.Kind == "method" && !slices.ContainsFunc(m.Symbols, func(t dossier.APISymbol) bool { return isType(t) && t.Name == owner(s.Name) })
		if s.Kind == "func" || stray {
			items = append(items, b.symbol(s, 1))
		}
	}
	return items
}

func (b *book) values(subject string) []item {
	m, _ := b.module(subject)
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
		text += ": " + doc
	}
	if shows(text) {
		return item{text: text, claims: []string{s.ClaimID}, bullet: level}
	}
	return item{text: codeSpan(s.Name), claims: []string{s.ClaimID}, bullet: level}
}
