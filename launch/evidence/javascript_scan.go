package evidence

import (
	"strings"

	"github.com/gantry-run/gantry/internal/lazyregexp"
)

// jsStatement is a statement of a file's top level: its text up to the bound,
// its first line, and the first sentence of the JSDoc comment before it.
type jsStatement struct {
	text     string
	line     int
	doc      string
	body     string // what stands in the first braces of the top level, whole
	bodyLine int    // the line on which that begins
}

const maxStatement = 4000

// jsScanner splits a file into its top-level statements. It knows strings,
// template literals, comments and regular expressions, so nothing inside one is
// taken for code.
type jsScanner struct {
	src        string
	at, line   int
	depth      int
	text       strings.Builder
	start      int
	doc        string
	last       byte // the last byte of code that is no space
	open       int  // offset after the first brace of the statement, 0 if there was none
	openLine   int
	body       string
	statements []jsStatement
}

func jsStatements(src string) []jsStatement {
	s := &jsScanner{src: src, line: 1}
	for s.at < len(src) {
		s.step()
	}
	s.flush()
	return s.statements
}

func (s *jsScanner) step() {
	c := s.src[s.at]
	rest := s.src[s.at:]
	switch {
	case c == '\n':
		s.newline()
	case strings.HasPrefix(rest, "//"), s.at == 0 && strings.HasPrefix(rest, "#!"):
		s.skipTo(strings.IndexByte(rest, '\n'))
	case strings.HasPrefix(rest, "/*"):
		s.comment(rest)
	case c == '"' || c == '\'' || c == '`':
		s.quoted(c)
	case c == '/' && s.regexpMayStart():
		s.regexp()
	case c == '{' || c == '(' || c == '[':
		if c == '{' && s.depth == 0 && s.open == 0 {
			s.open, s.openLine = s.at+1, s.line
		}
		s.depth++
		s.emit(c)
	case c == '}' || c == ')' || c == ']':
		s.depth = max(s.depth-1, 0)
		if c == '}' && s.depth == 0 && s.open > 0 && s.body == "" {
			s.body = s.src[s.open:s.at]
		}
		s.emit(c)
		if c == '}' && s.depth == 0 && s.endsBlock() {
			s.flush()
		}
	case c == ';' && s.depth == 0:
		s.emit(c)
		s.flush()
	default:
		s.emit(c)
	}
}

// newline ends a statement where the next line cannot continue it.
func (s *jsScanner) newline() {
	s.line++
	s.at++
	if s.depth > 0 || s.text.Len() == 0 {
		s.space()
		return
	}
	next := strings.TrimLeft(s.src[s.at:min(len(s.src), s.at+200)], " \t\r\n")
	if strings.IndexByte("=,+-*/(.&|?:<[{", s.last) < 0 && jsStarts.MatchString(next) {
		s.flush()
		return
	}
	s.space()
}

var jsStarts = lazyregexp.New(`^(export|import|module\.exports|exports\.|exports\s*=|const|let|var|function|class|async function|interface|type \w|enum|declare|abstract|/\*|//|@)`)

func (s *jsScanner) space() {
	if s.text.Len() > 0 && s.text.Len() < maxStatement {
		s.text.WriteByte(' ')
	}
}

func (s *jsScanner) emit(c byte) {
	s.at++
	if c == ' ' || c == '\t' || c == '\r' {
		s.space()
		return
	}
	if s.text.Len() == 0 {
		s.start = s.line
	}
	if s.text.Len() < maxStatement {
		s.text.WriteByte(c)
	}
	s.last = c
}

// endsBlock reports whether a closing brace at the top level ends the statement.
func (s *jsScanner) endsBlock() bool {
	head := s.text.String()
	return jsBlock.MatchString(head) && !strings.HasPrefix(head, "export {") && !strings.HasPrefix(head, "export type {") && !strings.HasPrefix(head, "import")
}

var jsBlock = lazyregexp.New(`^(export\s+)?(declare\s+)?(default\s+)?(abstract\s+)?(async\s+)?(function|class|interface|enum|namespace|if|for|while|try|switch)\b`)

func (s *jsScanner) flush() {
	if text := strings.TrimSpace(s.text.String()); text != "" && text != ";" {
		s.statements = append(s.statements, jsStatement{text, s.start, s.doc, s.body, s.openLine})
		s.doc = ""
	}
	s.open, s.openLine, s.body = 0, 0, ""
	s.text.Reset()
	s.last = 0
}

// skipTo moves n bytes on, or to the end when n is negative, counting lines.
func (s *jsScanner) skipTo(n int) {
	end := len(s.src)
	if n >= 0 {
		end = min(end, s.at+n)
	}
	s.line += strings.Count(s.src[s.at:end], "\n")
	s.at = end
}

func (s *jsScanner) comment(rest string) {
	end := strings.Index(rest[2:], "*/")
	if end < 0 {
		s.skipTo(-1)
		return
	}
	if s.depth == 0 && s.text.Len() == 0 {
		s.doc = ""
		if strings.HasPrefix(rest, "/**") && end > 1 {
			s.doc = jsDoc(rest[3 : end+2])
		}
	}
	s.skipTo(end + 4)
}

// jsDoc returns the first sentence of a JSDoc comment.
func jsDoc(comment string) string {
	var lines []string
	for line := range strings.Lines(comment) {
		line = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), "*"))
		if strings.HasPrefix(line, "@") {
			break
		}
		lines = append(lines, line)
	}
	return jsMarkdown(firstSentence(strings.Join(lines, "\n")))
}

var jsInlineTag = lazyregexp.New(`\{@\w+\s+([^}|\s]+)(?:[|\s][^}]*)?\}`)

// jsMarkdown makes a JSDoc sentence, which may hold Markdown, safe on a page.
func jsMarkdown(doc string) string {
	doc = jsInlineTag.ReplaceAllString(doc, "`$1`")
	if linkPattern.MatchString(doc) {
		return safeText(doc)
	}
	return escapeDoc(doc)
}

// quoted passes over a string or a template literal, of which the text keeps
// short ones: a module's name is one.
func (s *jsScanner) quoted(quote byte) {
	from := s.at
	i := s.at + 1
	for i < len(s.src) && s.src[i] != quote && (quote == '`' || s.src[i] != '\n') {
		if s.src[i] == '\\' {
			i++
		}
		i++
	}
	end := min(i+1, len(s.src))
	literal := s.src[from:end]
	if s.text.Len() == 0 {
		s.start = s.line
	}
	if len(literal) < 200 && quote != '`' && s.text.Len() < maxStatement {
		s.text.WriteString(literal)
	} else if s.text.Len() < maxStatement {
		s.text.WriteString(string(quote) + string(quote))
	}
	s.last = quote
	s.skipTo(end - from)
}

// regexpMayStart reports whether a slash here opens a regular expression: where
// an operand is due.
func (s *jsScanner) regexpMayStart() bool {
	return s.last == 0 || strings.IndexByte("=(,:[!&|?{};+-*%<>~^", s.last) >= 0
}

func (s *jsScanner) regexp() {
	class := false
	for i := s.at + 1; i < len(s.src) && s.src[i] != '\n'; i++ {
		switch c := s.src[i]; {
		case c == '\\':
			i++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			s.skipTo(i + 1 - s.at)
			s.last = '/'
			return
		}
	}
	s.emit('/') // a division after all
}
