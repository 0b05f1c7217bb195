package targets

import (
	"fmt"
	"slices"
	"strings"
)

// makefile is what one makefile says, as far as it can be known without make. Make has
// no way to list targets that does not execute $(shell …), hence a parser of our own.
type makefile struct {
	rules    []*makeRule
	includes []makeInclude
	rest     strings.Builder // everything that is in no recipe
	wrong    string          // the first line that make would refuse
	spaces   string          // the first recipe line that begins with spaces
}

type makeRule struct {
	targets, prerequisites []string
	recipe                 []string
	doc                    string // what follows ## on the line of the rule
}

type makeInclude struct {
	names    []string
	required bool
}

// makeParser goes through the lines of a makefile.
type makeParser struct {
	file   *makefile
	lines  []string
	prefix byte      // of recipe lines
	rule   *makeRule // that recipe lines belong to
	indent int       // of the rule's line
	tabbed bool      // the rule has a recipe line
}

func parseMakefile(text string) *makefile {
	p := &makeParser{file: &makefile{}, lines: strings.Split(text, "\n"), prefix: '\t'}
	for i := 0; i < len(p.lines); {
		i = p.step(i)
	}
	return p.file
}

// step reads the line i, with those that continue it, and returns the next one.
func (p *makeParser) step(i int) int {
	first := p.lines[i]
	line, next := joined(p.lines, i)
	switch {
	case p.rule != nil && first != "" && first[0] == p.prefix:
		p.rule.recipe = append(p.rule.recipe, strings.Join(p.lines[i:next], "\n")[1:])
		p.tabbed = true
		return next
	case p.rule != nil && !p.tabbed && leading(first) > p.indent && strings.TrimSpace(first) != "":
		// Spaces where make wants a tab: a recipe to whoever wrote it.
		if p.file.spaces == "" && !strings.HasPrefix(strings.TrimSpace(first), "#") {
			p.file.spaces = fmt.Sprintf("line %d begins with spaces where make wants a tab", i+1)
		}
		p.rule.recipe = append(p.rule.recipe, line)
		return next
	}
	code, doc := uncommented(line)
	if strings.TrimSpace(code) == "" {
		return next
	}
	p.file.rest.WriteString(code + "\n")
	return p.statement(code, doc, i, next)
}

// statement takes one line that is in no recipe.
func (p *makeParser) statement(code, doc string, i, next int) int {
	words := strings.Fields(code)
	switch word := words[0]; {
	case slices.Contains([]string{"ifeq", "ifneq", "ifdef", "ifndef", "else", "endif"}, strings.SplitN(word, "(", 2)[0]):
	case word == "define" || len(words) > 1 && word == "override" && words[1] == "define":
		p.rule = nil
		return p.define(next)
	case slices.Contains([]string{"include", "-include", "sinclude"}, word):
		p.rule = nil
		p.file.includes = append(p.file.includes, makeInclude{words[1:], word == "include"})
	case slices.Contains([]string{"export", "unexport", "undefine", "vpath", "load", "-load"}, word):
		if _, _, isRule := ruleLine(code); !isRule {
			p.rule = nil
			break
		}
		fallthrough
	default:
		p.ruleOrVariable(code, doc, i)
	}
	return next
}

func (p *makeParser) ruleOrVariable(code, doc string, i int) {
	left, right, isRule := ruleLine(code)
	switch {
	case isRule:
		p.open(left, right, doc)
		p.indent = leading(p.lines[i])
	case hasAssignment(code):
		p.rule = nil
		if name, value, _ := strings.Cut(code, "="); strings.TrimRight(strings.TrimSpace(name), ":?") == ".RECIPEPREFIX" {
			p.prefix = '\t'
			if value = strings.TrimSpace(value); value != "" {
				p.prefix = value[0]
			}
		}
	case strings.HasPrefix(strings.TrimSpace(code), "$"): // a call that may expand to anything
	case p.file.wrong == "":
		p.file.wrong = fmt.Sprintf("line %d is no rule, variable or directive", i+1)
	}
}

// open begins a rule, unless the line only sets a variable for its targets.
func (p *makeParser) open(left, right, doc string) {
	if targetVariable(right) {
		return
	}
	right, inline, hasInline := strings.Cut(right, ";")
	if at := topLevel(right, ":"); at >= 0 { // a static pattern rule
		right = right[at+1:]
	}
	r := &makeRule{targets: strings.Fields(strings.TrimSuffix(strings.TrimSpace(left), "&")), prerequisites: strings.Fields(right), doc: doc}
	if hasInline {
		r.recipe = []string{strings.TrimSpace(inline)}
	}
	p.file.rules = append(p.file.rules, r)
	p.rule, p.tabbed = r, false
}

// define passes over the lines of a definition.
func (p *makeParser) define(i int) int {
	for depth := 1; i < len(p.lines) && depth > 0; i++ {
		words := strings.Fields(p.lines[i])
		p.file.rest.WriteString(p.lines[i] + "\n")
		switch {
		case len(words) > 0 && words[0] == "endef":
			depth--
		case len(words) > 1 && words[0] == "define":
			depth++
		}
	}
	return i
}

// joined returns the line i with those that a backslash adds to it, and the next one.
func joined(lines []string, i int) (string, int) {
	if !strings.HasSuffix(lines[i], `\`) {
		return lines[i], i + 1
	}
	var b strings.Builder
	for ; ; i++ {
		line, more := strings.CutSuffix(lines[i], `\`)
		if b.Len() > 0 {
			line = " " + strings.TrimLeft(line, " \t")
		}
		b.WriteString(line)
		if !more || i+1 == len(lines) {
			return b.String(), i + 1
		}
	}
}

func leading(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// uncommented splits a line at its comment; doc is the text of one that begins with ##.
func uncommented(line string) (code, doc string) {
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '#':
			if text, ok := strings.CutPrefix(line[i:], "##"); ok {
				doc = strings.TrimSpace(strings.TrimLeft(text, "#"))
			}
			return line[:i], doc
		}
	}
	return line, ""
}

// topLevel returns where one of the characters is outside of $(…) and ${…}, or -1.
func topLevel(s, chars string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '$' && i+1 < len(s) && (s[i+1] == '(' || s[i+1] == '{'):
			depth++
			i++
		case depth > 0 && (c == '(' || c == '{'):
			depth++
		case depth > 0 && (c == ')' || c == '}'):
			depth--
		case depth == 0 && strings.IndexByte(chars, c) >= 0:
			return i
		}
	}
	return -1
}

// ruleLine splits a line at the colon of a rule.
func ruleLine(code string) (left, right string, ok bool) {
	at := topLevel(code, ":=")
	if at < 0 || code[at] == '=' {
		return "", "", false
	}
	right = strings.TrimLeft(code[at:], ":")
	if strings.HasPrefix(right, "=") { // := and its like
		return "", "", false
	}
	return code[:at], right, strings.TrimSpace(code[:at]) != ""
}

func hasAssignment(code string) bool { return topLevel(code, "=") > 0 }

// targetVariable reports whether what follows a rule's colon sets a variable.
func targetVariable(right string) bool {
	at := topLevel(right, "=;")
	if at < 0 || right[at] == ';' {
		return false
	}
	words := strings.Fields(strings.TrimRight(right[:at], ":?+!"))
	for len(words) > 1 && slices.Contains([]string{"override", "export", "private"}, words[0]) {
		words = words[1:]
	}
	return len(words) == 1
}
