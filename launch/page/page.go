// Package page reads a page of a Hugo site the way Hugo does, and keeps track
// of where everything stands.
//
// [Parse] gives the front matter (YAML, TOML or JSON) as ordered fields, and
// from the body, through a Markdown syntax tree, its headings with the anchors
// that Hugo gives them, links and images, code blocks, shortcodes and
// statements. Each has its line, and links their bytes too, so that a gate can
// say where and a fix can change just that.
//
// # Statements
//
// A statement is a line that tells the reader something, and so needs a claim
// marker: a line of a paragraph or of a list item, a row of a table's body or a
// line of an HTML block, if it contains a letter outside comments, shortcodes
// and links. Not statements are headings, table heads and code blocks, lines
// that consist of links and punctuation (navigation), and a line that ends with
// a colon and directly introduces a code block or a list (a lead-in). A marker
// is <!-- claim_id: c0123456789abcdef --> on the same source line.
//
// # Shortcodes
//
// Hugo expands shortcodes before it reads Markdown. Parse does likewise: each
// shortcode becomes a placeholder of the same length before the Markdown parser
// sees the text, so every offset holds in the source as written.
//
// Nothing here touches the file system. A page never makes Parse panic or run
// for long: [MaxSize] and [MaxNesting] bound what it reads.
package page

import (
	"bytes"
	"sort"
	"unicode/utf8"

	"github.com/gantry-run/gantry/internal/fault"
)

// MaxSize is the largest page that Parse reads, in bytes.
const MaxSize = 1 << 20

// Page is one parsed page. Lines count from 1, offsets are bytes of Source.
type Page struct {
	Path       string // as given to Parse
	Source     []byte
	Front      Front
	Body       int // offset at which the text after the front matter starts
	Headings   []Heading
	Links      []Link      // links and images, by offset
	Fences     []Fence     // code blocks, by line
	Statements []Statement // by line
	Claims     []Marker    // claim markers outside code, by offset
	Shortcodes []Shortcode // by offset

	lines   []int           // offset of each line's first byte
	anchors map[string]bool // ids in the rendered page
	code    []span          // blocks and spans of code, by start
}

// Heading is one heading and the id that Hugo gives it.
type Heading struct {
	Level int
	Text  string // without markup
	Line  int
	ID    string
}

// Fence is a code block: fenced, indented or a highlight shortcode.
type Fence struct {
	Info      string // first word of the info string, lower case; "" if none
	Content   string // as written, without the fence's own indent
	Line      int    // the opening fence, or the first line of code
	EndLine   int    // the last line of code; Line if there is none
	SnippetID string // of the <!-- snippet_id: … --> before it; "" if none
}

// Statement is a line that tells the reader something.
type Statement struct {
	Line     int
	Text     string   // without comments, list marker and surrounding space
	ClaimIDs []string // of the line's well-formed claim markers
}

// Marker is a claim marker. ID is what was written, well formed or not.
type Marker struct {
	ID    string
	Line  int
	Start int // offset of the comment
	End   int
}

type span struct{ start, end int }

// Parse reads the page. Broken front matter is no error but in Front.Err; the
// body is then parsed all the same. The error is a fault INVALID_INPUT for a
// page that is too large or nested too deeply, or that is not UTF-8 text. Parse
// keeps src: do not change it.
func Parse(path string, src []byte) (*Page, error) {
	if err := checkText(src); err != nil {
		return nil, err
	}
	p := &Page{Path: path, Source: src, lines: lineStarts(src), anchors: map[string]bool{}}
	p.Front, p.Body = readFront(src)
	if err := checkNesting(src[p.Body:]); err != nil {
		return nil, err
	}
	p.readBody()
	return p, nil
}

// HasAnchor reports whether the rendered page has an element of the id.
func (p *Page) HasAnchor(id string) bool { return p.anchors[id] }

// InCode reports whether the byte stands in a code block or a code span.
func (p *Page) InCode(offset int) bool { return within(p.code, offset) }

// Line returns the line of the byte.
func (p *Page) Line(offset int) int {
	return sort.SearchInts(p.lines, offset+1)
}

// LineText returns the line without its line end, or "" if there is none.
func (p *Page) LineText(line int) string {
	start, end := p.lineSpan(line)
	return string(bytes.TrimRight(p.Source[start:end], "\r\n"))
}

// Title returns what the page is called: the text of its title field, else of
// its first heading, else "".
func (p *Page) Title() string {
	if f, ok := p.Front.Field("title"); ok && f.Text != "" {
		return f.Text
	}
	if len(p.Headings) > 0 {
		return p.Headings[0].Text
	}
	return ""
}

// lineSpan returns the bytes of a line with its line end.
func (p *Page) lineSpan(line int) (start, end int) {
	switch {
	case line < 1 || line > len(p.lines):
		return 0, 0
	case line == len(p.lines):
		return p.lines[line-1], len(p.Source)
	}
	return p.lines[line-1], p.lines[line]
}

func checkText(src []byte) error {
	switch {
	case len(src) > MaxSize:
		return fault.New(fault.InvalidInput, "the page has %d bytes, the limit is %d", len(src), MaxSize)
	case bytes.IndexByte(src, 0) >= 0:
		return fault.New(fault.InvalidInput, "the page is binary, not text")
	case !utf8.Valid(src):
		return fault.New(fault.InvalidInput, "the page is not valid UTF-8")
	}
	return nil
}

// within reports whether the offset lies in one of the spans, which are sorted
// and do not overlap.
func within(spans []span, offset int) bool {
	i := sort.Search(len(spans), func(i int) bool { return spans[i].start > offset })
	return i > 0 && offset < spans[i-1].end
}

func lineStarts(src []byte) []int {
	starts := []int{0}
	for i, c := range src {
		if c == '\n' && i+1 < len(src) {
			starts = append(starts, i+1)
		}
	}
	return starts
}
