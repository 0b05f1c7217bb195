package evidence

import (
	"context"
	"path"
	"strings"
	"unicode"

	"github.com/gantry-run/gantry/internal/lazyregexp"
)

// document is a text of the repository as blocks, whatever markup it is in.
type document struct {
	path   string
	readme bool // the top-level one
	entry  bool // prose is read too, not code alone
	blocks []block
}

type blockKind int

const (
	paragraph blockKind = iota
	listItem
	code
)

// block is a paragraph, a list item or a piece of code.
type block struct {
	kind     blockKind
	headings []heading // above it, outermost first
	prose    prose     // of a paragraph or an item
	list     int       // items of one list share a number
	ordered  bool
	nested   bool
	leadIn   string // plain text of the paragraph right before the list
	start    int    // first and last line, from 1
	end      int
	info     string // of code: the fence's info string
	content  string
}

type heading struct {
	level int
	title string
	slug  string
	line  int
}

// prose is inline Markdown, cleaned, with the line of each byte.
type prose struct {
	text  []byte
	lines []int32
	bare  bool // it holds an address that is not behind a text
	links int  // bytes that are the text of links
}

func (p *prose) write(s string, line int) {
	for i := range len(s) {
		p.text = append(p.text, s[i])
		p.lines = append(p.lines, int32(line))
	}
}

// slice returns the text of a byte range and its first and last line.
func (p prose) slice(from, to int) (text string, start, end int) {
	for from < to && isSpace(p.text[from]) {
		from++
	}
	for to > from && isSpace(p.text[to-1]) {
		to--
	}
	if from == to {
		return "", 0, 0
	}
	return strings.Join(strings.Fields(string(p.text[from:to])), " "), int(p.lines[from]), int(p.lines[to-1])
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' }

// section returns the innermost heading, or none.
func (b block) section() heading {
	if len(b.headings) == 0 {
		return heading{}
	}
	return b.headings[len(b.headings)-1]
}

func (d document) anchor(b block) string { return d.path + "#" + b.section().slug }

// The most that is kept of a heading and of a lead-in, which are looked at again
// for each block below them.
const (
	maxTitle  = 200
	maxLeadIn = 300
)

// atMost returns the text if it is no longer than the bound, else nothing.
func atMost(text string, bound int) string {
	if len(text) > bound {
		return ""
	}
	return text
}

// slugOf is a heading's anchor: lower case, hyphens for spaces, letters and digits only.
func slugOf(title string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(title) {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	return strings.Trim(b.String(), "-")
}

// Bounds on the documents together: what is read of them is kept to the end.
const (
	maxDocuments     = 300
	maxDocumentBytes = 8 << 20
)

// readDocuments parses the entry documents, and for their code the other documents, up
// to the bounds.
func (g *gatherer) readDocuments(ctx context.Context) {
	entries := map[string]bool{}
	paths := g.inv.DocEntrypoints
	for _, name := range paths {
		entries[name] = true
	}
	for _, file := range g.inv.Paths {
		if file.Role == "doc" && !entries[file.Path] && !processDoc.MatchString(path.Base(file.Path)) && !inDir(file.Path, ".github", "internal", "design") {
			paths = append(paths[:len(paths):len(paths)], file.Path)
		}
	}
	bytes := 0
	for i, name := range paths {
		if ctx.Err() != nil {
			return
		}
		if len(g.docs) == maxDocuments || bytes > maxDocumentBytes {
			g.leftOut = len(paths) - i
			return
		}
		data, ok := g.read(name, maxDocument)
		if !ok {
			if entries[name] {
				g.unread = append(g.unread, name)
			}
			continue
		}
		bytes += len(data)
		doc := document{path: name, readme: i == 0 && isReadme(name), entry: entries[name]}
		doc.blocks = parseDocument(name, withoutLongLines(data))
		doc.liftContents()
		g.docs = append(g.docs, doc)
	}
}

var contentsHeading = lazyregexp.New(`(?i)^\W*(table of contents|contents|toc)\W*$`)

// liftContents takes code out from under the heading of the table of contents,
// behind which it stands.
func (d document) liftContents() {
	for i := range d.blocks {
		if b := &d.blocks[i]; b.kind == code && contentsHeading.MatchString(b.section().title) {
			b.headings = b.headings[:len(b.headings)-1]
		}
	}
}

func parseDocument(name string, data []byte) []block {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".markdown", ".mdx":
		return parseMarkdown(data)
	case ".rst", ".txt", "":
		return parseRST(data)
	}
	return nil
}

func isReadme(name string) bool {
	stem, _, _ := strings.Cut(strings.ToLower(name), ".")
	return stem == "readme"
}
