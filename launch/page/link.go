package page

import (
	"bytes"
	"html"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// The kinds of a link.
const (
	Inline    = "inline"    // [text](dest)
	Reference = "reference" // [text][label], with its definition elsewhere
	Auto      = "auto"      // <https://…> or a bare address
	HTML      = "html"      // an href or src attribute
	Ref       = "ref"       // a ref or relref shortcode that is no link's destination
)

// Link is one link or image.
type Link struct {
	Kind  string
	Dest  string // without escapes; of a ref or relref shortcode, its argument
	IsRef bool   // Dest names a page as ref and relref do
	Image bool
	Text  string // the label, as written
	Line  int
	Start int // the whole link; of HTML, the attribute's value
	End   int
	label span
}

// Widened returns the link as it stands after its label grew by so many bytes.
func (l Link) Widened(by int) Link {
	l.End += by
	l.label.end += by
	return l
}

// Relink returns the page with the link's destination replaced, for a ref or
// relref the shortcode's argument. The label stays; a reference becomes an
// inline link, and a title is dropped.
func (p *Page) Relink(l Link, dest string) []byte {
	switch {
	case l.IsRef:
		at := l.Start + max(strings.LastIndex(string(p.Source[l.Start:l.End]), l.Dest), 0)
		return p.splice(at, min(at+len(l.Dest), l.End), strings.ReplaceAll(dest, `"`, ""))
	case l.Kind == HTML:
		return p.splice(l.Start, l.End, html.EscapeString(dest))
	case l.Kind == Auto:
		return p.splice(l.Start, l.End, "<"+dest+">")
	}
	label := p.Source[l.label.start:l.label.end]
	bang := ""
	if l.Image {
		bang = "!"
	}
	if strings.ContainsAny(dest, " ()<>") {
		dest = "<" + strings.NewReplacer("<", "%3C", ">", "%3E").Replace(dest) + ">"
	}
	return p.splice(l.Start, l.End, bang+"["+string(label)+"]("+dest+")")
}

// Unlink returns the page without the link but with its text; an image goes
// altogether. It reports false for a link that has no text to keep: an HTML
// attribute or a bare shortcode.
func (p *Page) Unlink(l Link) ([]byte, bool) {
	switch {
	case l.Kind == HTML || l.Kind == Ref:
		return nil, false
	case l.Image:
		return p.splice(l.Start, l.End, ""), true
	case l.Kind == Auto:
		return p.splice(l.Start, l.End, "`"+strings.ReplaceAll(l.Text, "`", "")+"`"), true
	}
	return p.splice(l.Start, l.End, string(p.Source[l.label.start:l.label.end])), true
}

func (p *Page) splice(start, end int, text string) []byte {
	return slices.Concat(p.Source[:start], []byte(text), p.Source[end:])
}

// linkParser is the Markdown parser's own for links, which also records where
// each link's label and the link itself end: the syntax tree does not tell.
type linkParser struct {
	parser.InlineParser
	ends map[ast.Node]span // start: of the label's ], end: after the link
}

func (l *linkParser) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	_, at := block.Position()
	node := l.InlineParser.Parse(parent, block, pc)
	switch node.(type) {
	case *ast.Link, *ast.Image:
		_, end := block.Position()
		l.ends[node] = span{at.Start, end.Start}
	}
	return node
}

// CloseBlock implements parser.CloseBlocker, which the wrapped parser needs.
func (l *linkParser) CloseBlock(parent ast.Node, block text.Reader, pc parser.Context) {
	if c, ok := l.InlineParser.(parser.CloseBlocker); ok {
		c.CloseBlock(parent, block, pc)
	}
}

func (r *reader) link(n ast.Node, dest []byte, reference, image bool) {
	ends, ok := r.links.ends[n]
	if !ok {
		return
	}
	l := Link{Kind: Inline, Image: image, Start: n.Pos() + r.Body, End: ends.end + r.Body}
	if reference {
		l.Kind = Reference
	}
	l.label = span{l.Start + 1, ends.start + r.Body}
	if image {
		l.label.start++
	}
	if l.label.start > l.label.end || l.label.end > l.End || l.End > len(r.Source) {
		return
	}
	l.Text = string(r.Source[l.label.start:l.label.end])
	r.aim(&l, string(util.UnescapePunctuations(bytes.Clone(dest))))
	r.addLink(l)
}

func (r *reader) autoLink(n *ast.AutoLink) {
	label := string(n.Label(r.masked))
	start := n.Pos()
	if start < 0 || start+len(label) > len(r.masked) {
		return
	}
	end := start + len(label)
	if r.masked[start] == '<' {
		end += 2
	}
	dest := string(n.URL(r.masked))
	if n.AutoLinkType == ast.AutoLinkEmail {
		dest = "mailto:" + dest
	}
	r.addLink(Link{Kind: Auto, Dest: dest, Text: label, Start: start + r.Body, End: min(end+r.Body, len(r.Source))})
}

// htmlLinks finds links and ids in raw HTML that starts at the offset of the body.
func (r *reader) htmlLinks(text []byte, at int) {
	for _, m := range htmlAttr.FindAllSubmatchIndex(text, -1) {
		name := strings.ToLower(string(text[m[2]:m[3]]))
		start, end := m[4], m[5]
		value := text[start:end]
		if len(value) > 1 && (value[0] == '"' || value[0] == '\'') {
			start, end = start+1, end-1
		}
		value = text[start:end]
		switch name {
		case "id", "name":
			r.anchors[html.UnescapeString(string(value))] = true
		case "href", "src":
			l := Link{Kind: HTML, Image: name == "src", Start: at + start + r.Body, End: at + end + r.Body}
			r.aim(&l, string(value))
			r.addLink(l)
		}
	}
}

// aim sets where the link leads.
func (r *reader) aim(l *Link, dest string) {
	if s, ok := r.shortcodeAt(dest); ok {
		r.linked[s.Start] = true
		if path, ok := s.ref(); ok {
			l.Dest, l.IsRef = path, true
			return
		}
	}
	l.Dest = r.unmask(html.UnescapeString(dest))
}

// bareRefs adds the ref shortcodes that are no link's destination.
func (r *reader) bareRefs() {
	for _, s := range r.Shortcodes {
		if path, ok := s.ref(); ok && !r.linked[s.Start] && !r.InCode(s.Start) {
			r.addLink(Link{Kind: Ref, Dest: path, IsRef: true, Start: s.Start, End: s.End})
		}
	}
}

func (r *reader) addLink(l Link) {
	l.Line = r.Line(l.Start)
	r.Links = append(r.Links, l)
}
