package evidence

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gantry-run/gantry/internal/lazyregexp"
	"github.com/gantry-run/gantry/launch/dossier"
)

// Bounds on the API surface; what is left out is said in its Reason.
const (
	maxModules          = 100
	maxSymbolsPerModule = 600
	maxSymbols          = 3000
	maxSignature        = 300
)

// apiReader reads the public names of one platform from its source. It returns
// the modules by name, and why they are not all: "" when they are.
type apiReader struct {
	families []string
	read     func(g *gatherer) (modules []dossier.APIModule, reason string)
}

// apiReaders lists the platforms, one file each.
func apiReaders() []apiReader {
	return []apiReader{
		{[]string{"go"}, (*gatherer).goAPI},
		{[]string{"javascript", "typescript"}, (*gatherer).jsAPI},
		{[]string{"python"}, (*gatherer).pythonAPI},
	}
}

// fromSource reads the API surface and states each name of it.
func (g *gatherer) fromSource(context.Context) {
	family := g.inv.Profile.PlatformFamily
	surface := dossier.APISurface{Status: "not_extracted", Modules: []dossier.APIModule{}}
	surface.Reason = "The API surface is read from Go, JavaScript, TypeScript and Python sources only."
	if name := familyName(family); name != "" {
		surface.Reason = fmt.Sprintf("The API surface of %s sources is not read: there is no parser for them here.", name)
	}
	for _, reader := range apiReaders() {
		if !slices.Contains(reader.families, family) {
			continue
		}
		surface.Modules, surface.Reason = reader.read(g)
		surface.Status = "extracted"
		if surface.Reason != "" {
			surface.Status = "partial"
		}
	}
	g.bound(&surface)
	if surface.Symbols == 0 {
		surface.Status, surface.Modules = "not_extracted", []dossier.APIModule{}
		if surface.Reason == "" {
			surface.Reason = "No public name was found in the sources."
		}
	}
	g.facts.APISurface = surface
	g.stateAPI()
}

func familyName(family string) string {
	switch family {
	case "java", "kotlin", "ruby", "rust", "swift":
		return upperFirst(family)
	case "dotnet":
		return ".NET"
	case "cpp":
		return "C and C++"
	case "php":
		return "PHP"
	}
	return ""
}

// bound puts the surface in order and cuts it to its bounds, saying so.
func (g *gatherer) bound(s *dossier.APISurface) {
	slices.SortFunc(s.Modules, func(a, b dossier.APIModule) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Path, b.Path))
	})
	cut := 0
	if len(s.Modules) > maxModules {
		cut, s.Modules = 1, s.Modules[:maxModules]
	}
	for i := range s.Modules {
		m := &s.Modules[i]
		slices.SortFunc(m.Symbols, byNameAndPlace)
		m.Symbols = slices.CompactFunc(m.Symbols, func(a, b dossier.APISymbol) bool { return a.Name == b.Name })
		if room := min(maxSymbolsPerModule, maxSymbols-s.Symbols); len(m.Symbols) > room {
			cut, m.Symbols = 1, withoutMethods(m.Symbols, room)
		}
		if m.Symbols == nil {
			m.Symbols = []dossier.APISymbol{}
		}
		s.Symbols += len(m.Symbols)
	}
	if cut > 0 {
		s.Status = "partial"
		s.Reason = strings.TrimSpace(s.Reason + fmt.Sprintf(" The list is cut at %d modules, %d names a module and %d names in all; methods are given up first.", maxModules, maxSymbolsPerModule, maxSymbols))
	}
}

// enough reports whether more modules would be cut: one above the bound says that some
// are. Readers come by their modules in the order of [gatherer.bound].
func enough(modules []dossier.APIModule) bool { return len(modules) > maxModules }

// trimmed drops names that are beyond the bound of a module, but for one, which says so:
// a large repository's are not all kept until they are cut.
func trimmed(m dossier.APIModule) dossier.APIModule {
	slices.SortFunc(m.Symbols, byNameAndPlace)
	m.Symbols = slices.CompactFunc(m.Symbols, func(a, b dossier.APISymbol) bool { return a.Name == b.Name })
	if len(m.Symbols) > maxSymbolsPerModule+1 {
		m.Symbols = slices.Clone(withoutMethods(m.Symbols, maxSymbolsPerModule+1))
	}
	return m
}

func byNameAndPlace(a, b dossier.APISymbol) int {
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line))
}

// withoutMethods keeps at most room names, in order, giving up methods first.
func withoutMethods(symbols []dossier.APISymbol, room int) []dossier.APISymbol {
	var first, methods []dossier.APISymbol
	for _, s := range symbols {
		if s.Kind == "method" {
			methods = append(methods, s)
		} else {
			first = append(first, s)
		}
	}
	kept := append(first, methods...)[:room]
	slices.SortFunc(kept, func(a, b dossier.APISymbol) int { return cmp.Compare(a.Name, b.Name) })
	return kept
}

// stateAPI adds the claims for modules and names.
func (g *gatherer) stateAPI() {
	for i := range g.facts.APISurface.Modules {
		m := &g.facts.APISurface.Modules[i]
		g.stateModule(m)
		for j := range m.Symbols {
			s := &m.Symbols[j]
			text := symbolClaim(*m, *s, g.qualifier(m.Name))
			s.ClaimID = g.claims.add(text, kindAPI, fact, s.Path+"#"+m.Name+"."+s.Name, cite(s.Path, s.Line, s.Line, fromCode))
		}
	}
}

func (g *gatherer) stateModule(m *dossier.APIModule) {
	if len(m.Symbols) == 0 {
		return
	}
	first := m.Symbols[0]
	for _, s := range m.Symbols {
		if s.Path < first.Path || s.Path == first.Path && s.Line < first.Line {
			first = s
		}
	}
	noun := firstOf(g.packages[m.Name] != "", "package", "module")
	text := fmt.Sprintf("The %s %s exports %s", noun, codeSpan(m.Name), countNames(len(m.Symbols)))
	if doc := usableDoc(m.Doc); doc != "" && packageDoc.MatchString(doc) {
		text = packageDoc.ReplaceAllString(doc, "The package "+strings.ReplaceAll(codeSpan(m.Name), "$", "$$")+" ")
	}
	m.ClaimID = g.claims.add(finish(text), kindAPI, fact, m.Path+"#"+m.Name, cite(first.Path, first.Line, first.Line, fromCode))
}

func countNames(n int) string {
	if n == 1 {
		return "one public name"
	}
	return fmt.Sprintf("%d public names", n)
}

var (
	packageDoc  = lazyregexp.New(`(?i)^(?:Package \S+|The \S+ package) `)
	docVerb     = lazyregexp.New(`^(is|are|was|has|can|may|will|must|does|[a-z]+s|[a-z]+es) `)
	docArticle  = lazyregexp.New(`^(A|An|The) `)
	directive   = lazyregexp.New(`(?i)^(deprecated|todo|fixme|xxx|@|:param|copyright|licensed|eslint|istanbul|ts-|noqa|type:|pylint)`)
	docRefs     = lazyregexp.New(`\[(\*?[A-Za-z_][\w.]*)\]`)
	unsafeInDoc = lazyregexp.New("([*<\\[\\]|_`\\\\])")
)

// usableDoc returns a documentation sentence if it can stand on a page.
func usableDoc(doc string) string {
	doc = strings.TrimSpace(doc)
	if doc == "" || directive.MatchString(doc) || strings.HasSuffix(doc, ":") || strings.HasSuffix(doc, "?") ||
		len(doc) > 240 || strings.Contains(doc, "{{") || firstPerson.MatchString(doc) || strings.Contains(doc, "://") {
		return ""
	}
	return doc
}

// symbolClaim says what a name is, with its documentation where that reads on.
func symbolClaim(m dossier.APIModule, s dossier.APISymbol, qualifier string) string {
	qualified := codeSpan(qualifier + "." + s.Name)
	doc := usableDoc(s.Doc)
	short := s.Name[strings.LastIndex(s.Name, ".")+1:]
	for _, name := range []string{s.Name, short} {
		rest, ok := strings.CutPrefix(docArticle.ReplaceAllString(doc, ""), name+" ")
		if ok && docVerb.MatchString(rest) && !leansOut.MatchString(rest) {
			return finish(qualified + " " + rest)
		}
	}
	if lostSubject.MatchString(doc) && !leansOut.MatchString(doc) {
		return finish(qualified + " " + lowerFirst(doc))
	}
	text := fmt.Sprintf("%s is %s of %s", qualified, kindNoun(s.Kind), codeSpan(m.Name))
	if doc != "" && !leansOut.MatchString(doc) && len(strings.Fields(doc)) > 2 {
		text += ": " + lowerDoc(doc, short)
	}
	return finish(text)
}

// leansOut matches documentation that points to what is not on the page.
var leansOut = lazyregexp.New(`(?i)\b(above|below|this (file|section|example)|see |the following|as follows)\b`)

// lowerDoc continues a sentence after a colon, keeping the symbol's own name.
func lowerDoc(doc, name string) string {
	if strings.HasPrefix(doc, name) {
		return doc
	}
	return lowerFirst(doc)
}

// qualifier is what stands before a module's names in code: the package's own
// name for Go, else the last part of the module's.
func (g *gatherer) qualifier(module string) string {
	if name := g.packages[module]; name != "" {
		return name
	}
	return shortModule(module)
}

func shortModule(name string) string {
	parts := strings.Split(name, "/")
	last := parts[len(parts)-1]
	if len(parts) > 1 && majorVersion.MatchString(last) {
		last = parts[len(parts)-2]
	}
	return last
}

var majorVersion = lazyregexp.New(`^v\d+$`)

func kindNoun(kind string) string {
	switch kind {
	case "func":
		return "a function"
	case "method":
		return "a method"
	case "type":
		return "a type"
	case "interface":
		return "an interface"
	case "const":
		return "a constant"
	case "class":
		return "a class"
	}
	return "a variable"
}

// escapeDoc makes plain documentation text safe as Markdown; [Name] becomes code.
func escapeDoc(doc string) string {
	var b strings.Builder
	last := 0
	for _, m := range docRefs.FindAllStringSubmatchIndex(doc, -1) {
		b.WriteString(escapeText(doc[last:m[0]]) + codeSpan(doc[m[2]:m[3]]))
		last = m[1]
	}
	b.WriteString(escapeText(doc[last:]))
	return b.String()
}

// escapeText keeps well-formed code spans and escapes the rest.
func escapeText(s string) string {
	parts := strings.Split(s, "`")
	for i := range parts {
		if i%2 == 0 || i == len(parts)-1 {
			parts[i] = strings.ReplaceAll(unsafeInDoc.ReplaceAllString(parts[i], `\$1`), `\<`, "&lt;")
		}
	}
	if len(parts)%2 == 0 { // an odd mark
		return strings.Join(parts, "\\`")
	}
	return strings.Join(parts, "`")
}

// firstSentence returns the first sentence of a documentation comment.
func firstSentence(doc string) string {
	doc, _, _ = strings.Cut(strings.TrimSpace(doc), "\n\n")
	doc = strings.Join(strings.Fields(doc), " ")
	var p prose
	p.write(doc, 1)
	sentences := p.split()
	if len(sentences) == 0 {
		return ""
	}
	return sentences[0].text
}
