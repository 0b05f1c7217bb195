package page

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"

	"github.com/gantry-run/gantry/internal/lazyregexp"
)

// paragraph notes the lines of a paragraph or of a list item's text.
func (r *reader) paragraph(n ast.Node) {
	lines := n.Lines()
	for i := range lines.Len() {
		s := lines.At(i)
		line := r.proseLine(span{s.Start + r.Body, s.Stop + r.Body})
		if i == lines.Len()-1 && introduces(n, r.masked) && endsWithColon(r.Source[s.Start+r.Body:s.Stop+r.Body]) {
			at := r.prose[line]
			at.leadIn = true
			r.prose[line] = at
		}
	}
}

func (r *reader) tableRow(n *east.TableRow) {
	if n.Pos() < 0 {
		return
	}
	start, end := r.lineSpan(r.Line(n.Pos() + r.Body))
	r.proseLine(span{start, end})
}

// proseLine notes that the bytes, all of one line, are prose.
func (r *reader) proseLine(at span) int {
	line := r.Line(at.start)
	if old, ok := r.prose[line]; ok {
		at = span{min(old.start, at.start), max(old.end, at.end)}
	}
	r.prose[line] = proseAt{span: at}
	return line
}

// text notes which lines have a letter that is not a link's.
func (r *reader) text(n *ast.Text) {
	start, stop := n.Segment.Start, min(n.Segment.Stop, len(r.masked))
	if start >= stop || !hasLetter(string(r.masked[start:stop])) {
		return
	}
	for up := n.Parent(); up != nil; up = up.Parent() {
		switch up.(type) {
		case *ast.Link, *ast.Image, *ast.AutoLink, *ast.Heading, *east.TableHeader:
			return
		}
	}
	r.visible[r.Line(start+r.Body)] = true
}

// introduces reports whether code or a list follows the node directly, comments
// apart.
func introduces(n ast.Node, source []byte) bool {
	next := n.NextSibling()
	for {
		block, ok := next.(*ast.HTMLBlock)
		if !ok || strings.TrimSpace(comments.ReplaceAllString(htmlText(block, source), "")) != "" {
			break
		}
		next = next.NextSibling()
	}
	switch next.(type) {
	case *ast.FencedCodeBlock, *ast.CodeBlock, *ast.List:
		return true
	}
	return false
}

func endsWithColon(line []byte) bool {
	text := comments.ReplaceAllString(string(line), "")
	return strings.HasSuffix(strings.TrimRight(text, " \t\r\n*_"), ":")
}

var (
	hidden = lazyregexp.New(`(?is)<!--.*?(?:-->|\z)|<script\b.*?(?:</script>|\z)|<style\b.*?(?:</style>|\z)|<a\s.*?</a>`)
	tags   = lazyregexp.New(`<[^>]*>`)
)

// htmlBlock notes the lines of raw HTML that have text, with its links and ids.
func (r *reader) htmlBlock(n *ast.HTMLBlock) {
	start, end := htmlSpan(n)
	if start < 0 {
		return
	}
	raw := r.masked[start:end]
	r.htmlLinks(raw, start)
	blank := func(s []byte) []byte {
		out := make([]byte, len(s))
		for i, c := range s {
			out[i] = ' '
			if c == '\n' {
				out[i] = c
			}
		}
		return out
	}
	shown := tags.ReplaceAllFunc(hidden.ReplaceAllFunc(raw, blank), blank)
	at := start
	for line := range strings.Lines(string(shown)) {
		if hasLetter(line) {
			number := r.proseLine(span{at + r.Body, at + len(line) + r.Body})
			r.visible[number] = true
		}
		at += len(line)
	}
}

// htmlSpan returns where the block stands, its closing line included, or -1.
func htmlSpan(n *ast.HTMLBlock) (start, end int) {
	start, end = -1, -1
	if lines := n.Lines(); lines.Len() > 0 {
		start, end = lines.At(0).Start, lines.At(lines.Len()-1).Stop
	}
	if n.HasClosure() {
		if start < 0 {
			start = n.ClosureLine.Start
		}
		end = n.ClosureLine.Stop
	}
	return start, end
}

func htmlText(n *ast.HTMLBlock, source []byte) string {
	start, end := htmlSpan(n)
	if start < 0 {
		return ""
	}
	return string(source[start:end])
}

// statements turns lines of prose with visible letters into statements.
func (r *reader) statements() {
	cited := map[int][]string{}
	for _, m := range r.Claims {
		if ValidClaimID(m.ID) {
			cited[m.Line] = append(cited[m.Line], m.ID)
		}
	}
	for _, line := range slices.Sorted(maps.Keys(r.prose)) {
		at := r.prose[line]
		if !r.visible[line] || at.leadIn {
			continue
		}
		text := comments.ReplaceAllString(string(r.Source[at.start:at.end]), "")
		r.Statements = append(r.Statements, Statement{Line: line, Text: strings.TrimSpace(text), ClaimIDs: cited[line]})
	}
}

func hasLetter(s string) bool { return strings.IndexFunc(s, unicode.IsLetter) >= 0 }
