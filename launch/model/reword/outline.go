package reword

import (
	"maps"
	"slices"
	"strings"

	"github.com/gantry-run/gantry/launch/page"
)

// form is a page taken apart: what must stay, and the statements between its headings.
type form struct {
	*page.Page
	fixed    []string  // lines that are no statements, blank ones outside of code left out
	sections []section // the first is before the first heading
	links    map[string]bool
}

// section is what stands between two headings.
type section struct {
	statements []page.Statement
}

func outline(p *page.Page) *form {
	f := &form{Page: p, sections: make([]section, 1), links: map[string]bool{}}
	statements, headings, code := map[int]page.Statement{}, map[int]bool{}, map[int]bool{}
	for _, s := range p.Statements {
		statements[s.Line] = s
	}
	for _, h := range p.Headings {
		headings[h.Line] = true
	}
	for _, c := range p.Fences {
		for line := c.Line; line <= c.EndLine; line++ {
			code[line] = true
		}
	}
	first := 1
	if p.Body > 0 {
		first = p.Line(p.Body-1) + 1
	}
	for line, last := first, p.Line(len(p.Source)); line <= last; line++ {
		text := p.LineText(line)
		s, isStatement := statements[line]
		switch {
		case isStatement && !code[line]:
			at := &f.sections[len(f.sections)-1]
			at.statements = append(at.statements, s)
			continue
		case headings[line]:
			f.sections = append(f.sections, section{})
		case strings.TrimSpace(text) == "" && !code[line]:
			continue
		}
		f.fixed = append(f.fixed, text)
	}
	for _, l := range p.Links {
		f.links[f.source(l)] = true
	}
	return f
}

// source is a link as it is written.
func (f *form) source(l page.Link) string { return string(f.Source[l.Start:l.End]) }

// claims are the claims that a section cites, sorted.
func (s section) claims() []string {
	set := map[string]bool{}
	for _, st := range s.statements {
		for _, id := range st.ClaimIDs {
			set[id] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// said returns how often each statement is made, as its whole line.
func (f *form) said(s section) map[string]int {
	lines := map[string]int{}
	for _, st := range s.statements {
		lines[f.LineText(st.Line)]++
	}
	return lines
}
