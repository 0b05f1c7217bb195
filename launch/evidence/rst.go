package evidence

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gantry-run/gantry/internal/lazyregexp"
)

// rstReader reads reStructuredText, and plain text, which is nearly a part of
// it: titles, paragraphs, bullets, literal blocks and code directives. Other
// directives, tables, fields and comments are passed over.
type rstReader struct {
	lines    []string
	at       int
	styles   []string // title adornments in the order met: the level of each
	headings []heading
	blocks   []block
	lists    int
	before   string // plain text of the paragraph right before
}

var (
	rstAdornment = lazyregexp.New("^(={3,}|-{3,}|~{3,}|\\^{3,}|\"{3,}|'{3,}|#{3,}|\\*{3,}|\\+{3,}|`{3,}|:{3,}|\\.{4,}|_{3,})\\s*$")
	rstBullet    = lazyregexp.New(`^(\s*)([-*+•]|\d{1,3}[.)]|#\.)\s+(\S.*)$`)
	rstDirective = lazyregexp.New(`^(\s*)\.\.\s+([\w-]+)::\s*(.*)$`)
	rstField     = lazyregexp.New(`^\s*:[\w -]+:(\s|$)`)
	rstTable     = lazyregexp.New(`^\s*(\+[-=+]+\+|\|.*\||={2,}( +={2,})+)\s*$`)
	rstOption    = lazyregexp.New(`^\s+:[\w-]+:`)
)

func parseRST(data []byte) []block {
	r := &rstReader{lines: strings.Split(string(data), "\n")}
	for r.at < len(r.lines) {
		r.step()
	}
	return r.blocks
}

// step reads one construct that starts at the current line.
func (r *rstReader) step() {
	line := r.lines[r.at]
	switch {
	case strings.TrimSpace(line) == "":
		r.at++
	case r.title():
	case rstDirective.MatchString(line):
		r.directive()
	case strings.HasPrefix(strings.TrimSpace(line), ".."):
		r.body(indent(line)) // a comment or a target
		r.before = ""
	case rstField.MatchString(line), rstTable.MatchString(line), strings.HasPrefix(strings.TrimSpace(line), ">>>"), rstAdornment.MatchString(line):
		r.skipBlock()
	case rstBullet.MatchString(line):
		r.list()
	case indent(line) >= 4:
		r.skipBlock() // a quotation or a table of sorts
	default:
		r.paragraph()
	}
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// skipBlock passes over the lines up to the next blank one.
func (r *rstReader) skipBlock() {
	for r.at < len(r.lines) && strings.TrimSpace(r.lines[r.at]) != "" {
		r.at++
	}
	r.before = ""
}

// title reads a title with its underline, and overline if it has one.
func (r *rstReader) title() bool {
	first := r.at
	style := ""
	if rstAdornment.MatchString(r.lines[first]) && first+2 < len(r.lines) && strings.TrimSpace(r.lines[first+2]) == strings.TrimSpace(r.lines[first]) {
		style, first = "over", first+1
	}
	if first+1 >= len(r.lines) {
		return false
	}
	name, under := strings.TrimSpace(r.lines[first]), strings.TrimRight(r.lines[first+1], " ")
	if name == "" || !rstAdornment.MatchString(under) || len(under)+2 < utf8.RuneCountInString(name) || style == "" && indent(r.lines[first]) > 0 {
		return false
	}
	style += under[:1]
	if !slices.Contains(r.styles, style) {
		r.styles = append(r.styles, style)
	}
	level := slices.Index(r.styles, style) + 1
	for len(r.headings) > 0 && r.headings[len(r.headings)-1].level >= level {
		r.headings = r.headings[:len(r.headings)-1]
	}
	plain := atMost(plainText(string(rstInline(name, first+1).text)), maxTitle)
	r.headings = append(r.headings[:len(r.headings):len(r.headings)], heading{level, plain, slugOf(plain), first + 1})
	r.at, r.before = first+2, ""
	return true
}

// body consumes the current line and the lines indented below it, and returns
// the latter with the common indent cut and the number of the first.
func (r *rstReader) body(base int) (lines []string, start int) {
	r.at++
	for r.at < len(r.lines) && (strings.TrimSpace(r.lines[r.at]) == "" || indent(r.lines[r.at]) > base) {
		lines = append(lines, r.lines[r.at])
		r.at++
	}
	start = r.at - len(lines) + 1
	for len(lines) > 0 && strings.TrimSpace(lines[0]) == "" {
		lines, start = lines[1:], start+1
	}
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	return lines, start
}

// directive keeps code and passes over the rest.
func (r *rstReader) directive() {
	m := rstDirective.FindStringSubmatch(r.lines[r.at])
	lines, start := r.body(len(m[1]))
	r.before = ""
	if !slices.Contains([]string{"code", "code-block", "sourcecode"}, m[2]) {
		return
	}
	for len(lines) > 0 && (rstOption.MatchString(lines[0]) || strings.TrimSpace(lines[0]) == "") {
		lines, start = lines[1:], start+1
	}
	r.code(lines, start, m[3])
}

func (r *rstReader) code(lines []string, start int, info string) {
	if len(lines) == 0 {
		return
	}
	cut := len(lines[0])
	for _, line := range lines {
		if strings.TrimSpace(line) != "" {
			cut = min(cut, indent(line))
		}
	}
	var content strings.Builder
	for _, line := range lines {
		content.WriteString(line[min(cut, len(line)):] + "\n")
	}
	r.blocks = append(r.blocks, block{kind: code, headings: r.headings, info: info, content: content.String(), start: start, end: start + len(lines) - 1})
}

// paragraph reads lines up to a blank one; a final "::" announces a literal block.
func (r *rstReader) paragraph() {
	start := r.at
	for r.at < len(r.lines) && strings.TrimSpace(r.lines[r.at]) != "" && (r.at == start || !rstDirective.MatchString(r.lines[r.at])) {
		r.at++
	}
	lines := r.lines[start:r.at]
	last := strings.TrimSpace(lines[len(lines)-1])
	r.add(block{kind: paragraph}, lines, start+1)
	if !strings.HasSuffix(last, "::") {
		return
	}
	base := indent(lines[0])
	r.at--
	body, first := r.body(base)
	if len(body) > 0 && indent(body[0]) > base {
		r.code(body, first, "")
	}
}

// list reads the items that follow one another.
func (r *rstReader) list() {
	r.lists++
	leadIn := atMost(r.before, maxLeadIn)
	base := indent(r.lines[r.at])
	for r.at < len(r.lines) {
		m := rstBullet.FindStringSubmatch(r.lines[r.at])
		if m == nil {
			break
		}
		start := r.at
		lines := []string{m[3]}
		for r.at++; r.at < len(r.lines) && indent(r.lines[r.at]) > len(m[1]) && !rstBullet.MatchString(r.lines[r.at]) && strings.TrimSpace(r.lines[r.at]) != ""; r.at++ {
			lines = append(lines, r.lines[r.at])
		}
		r.add(block{kind: listItem, list: r.lists, leadIn: leadIn, ordered: !strings.Contains("-*+•", m[2]), nested: len(m[1]) > base}, lines, start+1)
		next := r.at
		for next < len(r.lines) && strings.TrimSpace(r.lines[next]) == "" {
			next++
		}
		if next < len(r.lines) && rstBullet.MatchString(r.lines[next]) {
			r.at = next
		}
	}
	r.before = ""
}

func (r *rstReader) add(b block, lines []string, first int) {
	for i, line := range lines {
		p := rstInline(strings.TrimSpace(line), first+i)
		if i > 0 {
			b.prose.write(" ", first+i)
		}
		b.prose.text, b.prose.lines = append(b.prose.text, p.text...), append(b.prose.lines, p.lines...)
		b.prose.bare, b.prose.links = b.prose.bare || p.bare, b.prose.links+p.links
	}
	b.headings, b.start, b.end = r.headings, first, first+len(lines)-1
	if len(b.prose.text) > 0 {
		r.blocks = append(r.blocks, b)
	}
	r.before = plainText(strings.Join(strings.Fields(string(b.prose.text)), " "))
}

var (
	rstLink    = lazyregexp.New("`([^`<]+?)\\s*<([^`>]+)>`__?")
	rstRef     = lazyregexp.New("`([^`]+)`__?(\\W|$)")
	rstWordRef = lazyregexp.New(`(\w)_(\s|[.,;:)]|$)`)
	rstRole    = lazyregexp.New(":[\\w:+.-]+:`~?([^`<]+?)(?:\\s*<[^`>]*>)?`")
	rstLiteral = lazyregexp.New("``([^`]+)``")
	rstEmph    = lazyregexp.New(`\*\*([^*]+)\*\*|\*([^*\s][^*]*)\*`)
	rstSubst   = lazyregexp.New(`\|[\w -]+\|`)
	rstURL     = lazyregexp.New(`https?://\S+`)
)

// rstInline turns the inline markup of one line into Markdown.
func rstInline(line string, number int) prose {
	var p prose
	p.bare = rstURL.MatchString(rstLink.ReplaceAllString(line, "")) || rstSubst.MatchString(line)
	if strings.HasSuffix(line, "::") {
		line = line[:len(line)-1]
	}
	line = rstRole.ReplaceAllString(line, "``$1``")
	line = rstLink.ReplaceAllStringFunc(line, func(m string) string {
		parts := rstLink.FindStringSubmatch(m)
		p.links += len(parts[1])
		if strings.HasPrefix(parts[2], "http") && !strings.ContainsAny(parts[2], " ()\"{}") {
			return "[" + parts[1] + "](" + parts[2] + ")"
		}
		return parts[1]
	})
	line = rstLiteral.ReplaceAllString(line, "\x01$1\x01")
	line = rstRef.ReplaceAllString(line, "$1$2")
	line = rstWordRef.ReplaceAllString(line, "$1$2")
	line = rstEmph.ReplaceAllString(line, "$1$2")
	line = strings.NewReplacer("`", "", `\ `, "", "<", "&lt;").Replace(line)
	line = strings.ReplaceAll(line, "\x01", "`")
	p.write(line, number)
	return p
}
