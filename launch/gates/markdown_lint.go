package gates

import (
	"context"
	"path"
	"strings"
	"time"

	"github.com/gantry-run/gantry/internal/lazyregexp"
	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/launch/page"
)

// markdownLintGate holds changed pages to a few rules of markdownlint, under its
// names: those that a reader or the next editor notices, and no matter of taste.
// Code blocks are as the product's repository has them.
func markdownLintGate() Gate {
	return Gate{
		Name: "markdown_lint", Title: "Markdown is tidy, headings go down one level at a time, images have a text",
		Codes:   []string{MarkdownLintError, MarkdownHeadingOrder, MarkdownAltMissing},
		Timeout: within(60*time.Second, 120*time.Second),
		Run: func(ctx context.Context, in *Input) (Outcome, error) {
			var out Outcome
			var err error
			out.Checked, err = in.changedPages(ctx, func(p *page.Page) {
				for _, f := range fresh(in, p, LintProblems, func(l LintProblem) dossier.Issue { return l.Issue }) {
					out.Issues = append(out.Issues, f.Issue)
				}
			}, nil)
			return out, err
		},
	}
}

// LintProblem is one break of a rule, and what to write instead.
type LintProblem struct {
	Issue dossier.Issue
	Edits []LintEdit // by place
}

// LintEdit puts a text in the place of some bytes of the page.
type LintEdit struct {
	Start int // offset in the page
	End   int
	Text  string
}

// LintProblems returns what is untidy on the page, by rule.
func LintProblems(p *page.Page) []LintProblem {
	l := linter{p: p}
	l.lines()
	l.headings()
	l.images()
	return l.found
}

type linter struct {
	p     *page.Page
	found []LintProblem
}

func (l *linter) add(code string, edits []LintEdit, fix, format string, args ...any) {
	l.found = append(l.found, LintProblem{
		Issue: issue("markdown_lint", code, dossier.Error, l.p.Path, l.p.Line(edits[0].Start), fix, format, args...), Edits: edits,
	})
}

func (l *linter) rule(start, end int, text, format string, args ...any) {
	l.rules([]LintEdit{{start, end, text}}, format, args...)
}

func (l *linter) rules(edits []LintEdit, format string, args ...any) {
	l.add(MarkdownLintError, edits, "Let launch_fix_next tidy the line, or do as the rule says.", format, args...)
}

var (
	noSpaceAfterHash = lazyregexp.New(`^#{1,6}[A-Za-z]`)
	reversedLink     = lazyregexp.New(`\(([^()\[\]]+)\)\[((?:https?:/)?/[^\[\]()\s]+)\]`)
)

// lines checks the body line by line.
func (l *linter) lines() {
	blank := 0
	at := l.p.Body
	for raw := range strings.Lines(string(l.p.Source[l.p.Body:])) {
		text := strings.TrimRight(raw, "\r\n")
		start := at
		at += len(raw)
		if l.inCode(start, start+len(text)) {
			blank = 0
			continue
		}
		if strings.TrimSpace(text) == "" {
			blank++
		} else {
			blank = 0
		}
		switch {
		case blank == 2:
			l.rule(start, at, "", "MD012: more than one blank line in a row")
			continue
		case blank > 2:
			l.found[len(l.found)-1].Edits[0].End = at
			continue
		}
		l.line(start, text)
	}
	if size := len(l.p.Source); size > l.p.Body && l.p.Source[size-1] != '\n' {
		l.rule(size, size, "\n", "MD047: the page does not end with a line end")
	}
}

func (l *linter) line(start int, text string) {
	trimmed := strings.TrimRight(text, " \t")
	if spaces := text[len(trimmed):]; spaces != "" && (spaces != "  " || trimmed == "") {
		l.rule(start+len(trimmed), start+len(text), "", "MD009: space at the end of the line %s", quote(text))
	}
	var tabs []LintEdit
	for i := range len(trimmed) {
		if trimmed[i] == '\t' && !l.p.InCode(start+i) {
			tabs = append(tabs, LintEdit{start + i, start + i + 1, "    "})
		}
	}
	if len(tabs) > 0 {
		l.rules(tabs, "MD010: a tab in the line %s", quote(trimmed))
	}
	if noSpaceAfterHash.MatchString(trimmed) {
		n := len(trimmed) - len(strings.TrimLeft(trimmed, "#"))
		l.rule(start+n, start+n, " ", "MD018: no space between # and the heading %s", quote(trimmed))
	}
	for _, m := range reversedLink.FindAllStringSubmatchIndex(trimmed, -1) {
		if !l.p.InCode(start + m[0]) {
			l.rule(start+m[0], start+m[1], "["+trimmed[m[2]:m[3]]+"]("+trimmed[m[4]:m[5]]+")", "MD011: a link the wrong way round: %s", quote(trimmed[m[0]:m[1]]))
		}
	}
}

// inCode reports whether the bytes stand in a block of code. A blank line in one
// has no byte in it: then the one before counts.
func (l *linter) inCode(start, end int) bool {
	return l.p.InCode(start) || end > start && l.p.InCode(end-1) || end == start && start > 0 && l.p.InCode(start-1)
}

// headings wants no level left out. A page's title is the first level, whether or
// not it stands in the body.
func (l *linter) headings() {
	level := 1
	for i, h := range l.p.Headings {
		if edits := l.raise(i, h.Level-level-1); len(edits) > 0 {
			l.add(MarkdownHeadingOrder, edits, "Make it a heading of the next level.",
				"MD001: the heading %s is of level %d, the one above it of level %d", quote(h.Text), h.Level, level)
		}
		level = h.Level
	}
}

// raise returns the edits that bring a heading and what is below it up by some
// levels; none for a heading that is written without number signs.
func (l *linter) raise(at, by int) (edits []LintEdit) {
	if by < 1 {
		return nil
	}
	top := l.p.Headings[at].Level
	for i, h := range l.p.Headings[at:] {
		if i > 0 && h.Level <= top {
			break
		}
		if start, n, ok := l.marks(h); ok {
			edits = append(edits, LintEdit{start, start + n, strings.Repeat("#", n-by)})
		} else if i == 0 {
			return nil
		}
	}
	return edits
}

// marks returns where the number signs of a heading stand. One that is underlined
// or written in HTML has none.
func (l *linter) marks(h page.Heading) (start, n int, ok bool) {
	text := l.p.LineText(h.Line)
	at := strings.IndexByte(text, '#')
	if at < 0 || !strings.HasPrefix(text[at:], strings.Repeat("#", h.Level)) {
		return 0, 0, false
	}
	return l.p.LineStart(h.Line) + at, h.Level, true
}

// images wants a text for those who do not see the picture.
func (l *linter) images() {
	for _, link := range l.p.Links {
		if !link.Image || link.Kind != page.Inline && link.Kind != page.Reference || strings.TrimSpace(link.Text) != "" {
			continue
		}
		at := strings.Index(string(l.p.Source[link.Start:link.End]), "[")
		if at < 0 {
			continue
		}
		start := link.Start + at + 1
		l.add(MarkdownAltMissing, []LintEdit{{start, start + len(link.Text), AltText(link.Dest)}}, "Say in a few words what the picture shows.",
			"MD045: the image %s has no text", quote(link.Dest))
	}
}

// AltText makes words of the name of a picture's file.
func AltText(dest string) string {
	dest, _, _ = strings.Cut(dest, "?")
	base := strings.TrimSuffix(path.Base(dest), path.Ext(dest))
	words := strings.FieldsFunc(base, func(r rune) bool { return strings.ContainsRune("-_ .[]/", r) })
	if len(words) == 0 {
		return "image"
	}
	return strings.Join(words, " ")
}
