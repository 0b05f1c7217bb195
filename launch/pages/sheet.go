package pages

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gantry-run/gantry/internal/lazyregexp"
	"github.com/gantry-run/gantry/launch/dossier"
)

// sheet is what a template sees: each method returns a piece of the page that
// ends with a blank line, or nothing.
type sheet struct {
	*book
	in      DraftInput
	planned dossier.PlannedPage
	parts   []part
	front   string
	written []string // sources of the blocks that the template took
}

// Front is the front matter.
func (s *sheet) Front() string { return s.front }

// Block is the block of the source with its heading; nothing if it has no
// content. A source that the page's rule does not have is an error.
func (s *sheet) Block(source string) (string, error) {
	for _, p := range s.parts {
		if p.Source != source {
			continue
		}
		s.written = append(s.written, source)
		if len(p.items) == 0 {
			return "", nil
		}
		w := writer{book: s.book, level: 3}
		if p.Heading == "" {
			w.level = 2
		}
		w.heading(2, p.Heading)
		for _, it := range p.items {
			w.item(it)
		}
		return w.done(), nil
	}
	return "", fmt.Errorf("the ruleset gives this page no block %q", source)
}

// left returns the first block with content that the template did not write.
func (s *sheet) left() string {
	for _, p := range s.parts {
		if len(p.items) > 0 && !slices.Contains(s.written, p.Source) {
			return p.Source
		}
	}
	return ""
}

// Children links the pages below this one.
func (s *sheet) Children(heading string) string {
	return s.links(heading, func(address string) bool { return strings.HasPrefix(address, s.planned.URLPath) })
}

// Related links the other pages that this one leads to.
func (s *sheet) Related(heading string) string {
	return s.links(heading, func(address string) bool { return !strings.HasPrefix(address, s.planned.URLPath) })
}

func (s *sheet) links(heading string, wanted func(string) bool) string {
	w := writer{book: s.book}
	for _, address := range s.planned.CrossLinks {
		if wanted(address) {
			if w.out.Len() == 0 {
				w.heading(2, heading)
			}
			w.line(fmt.Sprintf("- [%s](%s%s)", escapeLabel(s.titleAt(address)), placeOf(s.in.PlanInput).prefix(), address))
		}
	}
	return w.done()
}

func (s *sheet) titleAt(address string) string {
	for _, other := range s.in.Plan.Pages {
		if other.URLPath == address {
			return other.Title
		}
	}
	return address
}

var (
	labelMarks = lazyregexp.New("[\\\\`*\\[\\]]|\\b_\\B|\\B_\\b|__")
	labelLess  = strings.NewReplacer("<", "&lt;", "{{", "&#123;&#123;")
)

// escapeLabel makes plain text safe as a heading or a link's text.
func escapeLabel(title string) string {
	return labelLess.Replace(labelMarks.ReplaceAllStringFunc(title, func(mark string) string {
		return `\` + strings.Join(strings.Split(mark, ""), `\`)
	}))
}

// Sources lists the files that the page is from: as links where the repository's
// host is known, else as lines with the claim that stands there.
func (s *sheet) Sources(heading string) string {
	ranges := map[string]at{}
	claims := map[string]string{}
	add := func(where at, claim string) {
		if where.path == "" {
			return
		}
		now, known := ranges[where.path]
		if !known {
			now = where
		}
		ranges[where.path] = at{where.path, min(now.start, where.start), max(now.end, where.end)}
		if claim != "" {
			claims[where.path] = cmp.Or(claims[where.path], claim)
		}
	}
	for _, p := range s.parts {
		for _, it := range p.items {
			for _, id := range it.claims {
				for _, c := range s.claims[id].Citations {
					add(at{c.Path, c.StartLine, c.EndLine}, id)
				}
			}
			if it.snippet != "" {
				add(s.snippetAt(it.snippet), "")
			}
		}
	}
	w := writer{book: s.book}
	for i, name := range slices.Sorted(maps.Keys(ranges)) {
		if i == maxSources {
			break
		}
		label := codeSpan(name) + ", " + lineLabel(ranges[name])
		address := s.repo.file(name, ranges[name].start, ranges[name].end)
		if address == "" && claims[name] == "" {
			continue
		}
		if w.out.Len() == 0 {
			w.heading(2, heading)
		}
		if address != "" {
			w.line("- [" + label + "](" + address + ")")
		} else {
			w.line("- " + label + markers([]string{claims[name]}))
		}
	}
	return w.done()
}

const maxSources = 40 // files; more is no help to a reader, and each line cites its own anyway

func lineLabel(where at) string {
	if where.end <= where.start {
		return fmt.Sprintf("line %d", where.start)
	}
	return fmt.Sprintf("lines %d–%d", where.start, where.end)
}

func markers(claims []string) string {
	var b strings.Builder
	for _, id := range claims {
		b.WriteString(" <!-- claim_id: " + id + " -->")
	}
	return b.String()
}
