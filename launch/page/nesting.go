package page

import (
	"bytes"
	"errors"

	"github.com/gantry-run/gantry/internal/fault"
)

// The parsers' time and memory grow with the square of what these bound, or
// worse. No page that a person wrote comes near them.
const (
	// MaxNesting is how many block quotes and list items one line may open.
	MaxNesting = 64
	maxMarks   = 2000      // brackets, emphasis marks and the like on a line
	maxCells   = 100_000   // of all tables
	maxFront   = 64 * 1024 // bytes of front matter
	maxFlow    = 100       // brackets open at a time in front matter
)

// checkNesting refuses a body that would take the Markdown parser too long.
func checkNesting(body []byte) error {
	cells, columns := 0, 0
	for line := range bytes.Lines(body) {
		if depth(line) > MaxNesting {
			return fault.New(fault.InvalidInput, "the page nests more than %d quotes and lists", MaxNesting)
		}
		if marks(line) > maxMarks {
			return fault.New(fault.InvalidInput, "a line of the page has more than %d marks of markup", maxMarks)
		}
		switch {
		case isTableRule(line):
			columns = max(columns, bytes.Count(line, []byte("|"))+1)
		case len(bytes.TrimSpace(line)) == 0:
			columns = 0
		}
		if cells += columns; cells > maxCells {
			return fault.New(fault.InvalidInput, "the page has tables of more than %d cells", maxCells)
		}
	}
	return nil
}

// checkFlow refuses front matter that would take its parser too long.
func checkFlow(content []byte) error {
	if len(content) > maxFront {
		return errors.New("the front matter is too large")
	}
	open := 0
	for _, c := range content {
		switch c {
		case '[', '{':
			open++
		case ']', '}':
			open--
		}
		if open > maxFlow {
			return errors.New("the front matter nests too deeply")
		}
	}
	return nil
}

// depth counts the container markers at a line's start.
func depth(line []byte) int {
	n := 0
	for _, c := range line {
		switch {
		case bytes.IndexByte([]byte(">-+*:.)"), c) >= 0:
			n++
		case c == ' ' || c == '\t' || '0' <= c && c <= '9':
		default:
			return n
		}
	}
	return 0 // nothing but markers: a rule, or an empty item
}

func marks(line []byte) int {
	n := 0
	for _, c := range line {
		if bytes.IndexByte([]byte("[]*_~`<!"), c) >= 0 {
			n++
		}
	}
	return n
}

// isTableRule reports whether the line may be the rule under a table's head.
func isTableRule(line []byte) bool {
	line = bytes.TrimLeft(line, "> \t*+-.)0123456789:")
	return len(line) > 0 && line[0] == '|' && len(bytes.Trim(line, "|-: \t\r\n")) == 0
}
