package evidence

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/gantry-run/gantry/internal/lazyregexp"
	"github.com/gantry-run/gantry/launch/dossier"
)

const pythonReason = "Read from the definitions in the modules; inherited methods and names made at run time are missing."

// pythonAPI reads the public functions and classes of each module.
func (g *gatherer) pythonAPI() (modules []dossier.APIModule, reason string) {
	for _, source := range g.pythonSources() {
		data, ok := g.read(source.file, maxSource)
		if !ok {
			continue
		}
		m := pythonFile(source.module, source.file, string(data))
		if path.Base(source.file) == "__init__.py" {
			m.Symbols = append(m.Symbols, g.reexported(source.file, string(data))...)
		}
		if len(m.Symbols) > 0 && !enough(modules) {
			modules = append(modules, trimmed(m))
		}
	}
	return modules, pythonReason
}

// pythonSource is a file that can be imported, and as what.
type pythonSource struct{ module, file string }

// pythonSources lists them by module.
func (g *gatherer) pythonSources() []pythonSource {
	packages := g.pythonPackages()
	python3 := g.hasUnder("python3/")
	var sources []pythonSource
	for _, file := range g.inv.Paths {
		if file.Role != "source" || path.Ext(file.Path) != ".py" || strings.HasPrefix(file.Path, "python2/") && python3 {
			continue
		}
		if name := packages.module(file.Path); name != "" {
			sources = append(sources, pythonSource{name, file.Path})
		}
	}
	slices.SortFunc(sources, func(a, b pythonSource) int {
		return cmp.Or(cmp.Compare(a.module, b.module), cmp.Compare(a.file, b.file))
	})
	return sources
}

// hasUnder reports whether the tree has a file whose path begins so.
func (g *gatherer) hasUnder(prefix string) bool {
	return slices.ContainsFunc(g.inv.Paths, func(f dossier.RepoFile) bool { return strings.HasPrefix(f.Path, prefix) })
}

var (
	pythonFrom  = lazyregexp.New(`(?m)^from\s+\.([A-Za-z_][\w.]*)\s+import\s+(?:\(([^()]*)\)|([^\n(]*))`)
	pythonAlias = lazyregexp.New(`^([A-Za-z]\w*)(?:\s+as\s+([A-Za-z]\w*))?$`)
)

// reexported returns what a package imports from its own modules to offer it: what
// __all__ names, or without one, what comes from a private module.
func (g *gatherer) reexported(file, src string) []dossier.APISymbol {
	public := publicNames(src)
	code := blankStrings(src)
	var found []dossier.APISymbol
	for _, m := range pythonFrom.FindAllStringSubmatch(code, -1) {
		if public == nil && !strings.HasPrefix(m[1], "_") {
			continue
		}
		origin := path.Join(path.Dir(file), strings.ReplaceAll(m[1], ".", "/")) + ".py"
		data, ok := g.read(origin, maxSource)
		if !ok {
			continue
		}
		defined := pythonFile("", origin, string(data)).Symbols
		for _, item := range strings.Split(m[2]+m[3], ",") {
			name := pythonAlias.FindStringSubmatch(strings.TrimSpace(item))
			if name == nil || name[2] != "" && name[2] != name[1] || public != nil && !public[name[1]] {
				continue
			}
			for _, s := range defined {
				if s.Name == name[1] || owner(s.Name) == name[1] {
					found = append(found, s)
				}
			}
		}
	}
	return found
}

// owner is the class of a method named Class.method, or "".
func owner(name string) string {
	class, _, ok := strings.Cut(name, ".")
	if !ok {
		return ""
	}
	return class
}

// pythonModule returns the dotted name under which a file is imported, or "" for
// a private one and for scripts that are not.
func pythonModule(file string) string {
	file = strings.TrimSuffix(file, ".py")
	for _, root := range []string{"src/", "lib/", "python3/", "python2/", "python/"} {
		file = strings.TrimPrefix(file, root)
	}
	parts := strings.Split(file, "/")
	if last := len(parts) - 1; parts[last] == "__init__" {
		parts = parts[:last]
	}
	for i, part := range parts {
		switch {
		case strings.HasPrefix(part, "_"), !pythonName.MatchString(part):
			return ""
		case i == 0 && (part == "setup" || part == "conftest" || part == "noxfile" || part == "tasks" || part == "docs" || part == "scripts" || part == "tools" || part == "benchmarks" || part == "conf"):
			return ""
		}
	}
	return strings.Join(parts, ".")
}

var (
	pythonName  = lazyregexp.New(`^[A-Za-z]\w*$`)
	pythonDef   = lazyregexp.New(`^(\s*)(async def|def|class)\s+([A-Za-z]\w*)`)
	pythonSelf  = lazyregexp.New(`\((self|cls)(, |\))`)
	pythonAll   = lazyregexp.New(`(?s)(?:^|\n)__all__\s*(?::[^=\n]+)?=\s*[\[(](.*?)[\])]`)
	pythonDoc   = lazyregexp.New(`(?s)^\s*(?:#[^\n]*\n\s*)*[rRuU]?("""|'''|"|')(.*)`)
	pythonQuote = lazyregexp.New(`["']([^"']+)["']`)
)

// pythonFile reads one module. Lines inside strings that span lines are no code.
func pythonFile(module, file, src string) dossier.APIModule {
	m := dossier.APIModule{Name: module, Path: file, Doc: docstring(src)}
	public := publicNames(src)
	code := blankStrings(src)
	lines, original := strings.Split(code, "\n"), strings.Split(src, "\n")
	class, inner := "", "" // the public class that a line is in, and how its methods are indented
	for i, line := range lines {
		if line != "" && !strings.ContainsAny(line[:1], " \t#)]}@\"'") {
			class, inner = "", ""
		}
		match := pythonDef.FindStringSubmatch(line)
		if match == nil {
			continue
		}
		name, kind := match[3], "func"
		switch {
		case match[1] != "" && inner == "" && class != "":
			inner = match[1]
			fallthrough
		case match[1] != "":
			if class == "" || match[1] != inner || match[2] == "class" {
				continue
			}
			name, kind = class+"."+name, "method"
		case public != nil && !public[name]:
			continue
		case match[2] == "class":
			class, kind = name, "class"
		}
		end := definitionEnd(lines, i)
		signature := strings.TrimSuffix(head(lines, original, i, end), ":")
		if colon := strings.LastIndex(signature, "):"); colon > 0 && end == i {
			signature = signature[:colon+1]
		}
		signature = strings.NewReplacer("( ", "(", ", )", ")", " )", ")").Replace(signature)
		if kind == "method" {
			signature = pythonSelf.ReplaceAllStringFunc(signature, func(self string) string {
				return "(" + strings.TrimPrefix(self[strings.IndexAny(self, ",)"):], ", ")
			})
		}
		m.Symbols = append(m.Symbols, dossier.APISymbol{
			Name: name, Kind: kind, Signature: shorten(signature), Path: file, Line: i + 1,
			Doc: docstring(strings.Join(original[min(end+1, len(original)):min(end+60, len(original))], "\n")),
		})
	}
	return m
}

// head returns lines of a source in one, without comments: they end where the code
// that is blanked ends.
func head(code, original []string, from, to int) string {
	var words []string
	for i := from; i <= to; i++ {
		words = append(words, strings.Fields(original[i][:len(strings.TrimRight(code[i], " \t"))])...)
	}
	return strings.Join(words, " ")
}

// definitionEnd returns the index of the line where a definition's head ends:
// with a colon outside of brackets.
func definitionEnd(lines []string, start int) int {
	depth := 0
	for i := start; i < min(start+100, len(lines)); i++ {
		for _, c := range lines[i] {
			switch c {
			case '(', '[', '{':
				depth++
			case ')', ']', '}':
				depth--
			}
		}
		if line, _, _ := strings.Cut(lines[i], "#"); depth <= 0 && strings.Contains(line, ":") {
			return i
		}
	}
	return start
}

// docstring returns the first sentence of the string that opens the text.
func docstring(text string) string {
	m := pythonDoc.FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	body, _, ok := strings.Cut(m[2], m[1])
	if !ok || len(m[1]) == 1 && strings.Contains(body, "\n") {
		return ""
	}
	doc := firstSentence(withoutTitle(body))
	if rstField.MatchString(doc) {
		return "" // what it takes and returns, and nothing else
	}
	return escapeDoc(strings.ReplaceAll(rstRole.ReplaceAllString(doc, "`$1`"), "``", "`"))
}

// withoutTitle cuts what a docstring may begin with and that is no sentence: a title
// with its underline, and a signature.
func withoutTitle(body string) string {
	lines := strings.Split(strings.TrimSpace(body), "\n")
	for len(lines) > 1 && rstAdornment.MatchString(strings.TrimSpace(lines[0])) {
		lines = lines[1:] // an overline, or what is left
	}
	if len(lines) > 1 && rstAdornment.MatchString(strings.TrimSpace(lines[1])) {
		lines = lines[2:]
	}
	if len(lines) > 0 && pythonCall.MatchString(strings.TrimSpace(lines[0])) {
		lines = lines[1:]
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

var pythonCall = lazyregexp.New(`^[A-Za-z_][\w.]*\(.*\)( ?->.*)?$`)

// publicNames reads a literal __all__; nil when there is none.
func publicNames(src string) map[string]bool {
	m := pythonAll.FindStringSubmatch(src)
	if m == nil {
		return nil
	}
	names := map[string]bool{}
	for _, q := range pythonQuote.FindAllStringSubmatch(m[1], -1) {
		names[q[1]] = true
	}
	return names
}

// blankStrings replaces what is inside strings and comments by spaces, keeping lines.
func blankStrings(src string) string {
	out := []byte(src)
	blank := func(from, to int) {
		for i := from; i < min(to, len(out)); i++ {
			if out[i] != '\n' {
				out[i] = ' '
			}
		}
	}
	for i := 0; i < len(src); {
		switch c := src[i]; {
		case c == '#':
			end := i + max(strings.IndexByte(src[i:]+"\n", '\n'), 1)
			blank(i, end)
			i = end
		case c == '"' || c == '\'':
			end := stringEnd(src, i)
			blank(i+1, end-1)
			i = end
		default:
			i++
		}
	}
	return string(out)
}

// stringEnd returns the offset after the string literal that starts at i.
func stringEnd(src string, i int) int {
	quote := src[i : i+1]
	if strings.HasPrefix(src[i:], strings.Repeat(quote, 3)) {
		quote = strings.Repeat(quote, 3)
	}
	for j := i + len(quote); j < len(src); j++ {
		switch {
		case src[j] == '\\':
			j++
		case strings.HasPrefix(src[j:], quote):
			return j + len(quote)
		case len(quote) == 1 && src[j] == '\n':
			return j
		}
	}
	return len(src)
}
