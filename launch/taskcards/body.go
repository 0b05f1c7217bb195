package taskcards

import (
	"strings"

	"github.com/gantry-run/gantry/internal/lazyregexp"
)

// textLine is a line of the body.
type textLine struct {
	text   string // without its line end and white space at its end
	number int    // in the file, from 1
	fence  bool   // it opens or closes a code block
	code   bool   // it stands in one
}

// section is what follows a heading "## …" up to the next.
type section struct {
	name  string
	line  int
	lines []textLine
}

var fenceMark = lazyregexp.New("^ {0,3}(`{3,}|~{3,})(.*)$")

// sectionsOf divides the body, which starts at the line with the number. Headings
// in code blocks are code. Of two sections with one name, the first counts.
func sectionsOf(src []byte, from int) map[string]section {
	found := map[string]section{}
	var current *section
	keep := func() {
		if current == nil {
			return
		}
		if _, twice := found[current.name]; !twice {
			found[current.name] = *current
		}
	}
	for _, line := range bodyLines(src, from) {
		name, heading := strings.CutPrefix(line.text, "## ")
		if heading && !line.code && !line.fence {
			keep()
			current = &section{name: name, line: line.number}
		} else if current != nil {
			current.lines = append(current.lines, line)
		}
	}
	keep()
	return found
}

// bodyLines marks the lines of code blocks.
func bodyLines(src []byte, from int) []textLine {
	var list []textLine
	open := "" // the mark that the open block began with
	number := 0
	for raw := range strings.Lines(string(src)) {
		if number++; number < from {
			continue
		}
		line := textLine{text: strings.TrimRight(raw, " \t\r\n"), number: number}
		m := fenceMark.FindStringSubmatch(line.text)
		switch {
		case open == "" && m != nil && (m[1][0] == '~' || !strings.Contains(m[2], "`")):
			open, line.fence = m[1], true
		case open != "" && m != nil && strings.HasPrefix(m[1], open) && m[2] == "":
			open, line.fence = "", true
		default:
			line.code = open != ""
		}
		list = append(list, line)
	}
	return list
}

// prose returns the lines outside code blocks.
func (s section) prose() []textLine {
	var list []textLine
	for _, line := range s.lines {
		if !line.code && !line.fence {
			list = append(list, line)
		}
	}
	return list
}

// count returns how many lines outside code blocks match.
func (s section) count(pattern *lazyregexp.Regexp) int {
	n := 0
	for _, line := range s.prose() {
		if pattern.MatchString(line.text) {
			n++
		}
	}
	return n
}

// says reports whether a line of the section matches, code included.
func (s section) says(pattern *lazyregexp.Regexp) bool {
	for _, line := range s.lines {
		if pattern.MatchString(line.text) {
			return true
		}
	}
	return false
}

// hasCode reports whether the section has a code block that is not empty.
func (s section) hasCode() bool {
	for _, line := range s.lines {
		if line.code && strings.TrimSpace(line.text) != "" {
			return true
		}
	}
	return false
}
