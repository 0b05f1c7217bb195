package evidence

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"

	"github.com/gantry-run/gantry/internal/lazyregexp"
)

// mdReader walks one Markdown document.
type mdReader struct {
	source   []byte
	starts   []int // offset of each line
	headings []heading
	blocks   []block
	lists    int
}

// parseMarkdown returns the paragraphs, list items and fences of a document.
// Tables, HTML blocks and indented code are not read.
func parseMarkdown(data []byte) []block {
	data = withoutFrontMatter(data)
	r := &mdReader{source: data, starts: lineStarts(data)}
	md := goldmark.New(goldmark.WithExtensions(extension.GFM))
	r.children(md.Parser().Parse(text.NewReader(data)), block{})
	return r.blocks
}

// withoutFrontMatter blanks a leading --- or +++ block.
func withoutFrontMatter(data []byte) []byte {
	for _, fence := range []string{"---\n", "+++\n"} {
		if !bytes.HasPrefix(data, []byte(fence)) {
			continue
		}
		if end := bytes.Index(data[4:], []byte("\n"+fence)); end >= 0 {
			head := bytes.Repeat([]byte("\n"), bytes.Count(data[:end+9], []byte("\n")))
			return append(head, data[end+9:]...)
		}
	}
	return data
}

func lineStarts(data []byte) []int {
	starts := []int{0}
	for i, c := range data {
		if c == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

// lineOf returns the line of an offset, from 1.
func (r *mdReader) lineOf(offset int) int {
	low, high := 0, len(r.starts)
	for low < high {
		mid := (low + high) / 2
		if r.starts[mid] <= offset {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return max(low, 1)
}

// children reads the blocks below a node; in carries what an enclosing list says.
func (r *mdReader) children(node ast.Node, in block) {
	before := ""
	for child := node.FirstChild(); child != nil; child = child.NextSibling() {
		plain := ""
		switch n := child.(type) {
		case *ast.Heading:
			r.heading(n)
		case *ast.Paragraph, *ast.TextBlock:
			plain = r.paragraph(n, in)
		case *ast.Blockquote:
			r.children(n, in)
		case *ast.List:
			r.list(n, in, before)
		case *ast.FencedCodeBlock:
			r.fence(n)
		}
		before = plain
	}
}

func (r *mdReader) heading(n *ast.Heading) {
	for len(r.headings) > 0 && r.headings[len(r.headings)-1].level >= n.Level {
		r.headings = r.headings[:len(r.headings)-1]
	}
	p := r.inline(n)
	title := atMost(plainText(strings.Join(strings.Fields(string(p.text)), " ")), maxTitle)
	line := 1
	if n.Lines().Len() > 0 {
		line = r.lineOf(n.Lines().At(0).Start)
	}
	r.headings = append(r.headings[:len(r.headings):len(r.headings)], heading{n.Level, title, slugOf(title), line})
}

// paragraph appends a paragraph, or a list item's text if in says so, and returns it as plain text.
func (r *mdReader) paragraph(n ast.Node, in block) string {
	b := in
	b.headings, b.prose = r.headings, r.inline(n)
	if b.prose.stripAlert(); len(b.prose.text) == 0 {
		return ""
	}
	b.start, b.end = int(b.prose.lines[0]), int(b.prose.lines[len(b.prose.lines)-1])
	r.blocks = append(r.blocks, b)
	return plainText(strings.Join(strings.Fields(string(b.prose.text)), " "))
}

func (r *mdReader) list(n *ast.List, in block, leadIn string) {
	r.lists++
	item := block{kind: listItem, list: r.lists, ordered: n.IsOrdered(), nested: in.kind == listItem, leadIn: atMost(leadIn, maxLeadIn)}
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		r.children(child, item)
	}
}

func (r *mdReader) fence(n *ast.FencedCodeBlock) {
	lines := n.Lines()
	if lines.Len() == 0 {
		return
	}
	var content bytes.Buffer
	for i := range lines.Len() {
		segment := lines.At(i)
		content.Write(segment.Value(r.source))
	}
	info := ""
	if n.Info != nil {
		info = string(n.Info.Segment.Value(r.source))
	}
	start := r.lineOf(lines.At(0).Start)
	r.blocks = append(r.blocks, block{
		kind: code, headings: r.headings, info: info, content: content.String(),
		start: start, end: start + lines.Len() - 1,
	})
}

// inline cleans what is inside a block: emphasis, images and HTML go, code and
// absolute links stay, relative links become their text.
func (r *mdReader) inline(n ast.Node) prose {
	var p prose
	r.inlines(n, &p, 0)
	return p
}

func (r *mdReader) inlines(parent ast.Node, p *prose, depth int) {
	if depth > 50 {
		return
	}
	for child := parent.FirstChild(); child != nil; child = child.NextSibling() {
		switch n := child.(type) {
		case *ast.Text:
			line := r.lineOf(n.Segment.Start)
			p.write(safeText(string(n.Segment.Value(r.source))), line)
			if n.SoftLineBreak() || n.HardLineBreak() {
				p.write(" ", line)
			}
		case *ast.String:
			p.write(safeText(string(n.Value)), p.lastLine())
		case *ast.CodeSpan:
			r.codeSpan(n, p)
		case *ast.Link:
			r.link(n, p, depth)
		case *ast.AutoLink:
			p.bare = true
			p.write("<"+string(n.URL(r.source))+">", p.lastLine())
		case *ast.RawHTML:
			r.rawHTML(n, p)
		case *ast.Image:
		case *extast.TaskCheckBox:
			p.bare = true // a plan, not a fact
		default:
			r.inlines(n, p, depth+1)
		}
	}
}

// htmlTag matches the tags that format a text, and comments.
var htmlTag = lazyregexp.New(`(?i)^<(!|\?|/?(a|abbr|b|big|br|center|cite|code|del|details|dfn|div|em|font|h[1-6]|hr|i|img|ins|kbd|li|mark|ol|p|picture|pre|q|s|samp|small|source|span|strong|sub|summary|sup|table|tbody|td|th|tr|tt|u|ul|var|video|wbr)\b)`)

// rawHTML drops a tag that formats and keeps as text what only looks like one: List<T>.
func (r *mdReader) rawHTML(n *ast.RawHTML, p *prose) {
	if n.Segments.Len() != 1 {
		return // a tag over several lines is markup
	}
	segment := n.Segments.At(0)
	if raw := string(segment.Value(r.source)); !htmlTag.MatchString(raw) {
		p.write(safeText(raw), r.lineOf(segment.Start))
	}
}

func (p *prose) lastLine() int {
	if len(p.lines) == 0 {
		return 1
	}
	return int(p.lines[len(p.lines)-1])
}

func (r *mdReader) codeSpan(n *ast.CodeSpan, p *prose) {
	var raw strings.Builder
	line := p.lastLine()
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		if t, ok := child.(*ast.Text); ok {
			if raw.Len() == 0 {
				line = r.lineOf(t.Segment.Start)
			}
			raw.Write(t.Segment.Value(r.source))
		}
	}
	content := strings.Join(strings.Fields(raw.String()), " ")
	if content == "" {
		return
	}
	if strings.Contains(content, "`") {
		p.write("`` "+content+" ``", line)
		return
	}
	p.write("`"+content+"`", line)
}

func (r *mdReader) link(n *ast.Link, p *prose, depth int) {
	from := len(p.text)
	r.inlines(n, p, depth+1)
	label := string(p.text[from:])
	if strings.TrimSpace(label) == "" {
		return
	}
	p.links += len(label)
	target := string(n.Destination)
	absolute := strings.HasPrefix(target, "https://") || strings.HasPrefix(target, "http://")
	if !absolute || strings.ContainsAny(target, " <>()\"{}") || strings.ContainsAny(label, "[]") {
		return
	}
	line := p.lines[from]
	rest := p.lines[from:]
	p.text, p.lines = append(p.text[:from:from], "["+label+"]("+target+")"...), append([]int32{}, p.lines[:from]...)
	p.lines = append(p.lines, line)
	p.lines = append(p.lines, rest...)
	for len(p.lines) < len(p.text) {
		p.lines = append(p.lines, rest[len(rest)-1])
	}
}

var alert = lazyregexp.New(`^\s*\[!\w+\]\s*`)

// stripAlert removes the [!NOTE] that opens a quoted note.
func (p *prose) stripAlert() {
	if loc := alert.FindIndex(p.text); loc != nil {
		p.text, p.lines = p.text[loc[1]:], p.lines[loc[1]:]
	}
}

// safeText escapes what would be HTML outside of code.
func safeText(s string) string { return strings.ReplaceAll(s, "<", "&lt;") }

var (
	linkPattern = lazyregexp.New(`\[([^\[\]]*)\]\([^()\s]*\)`)
	codePattern = lazyregexp.New("``? ?([^`]+?) ?``?")
)

// plainText reduces cleaned inline Markdown to words.
func plainText(md string) string {
	md = linkPattern.ReplaceAllString(md, "$1")
	md = codePattern.ReplaceAllString(md, "$1")
	return strings.NewReplacer("&lt;", "<", `\`, "").Replace(md)
}
