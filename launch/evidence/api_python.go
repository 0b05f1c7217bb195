package evidence

import (
	"path"
	"strings"

	"github.com/gantry-run/gantry/internal/lazyregexp"
	"github.com/gantry-run/gantry/launch/dossier"
)

const pythonReason = "Read from the top-level definitions of the modules; methods, re-exports and names made at run time are missing."

// pythonAPI reads the public functions and classes of each module.
func (g *gatherer) pythonAPI() (modules []dossier.APIModule, reason string) {
	for _, file := range g.inv.Paths {
		if file.Role != "source" || path.Ext(file.Path) != ".py" {
			continue
		}
		name := pythonModule(file.Path)
		if name == "" {
			continue
		}
		data, ok := g.read(file.Path, maxSource)
		if !ok {
			continue
		}
		if m := pythonFile(name, file.Path, string(data)); len(m.Symbols) > 0 {
			modules = append(modules, m)
		}
	}
	return modules, pythonReason
}

// pythonModule returns the dotted name under which a file is imported, or "" for
// a private one and for scripts that are not.
func pythonModule(file string) string {
	file = strings.TrimSuffix(file, ".py")
	for _, root := range []string{"src/", "lib/"} {
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
	pythonDef   = lazyregexp.New(`^(async def|def|class)\s+([A-Za-z]\w*)`)
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
	for i, line := range lines {
		match := pythonDef.FindStringSubmatch(line)
		if match == nil || public != nil && !public[match[2]] {
			continue
		}
		end := definitionEnd(lines, i)
		signature := strings.TrimSuffix(strings.Join(strings.Fields(strings.Join(original[i:end+1], " ")), " "), ":")
		if colon := strings.LastIndex(signature, "):"); colon > 0 && end == i {
			signature = signature[:colon+1]
		}
		kind := "func"
		if match[1] == "class" {
			kind = "class"
		}
		m.Symbols = append(m.Symbols, dossier.APISymbol{
			Name: match[2], Kind: kind, Signature: shorten(signature), Path: file, Line: i + 1,
			Doc: docstring(strings.Join(original[min(end+1, len(original)):min(end+60, len(original))], "\n")),
		})
	}
	return m
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
	doc := firstSentence(body)
	return escapeDoc(strings.ReplaceAll(rstRole.ReplaceAllString(doc, "`$1`"), "``", "`"))
}

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
