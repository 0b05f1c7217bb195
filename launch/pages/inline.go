package pages

import (
	"html"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"github.com/gantry-run/gantry/internal/lazyregexp"
)

// inline renders the text of a claim for a page: one line of inline Markdown.
// Links to files of the repository lead to the repository, other relative links
// and images lose their target, HTML goes, and nothing can open a block, a
// comment or a shortcode. It returns "" for text that cannot be shown.
func inline(claim string, repo repoLinks, from string) string {
	claim, ok := asParagraph(strings.Join(strings.Fields(claim), " "))
	if !ok {
		return ""
	}
	w := inlineWriter{source: []byte(claim), repo: repo, from: from}
	w.children(goldmark.DefaultParser().Parse(text.NewReader(w.source)).FirstChild())
	w.flush()
	line, ok := asParagraph(strings.Join(strings.Fields(w.out.String()), " "))
	if !ok || strings.IndexFunc(line, unicode.IsLetter) < 0 || !shows(line) {
		return ""
	}
	return line
}

// asParagraph escapes the line's start if it would open another block than a
// paragraph; it reports false if that does not help.
func asParagraph(line string) (string, bool) {
	line = guardStart(line)
	for _, try := range []string{line, `\` + line} {
		first := goldmark.DefaultParser().Parse(text.NewReader([]byte(try))).FirstChild()
		if first == nil || first.Kind() == ast.KindHTMLBlock {
			return "", false
		}
		if first.Kind() == ast.KindParagraph && first.NextSibling() == nil {
			return try, true
		}
	}
	return "", false
}

// shows reports whether Hugo would show the line as it is.
func shows(line string) bool {
	return !strings.Contains(line, "{{<") && !strings.Contains(line, "{{%") && !strings.Contains(line, "<!--")
}

var ordered = lazyregexp.New(`^(\d{1,9})([.)])( |$)`)

// guardStart escapes what would make a block of the line's start.
func guardStart(line string) string {
	if m := ordered.FindStringSubmatchIndex(line); m != nil {
		return line[:m[4]] + `\` + line[m[4]:]
	}
	if line == "" {
		return line
	}
	switch line[0] {
	case '#', '>', '|', '=', ':', '~':
		return `\` + line
	case '-', '+', '*':
		if len(line) == 1 || line[1] == ' ' || line[1] == line[0] && line[0] == '-' {
			return `\` + line
		}
	}
	return line
}

type inlineWriter struct {
	out    strings.Builder
	text   strings.Builder // literal text that is not yet in out
	source []byte
	repo   repoLinks
	from   string // the file that the claim is from
}

func (w *inlineWriter) children(n ast.Node) {
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		w.node(child)
	}
}

func (w *inlineWriter) node(n ast.Node) {
	switch n := n.(type) {
	case *ast.Text:
		w.literal(string(n.Segment.Value(w.source)))
		if n.SoftLineBreak() || n.HardLineBreak() {
			w.literal(" ")
		}
	case *ast.String:
		w.literal(string(n.Value))
	case *ast.CodeSpan:
		w.raw(codeSpan(spanText(n, w.source)))
	case *ast.Emphasis:
		mark := strings.Repeat("*", n.Level)
		w.raw(mark)
		w.children(n)
		w.raw(mark)
	case *ast.Link:
		w.link(n)
	case *ast.AutoLink:
		w.raw("<" + string(n.URL(w.source)) + ">")
	case *ast.RawHTML, *ast.Image: // gone
	default:
		w.children(n)
	}
}

// link keeps a link that leads somewhere from a page, and else its text.
func (w *inlineWriter) link(n *ast.Link) {
	dest := w.target(string(n.Destination))
	if dest == "" {
		w.children(n)
		return
	}
	w.raw("[")
	w.children(n)
	w.raw("](" + dest + ")")
}

var scheme = lazyregexp.New(`^[A-Za-z][A-Za-z0-9+.-]*:`)

func (w *inlineWriter) target(dest string) string {
	if strings.ContainsAny(dest, " <>(){}\\\"") {
		return ""
	}
	if s := scheme.FindString(dest); s != "" {
		if s == "https:" || s == "http:" || s == "mailto:" {
			return dest
		}
		return ""
	}
	if strings.HasPrefix(dest, "//") || strings.HasPrefix(dest, "#") || dest == "" {
		return ""
	}
	name, anchor, _ := strings.Cut(dest, "#")
	if absolute, ok := strings.CutPrefix(name, "/"); ok {
		name = path.Clean(absolute)
	} else {
		name = path.Join(path.Dir(w.from), name)
	}
	url := w.repo.file(name, 0, 0)
	if url != "" && anchor != "" {
		url += "#" + anchor
	}
	return url
}

var upperToken = lazyregexp.New(`__([A-Z][A-Z0-9_]*)__`)

// literal writes text that the parser found to be no markup. It may hold
// backslash escapes and entities, which stay.
func (w *inlineWriter) literal(s string) { w.text.WriteString(s) }

// raw writes Markdown as it is.
func (w *inlineWriter) raw(s string) {
	w.flush()
	w.out.WriteString(s)
}

// flush writes the literal text, which came in pieces, so that it stays literal.
func (w *inlineWriter) flush() {
	s := strings.ReplaceAll(w.text.String(), "{{", "&#123;&#123;")
	s = upperToken.ReplaceAllString(s, `\_\_$1\_\_`)
	w.text.Reset()
	escaped := false
	for _, r := range s {
		switch {
		case r == '<' && !escaped:
			w.out.WriteString("&lt;")
		case r == '`' && !escaped:
			w.out.WriteString("\\`")
		default:
			w.out.WriteRune(r)
		}
		escaped = r == '\\' && !escaped
	}
}

func spanText(n *ast.CodeSpan, source []byte) string {
	var b strings.Builder
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		if t, ok := child.(*ast.Text); ok {
			b.Write(t.Segment.Value(source))
		}
	}
	return b.String()
}

// codeSpan encloses code in as many backticks as it takes.
func codeSpan(code string) string {
	code = strings.Join(strings.Fields(code), " ")
	fence := "`"
	for strings.Contains(code, fence) {
		fence += "`"
	}
	if strings.HasPrefix(code, "`") || strings.HasSuffix(code, "`") {
		code = " " + code + " "
	}
	return fence + code + fence
}

var backslashed = lazyregexp.New("\\\\([!-/:-@\\[-`{-~])")

// plainText is the text of inline Markdown without its markup.
func plainText(markdown string) string {
	source := []byte(markdown)
	var b strings.Builder
	_ = ast.Walk(goldmark.DefaultParser().Parse(text.NewReader(source)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if _, image := n.(*ast.Image); image {
			return ast.WalkSkipChildren, nil
		}
		t, ok := n.(*ast.Text)
		if !ok || !entering {
			return ast.WalkContinue, nil
		}
		piece := string(t.Segment.Value(source))
		if n.Parent().Kind() != ast.KindCodeSpan {
			piece = html.UnescapeString(backslashed.ReplaceAllString(piece, "$1"))
		}
		b.WriteString(piece)
		if t.SoftLineBreak() {
			b.WriteByte(' ')
		}
		return ast.WalkContinue, nil
	})
	return strings.Join(strings.Fields(b.String()), " ")
}

// shorten cuts text after a word so that it has at most limit characters.
func shorten(s string, limit int) string {
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	cut := string([]rune(s)[:limit-1])
	if space := strings.LastIndexByte(cut, ' '); space > limit/2 {
		cut = cut[:space]
	}
	return strings.TrimRight(cut, " ,;:.–-") + "…"
}
