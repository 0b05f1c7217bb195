package page

import (
	"cmp"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/gantry-run/gantry/internal/lazyregexp"
)

var (
	claimMarker   = lazyregexp.New(`<!--\s*claim_id:\s*(.*?)\s*-->`)
	snippetMarker = lazyregexp.New(`<!--\s*snippet_id:\s*(\S+?)\s*-->`)
	claimID       = lazyregexp.New(`^c[0-9a-f]{16}$`)
	comments      = lazyregexp.New(`(?s)<!--.*?(?:-->|\z)`)
	htmlAttr      = lazyregexp.New(`(?is)\s(id|name|href|src)\s*=\s*("[^"]*"|'[^']*'|[^\s"'>]+)`)
)

// ValidClaimID reports whether the text has the form of a claim id: c and 16
// lower-case hexadecimal digits.
func ValidClaimID(id string) bool { return claimID.MatchString(id) }

// reader fills a page from the syntax tree of its body. Offsets in the tree are
// those of the masked body.
type reader struct {
	*Page
	masked  []byte
	links   *linkParser
	linked  map[int]bool    // start of the shortcodes that are link destinations
	visible map[int]bool    // lines with a letter outside links
	prose   map[int]proseAt // lines of prose
}

// proseAt is where a line of prose stands in the source.
type proseAt struct {
	span
	leadIn bool
}

func (p *Page) readBody() {
	r := &reader{
		Page: p, masked: p.mask(), linked: map[int]bool{},
		links:   &linkParser{InlineParser: parser.NewLinkParser(), ends: map[ast.Node]span{}},
		visible: map[int]bool{}, prose: map[int]proseAt{},
	}
	doc := r.markdown()
	// The walk's only errors are the callback's, and it returns none.
	_ = ast.Walk(doc, r.visit)
	slices.SortFunc(p.code, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	slices.SortStableFunc(p.Fences, func(a, b Fence) int { return cmp.Compare(a.Line, b.Line) })
	r.bareRefs()
	slices.SortStableFunc(p.Links, func(a, b Link) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End))
	})
	r.markers()
	r.statements()
}

// markdown parses the masked body with the extensions that Hugo has on.
func (r *reader) markdown() ast.Node {
	inline := parser.DefaultInlineParsers()
	for i := range inline {
		if inline[i].Value == r.links.InlineParser {
			inline[i] = util.Prioritized(r.links, inline[i].Priority)
		}
	}
	md := goldmark.New(
		goldmark.WithParser(parser.NewParser(
			parser.WithBlockParsers(parser.DefaultBlockParsers()...),
			parser.WithInlineParsers(inline...),
			parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
			parser.WithAutoHeadingID(), parser.WithAttribute())),
		goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.Linkify,
			extension.TaskList, extension.DefinitionList, extension.Footnote))
	return md.Parser().Parse(text.NewReader(r.masked), parser.WithContext(parser.NewContext(parser.WithIDs(newAnchorIDs()))))
}

func (r *reader) visit(n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	switch n := n.(type) {
	case *ast.Heading:
		r.heading(n)
	case *ast.FencedCodeBlock:
		r.fence(n, n.Language(r.masked))
	case *ast.CodeBlock:
		r.fence(n, nil)
	case *ast.CodeSpan:
		r.codeSpan(n)
	case *ast.HTMLBlock:
		r.htmlBlock(n)
	case *ast.RawHTML:
		for i := range n.Segments.Len() {
			s := n.Segments.At(i)
			r.htmlLinks(s.Value(r.masked), s.Start)
		}
	case *ast.Link:
		r.link(n, n.Destination, n.Reference != nil, false)
	case *ast.Image:
		r.link(n, n.Destination, n.Reference != nil, true)
	case *ast.AutoLink:
		r.autoLink(n)
	case *ast.Paragraph, *ast.TextBlock:
		r.paragraph(n)
	case *east.TableRow:
		r.tableRow(n)
	case *ast.Text:
		r.text(n)
	}
	return ast.WalkContinue, nil
}

func (r *reader) heading(n *ast.Heading) {
	h := Heading{Level: n.Level, Text: strings.TrimSpace(r.unmask(plain(n, r.masked)))}
	if id, ok := n.AttributeString("id"); ok {
		if b, ok := id.([]byte); ok {
			h.ID = string(b)
			r.anchors[h.ID] = true
		}
	}
	h.Line = r.Line(max(n.Pos(), 0) + r.Body)
	if n.Lines().Len() > 0 {
		h.Line = r.Line(n.Lines().At(0).Start + r.Body)
	}
	r.Headings = append(r.Headings, h)
}

// plain returns the text under the node, without comments and tags.
func plain(n ast.Node, source []byte) string {
	var out strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := n.(*ast.Text); ok && entering {
			out.Write(t.Segment.Value(source))
			if t.SoftLineBreak() || t.HardLineBreak() {
				out.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return out.String()
}

func (r *reader) fence(n ast.Node, language []byte) {
	f := Fence{Info: strings.ToLower(string(language))}
	lines := n.Lines()
	var content strings.Builder
	for i := range lines.Len() {
		s := lines.At(i)
		content.Write(r.Source[s.Start+r.Body : s.Stop+r.Body])
	}
	f.Content = content.String()
	start := max(n.Pos(), 0) + r.Body
	f.Line = r.Line(start)
	f.EndLine = f.Line
	if lines.Len() > 0 {
		end := lines.At(lines.Len()-1).Stop + r.Body
		f.EndLine = r.Line(max(end-1, 0))
		r.code = append(r.code, span{start, end})
	}
	if before, ok := n.PreviousSibling().(*ast.HTMLBlock); ok {
		if m := snippetMarker.FindStringSubmatch(htmlText(before, r.masked)); m != nil {
			f.SnippetID = m[1]
		}
	}
	r.Fences = append(r.Fences, f)
}

func (r *reader) codeSpan(n *ast.CodeSpan) {
	first, ok := n.FirstChild().(*ast.Text)
	last, ok2 := n.LastChild().(*ast.Text)
	if ok && ok2 {
		r.code = append(r.code, span{first.Segment.Start + r.Body, last.Segment.Stop + r.Body})
	}
}

// markers collects the claim markers outside code.
func (r *reader) markers() {
	body := r.Source[r.Body:]
	for _, m := range claimMarker.FindAllSubmatchIndex(body, -1) {
		if at := m[0] + r.Body; !r.InCode(at) {
			r.Claims = append(r.Claims, Marker{ID: string(body[m[2]:m[3]]), Line: r.Line(at), Start: at, End: m[1] + r.Body})
		}
	}
}
