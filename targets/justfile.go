package targets

import (
	"fmt"
	"slices"
	"strings"
)

// justfile is what one justfile says, as far as it can be known without just.
type justfile struct {
	recipes []*justRecipe
	aliases []justAlias
	imports []justFile
	modules []justFile
	rest    strings.Builder // everything that is in no recipe's body
	wrong   string          // why just would refuse the file
}

type justRecipe struct {
	name         string
	parameters   int  // anyArguments when the last one takes all that follow
	private      bool // by attribute or by name
	inline       string
	above        string // comment on the lines before, or the attribute doc
	dependencies []string
	body         []string
}

type justAlias struct {
	name, target string
	private      bool
}

// justFile is another file that a justfile takes in.
type justFile struct {
	name     string // of a module
	path     string // empty: at the usual place of the module
	optional bool
}

// justParser goes through the lines of a justfile.
type justParser struct {
	file       *justfile
	lines      []string
	doc        string // of the comment above
	attributes []string
	recipe     *justRecipe // that indented lines belong to
	indent     string      // of its first line
}

func parseJustfile(text string) *justfile {
	p := &justParser{file: &justfile{}, lines: strings.Split(text, "\n")}
	for i := 0; i < len(p.lines); {
		i = p.step(i)
	}
	return p.file
}

// step reads the line i, with those that continue it, and returns the next one.
func (p *justParser) step(i int) int {
	line := p.lines[i]
	bare := strings.TrimSpace(line)
	switch {
	case bare == "":
		if p.recipe != nil {
			p.recipe.body = append(p.recipe.body, "")
		}
		p.doc = ""
		return i + 1
	case line[0] == ' ' || line[0] == '\t':
		p.bodyLine(i, line)
		return i + 1
	}
	p.recipe = nil
	switch {
	case line[0] == '#':
		p.doc = ""
		if !strings.HasPrefix(line, "#!") {
			p.doc = strings.TrimSpace(strings.TrimLeft(line, "#"))
		}
		return i + 1
	case line[0] == '[':
		p.attributes = append(p.attributes, line)
		p.file.rest.WriteString(line + "\n")
		return i + 1
	}
	statement, next := justStatement(p.lines, i)
	p.file.rest.WriteString(statement + "\n")
	p.take(statement)
	p.doc, p.attributes = "", nil
	return next
}

// bodyLine takes an indented line. Just refuses a recipe whose lines begin with tabs
// here and with spaces there.
func (p *justParser) bodyLine(i int, line string) {
	if p.recipe == nil {
		return
	}
	lead := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	if p.indent == "" {
		p.indent = lead
	}
	first := p.indent == lead
	mixed := first && strings.Contains(lead, " ") && strings.Contains(lead, "\t")
	if (mixed || lead[0] != p.indent[0]) && p.file.wrong == "" {
		p.file.wrong = fmt.Sprintf("line %d mixes tabs and spaces in the recipe %s", i+1, p.recipe.name)
	}
	p.recipe.body = append(p.recipe.body, line)
}

// take reads one statement that begins at the left margin.
func (p *justParser) take(statement string) {
	code, comment := justComment(statement)
	words := strings.Fields(code)
	if len(words) == 0 {
		return
	}
	at := justTopLevel(code, ':')
	switch {
	case at >= 0 && strings.HasPrefix(code[at:], ":="):
		if words[0] == "alias" && len(words) == 4 && words[2] == ":=" {
			p.file.aliases = append(p.file.aliases, justAlias{words[1], words[3], p.private(words[1])})
		}
	case at >= 0:
		p.head(code[:at], code[at+1:], comment)
	case words[0] == "import" || words[0] == "import?":
		p.file.imports = append(p.file.imports, justFile{path: justText(code), optional: strings.HasSuffix(words[0], "?")})
	case (words[0] == "mod" || words[0] == "mod?") && len(words) > 1:
		p.file.modules = append(p.file.modules, justFile{words[1], justText(code), strings.HasSuffix(words[0], "?")})
	}
}

// head begins a recipe.
func (p *justParser) head(left, right, comment string) {
	words := justWords(strings.TrimPrefix(left, "@"))
	if len(words) == 0 || !justIdentifier(words[0]) {
		return
	}
	r := &justRecipe{name: words[0], parameters: len(words) - 1, private: p.private(words[0]), inline: comment, above: p.doc}
	if n := len(words) - 1; n > 0 && strings.ContainsRune("*+", rune(words[n][0])) {
		r.parameters = anyArguments
	}
	for _, a := range p.attributes {
		if _, text, ok := strings.Cut(a, "doc("); ok {
			r.above = justText(text)
		}
	}
	for _, d := range justWords(right) {
		if d = strings.TrimLeft(d, "("); d != "" && d != "&&" {
			d = strings.TrimRight(strings.Fields(d)[0], ")")
			r.dependencies = append(r.dependencies, d)
		}
	}
	p.file.recipes = append(p.file.recipes, r)
	p.recipe, p.indent = r, ""
}

func (p *justParser) private(name string) bool {
	return strings.HasPrefix(name, "_") || slices.ContainsFunc(p.attributes, func(a string) bool {
		return slices.ContainsFunc(strings.Split(strings.Trim(a, "[] \t"), ","), func(w string) bool { return strings.TrimSpace(w) == "private" })
	})
}

// justStatement returns the line i with those that a text or a backslash continues it by.
func justStatement(lines []string, i int) (string, int) {
	var b strings.Builder
	s := justScanner{}
	for {
		line := lines[i]
		i++
		s.line(line)
		b.WriteString(line)
		if i >= len(lines) || s.quote == "" && s.depth <= 0 && !strings.HasSuffix(line, `\`) {
			return b.String(), i
		}
		b.WriteByte('\n')
	}
}

// justScanner knows at each character whether it is in a text or in parentheses.
type justScanner struct {
	quote string // that the current text ends with
	depth int
}

// line goes through a line up to its comment.
func (s *justScanner) line(line string) {
	for i := 0; i < len(line); {
		if s.quote == "" && line[i] == '#' {
			return
		}
		i += s.advance(line[i:])
	}
}

// advance takes one character, or a mark of several, and returns its length.
func (s *justScanner) advance(rest string) int {
	c := rest[0]
	if s.quote != "" {
		if c == '\\' && s.quote[0] == '"' && len(rest) > 1 {
			return 2
		}
		if strings.HasPrefix(rest, s.quote) {
			n := len(s.quote)
			s.quote = ""
			return n
		}
		return 1
	}
	switch c {
	case '\'', '"', '`':
		s.quote = string(c)
		if triple := strings.Repeat(s.quote, 3); strings.HasPrefix(rest, triple) {
			s.quote = triple
		}
		return len(s.quote)
	case '(', '[', '{':
		s.depth++
	case ')', ']', '}':
		s.depth--
	}
	return 1
}

// justTopLevel returns where a character is outside of texts and parentheses, or -1.
func justTopLevel(code string, want byte) int {
	s := justScanner{}
	for i := 0; i < len(code); {
		if s.quote == "" && s.depth == 0 && code[i] == want {
			return i
		}
		i += s.advance(code[i:])
	}
	return -1
}

// justComment splits a statement at its comment.
func justComment(statement string) (code, comment string) {
	s := justScanner{}
	for i := 0; i < len(statement); {
		if s.quote == "" && statement[i] == '#' {
			return statement[:i], strings.TrimSpace(strings.TrimLeft(statement[i:], "#"))
		}
		i += s.advance(statement[i:])
	}
	return statement, ""
}

// justWords cuts code at blanks outside of texts and parentheses.
func justWords(code string) []string {
	var words []string
	s, begin := justScanner{}, 0
	for i := 0; i < len(code); {
		if s.quote == "" && s.depth <= 0 && (code[i] == ' ' || code[i] == '\t' || code[i] == '\n' || code[i] == '\\') {
			words = append(words, code[begin:i])
			begin = i + 1
		}
		i += s.advance(code[i:])
	}
	words = append(words, code[begin:])
	return slices.DeleteFunc(words, func(w string) bool { return w == "" })
}

// justText returns the first text in code, without its quotes.
func justText(code string) string {
	at := strings.IndexAny(code, `'"`)
	if at < 0 {
		return ""
	}
	text, _, _ := strings.Cut(code[at+1:], code[at:at+1])
	return text
}

func justIdentifier(name string) bool {
	for i, c := range []byte(name) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		if !letter && (i == 0 || c != '-' && (c < '0' || c > '9')) {
			return false
		}
	}
	return name != ""
}
