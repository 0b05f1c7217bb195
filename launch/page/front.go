package page

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/gantry-run/gantry/internal/lazyregexp"
)

// The formats of front matter.
const (
	YAML = "yaml"
	TOML = "toml"
	JSON = "json"
)

// The types of a field's value, as the front matter contract names them.
const (
	String  = "string"
	Number  = "number"
	Boolean = "boolean"
	Date    = "date"
	List    = "list"
	Map     = "map"
	Null    = "null" // the key is there, the value is not
)

// Front is a page's front matter.
type Front struct {
	Format  string  // YAML, TOML, JSON; "" if the page has none
	Fields  []Field // top-level keys in the order in which they stand
	Line    int     // the opening delimiter
	EndLine int     // the closing delimiter
	Err     error   // why it could not be read; Fields is then empty
	ErrLine int     // where, as well as it is known
}

// Field is one top-level key.
type Field struct {
	Key   string
	Line  int
	Type  string   // "" if it cannot be known: an alias
	Text  string   // the value of a scalar; "" for a list, a map and null
	Items []string // the scalars of a list
}

// Field returns the field of the key.
func (f Front) Field(key string) (Field, bool) {
	for _, field := range f.Fields {
		if field.Key == key {
			return field, true
		}
	}
	return Field{}, false
}

var dateText = lazyregexp.New(`^\d{4}-\d{2}-\d{2}(?:[Tt ]+\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?\s*(?:[Zz]|[+-]\d{1,2}(?::?\d{2})?)?)?$`)

// Is reports whether the value can stand where the contract wants the type. A
// date may be written as a string, and a string may look like a date.
func (f Field) Is(want string) bool {
	switch {
	case f.Type == "" || f.Type == want:
		return true
	case want == Date:
		return f.Type == String && dateText.MatchString(f.Text)
	case want == String:
		return f.Type == Date
	}
	return false
}

// block is where front matter stands: the delimiters and what is between them.
// For JSON the braces belong to the content.
type block struct {
	format       string
	open         int // offset of the opening delimiter
	start, end   int // content
	body         int // offset after the closing delimiter and its line end
	unterminated bool
}

// ReadFront reads only the front matter of a page.
func ReadFront(src []byte) Front {
	if err := checkText(src); err != nil {
		return Front{}
	}
	f, _ := readFront(src)
	return f
}

// readFront reads the front matter and returns the offset of the body.
func readFront(src []byte) (Front, int) {
	b := findFront(src)
	if b.format == "" {
		return Front{}, b.body
	}
	f := Front{Format: b.format, Line: lineAt(src, b.open)}
	f.EndLine = lineAt(src, max(b.body-1, b.open))
	if b.unterminated {
		f.Err = fmt.Errorf("the %s front matter is not closed", strings.ToUpper(b.format))
		f.ErrLine = f.Line
		return f, b.body
	}
	content := unixLines(src[b.start:b.end])
	fields, line, err := parseFields(b.format, content)
	first := lineAt(src, b.start)
	if err != nil {
		f.Err, f.ErrLine = err, first+max(line, 1)-1
		return f, b.body
	}
	for i := range fields {
		fields[i].Line += first - 1
	}
	f.Fields = fields
	return f, b.body
}

// parseFields reads front matter's content; lines count from its start.
func parseFields(format string, content []byte) (fields []Field, line int, err error) {
	defer func() {
		if r := recover(); r != nil { // a parser that gives up is a page that cannot be read
			fields, line, err = nil, 1, fmt.Errorf("the %s front matter cannot be read", strings.ToUpper(format))
		}
	}()
	if err := checkFlow(content); err != nil {
		return nil, 1, err
	}
	switch format {
	case YAML:
		return yamlFields(content)
	case TOML:
		return tomlFields(content)
	}
	return jsonFields(content)
}

// findFront finds the front matter as Hugo does: after white space and a byte
// order mark, opened by ---, +++ or {.
func findFront(src []byte) block {
	at := len(src) - len(bytes.TrimLeft(src, "\ufeff \t\r\n"))
	rest := src[at:]
	switch {
	case isDelimiter(rest, "---"):
		return delimited(src, at, YAML, "---")
	case isDelimiter(rest, "+++"):
		return delimited(src, at, TOML, "+++")
	case bytes.HasPrefix(rest, []byte("{")) && !bytes.HasPrefix(rest, []byte("{{")):
		return braced(src, at)
	}
	return block{body: len(src) - len(bytes.TrimPrefix(src, []byte("\ufeff")))}
}

// isDelimiter reports whether the text starts with a line that is the mark.
func isDelimiter(text []byte, mark string) bool {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return string(bytes.TrimRight(line, " \t\r")) == mark
}

func delimited(src []byte, at int, format, mark string) block {
	b := block{format: format, open: at, start: nextLine(src, at)}
	for i := b.start; i < len(src); i = nextLine(src, i) {
		if isDelimiter(src[i:], mark) {
			b.end, b.body = i, nextLine(src, i)
			return b
		}
	}
	b.unterminated, b.end, b.body = true, b.start, b.start
	return b
}

// braced finds the end of the JSON object that starts at the offset.
func braced(src []byte, at int) block {
	b := block{format: JSON, open: at, start: at}
	depth, quoted := 0, false
	for i := at; i < len(src); i++ {
		switch c := src[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				b.end, b.body = i+1, nextLine(src, i)
				if len(bytes.TrimSpace(src[b.end:b.body])) > 0 {
					b.body = b.end
				}
				return b
			}
		}
	}
	b.unterminated, b.end, b.body = true, at, nextLine(src, at)
	return b
}

// nextLine returns the offset after the line end that follows the offset.
func nextLine(src []byte, at int) int {
	if i := bytes.IndexByte(src[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(src)
}

func lineAt(src []byte, at int) int { return 1 + bytes.Count(src[:at], []byte("\n")) }

// unixLines replaces each CR before a line feed by a space, which means nothing
// at a line's end and keeps offsets.
func unixLines(content []byte) []byte {
	return bytes.ReplaceAll(content, []byte("\r\n"), []byte(" \n"))
}
