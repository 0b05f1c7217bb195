package fixes

import (
	"strings"

	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/launch/gates"
	"github.com/gantry-run/gantry/launch/page"
)

// showOrRemove shows the snippet that the code block names, as the catalogue has
// it; a code block that names none is removed.
func showOrRemove(in *gates.Input, p *page.Page, issue dossier.Issue) ([]byte, error) {
	problem, ok, err := snippetProblem(in, p, issue)
	if err != nil || !ok {
		return nil, err
	}
	f := problem.Fence
	if problem.Snippet.ID == "" || !isFenced(p, f) {
		return withoutCode(p, f, issue)
	}
	content, shown := page.EscapeHugo(problem.Snippet.Content)
	if mark := fenceMark(p, f); !shown || strings.Contains(content, mark) {
		return withoutCode(p, f, issue)
	}
	return p.ReplaceRange(p.LineStart(f.Line+1), endOf(p, f.EndLine), content), nil
}

// removeCode removes the code block at the issue's line.
func removeCode(_ *gates.Input, p *page.Page, issue dossier.Issue) ([]byte, error) {
	_, line := issue.At()
	for _, f := range p.Fences {
		if f.Line == line {
			return withoutCode(p, f, issue)
		}
	}
	return nil, noOp(issue)
}

// withoutCode returns the page without a fenced code block, and without the marker
// and the line that lead to nothing but it.
func withoutCode(p *page.Page, f page.Fence, issue dossier.Issue) ([]byte, error) {
	if !isFenced(p, f) || strings.TrimSpace(p.LineText(f.Line)) != strings.TrimRight(p.LineText(f.Line), " \t\r") {
		return nil, unfixable(issue, "the code block is not one between two fences of its own")
	}
	first, last := f.Line, f.EndLine+1
	if f.EndLine == f.Line || strings.TrimSpace(p.LineText(last)) == "" {
		last = f.EndLine // never closed
	}
	for first > 1 && strings.HasPrefix(strings.TrimSpace(p.LineText(first-1)), "<!-- snippet_id:") {
		first--
	}
	lead := first - 1
	for lead > 0 && strings.TrimSpace(p.LineText(lead)) == "" {
		lead--
	}
	if text, _, _ := strings.Cut(p.LineText(lead), "<!--"); lead > p.Front.EndLine && strings.HasSuffix(strings.TrimRight(text, " \t*_"), ":") && !isListed(text) {
		first = lead
	}
	if strings.TrimSpace(p.LineText(last+1)) == "" {
		last++ // one blank line is left, not two
	}
	return p.ReplaceRange(p.LineStart(first), endOf(p, last), ""), nil
}

// isListed reports whether the line is an item of a list, which stands for itself.
func isListed(line string) bool {
	line = strings.TrimSpace(line)
	return strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "* ") || strings.HasPrefix(line, "|")
}

func isFenced(p *page.Page, f page.Fence) bool { return fenceMark(p, f) != "" }

// fenceMark returns the fence that opens the block; "" for an indented block.
func fenceMark(p *page.Page, f page.Fence) string {
	text := strings.TrimSpace(p.LineText(f.Line))
	for _, mark := range []string{"`", "~"} {
		if n := len(text) - len(strings.TrimLeft(text, mark)); n >= 3 {
			return strings.Repeat(mark, n)
		}
	}
	return ""
}

// endOf returns the offset after the line.
func endOf(p *page.Page, line int) int {
	if next := p.LineStart(line + 1); next > 0 {
		return next
	}
	return len(p.Source)
}
