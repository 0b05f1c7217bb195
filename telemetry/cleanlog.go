package telemetry

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// CleanLog makes text from outside safe to show in a terminal or a log viewer.
// Terminal escape sequences (colours, titles, links, clipboard) are removed;
// what is left of control characters, C1 controls, direction overrides, line
// separators and bytes that are not UTF-8 is written as an escape (\x1b, \u202e)
// so that it can be seen. Newlines and tabs stay.
func CleanLog(s string) string {
	if isPlain(s) {
		return s
	}
	var out strings.Builder
	out.Grow(len(s))
	for i := 0; i < len(s); {
		if end := escapeEnd(s, i); end > i {
			i = end
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&out, `\x%02x`, s[i])
		case r == '\n' || r == '\t' || !hidden(r):
			out.WriteString(s[i : i+size])
		case r < utf8.RuneSelf:
			fmt.Fprintf(&out, `\x%02x`, r)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
		i += size
	}
	return out.String()
}

func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c != '\n' && c != '\t' && (c < ' ' || c > '~') {
			return false
		}
	}
	return true
}

// hidden reports whether r changes how a terminal shows its neighbours.
func hidden(r rune) bool {
	switch {
	case r < ' ', r >= 0x7f && r <= 0x9f: // C0, DEL, C1
		return true
	case r == 0x061c, r == 0x200e, r == 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069: // direction
		return true
	case r == 0x2028, r == 0x2029, r == 0xfeff: // separators, byte order mark
		return true
	}
	return false
}

// escapeEnd returns the end of the complete escape sequence that begins at i, or
// i if none does. An unfinished one is not a sequence: its text must stay visible.
func escapeEnd(s string, i int) int {
	rest := s[i:]
	kind, n := byte(0), 0
	switch {
	case len(rest) >= 2 && rest[0] == 0x1b:
		kind, n = rest[1], 2
	case len(rest) >= 2 && rest[0] == 0xc2 && rest[1] >= 0x80 && rest[1] <= 0x9f:
		kind, n = rest[1]-0x40, 2 // the one-character form of ESC and a letter
	default:
		return i
	}
	switch kind {
	case '[':
		return i + csiEnd(rest, n)
	case ']', 'P', '^', '_', 'X':
		return i + stringEnd(rest, n)
	case '(', ')', '*', '+', '#', '%', ' ':
		if len(rest) > n {
			return i + n + 1
		}
		return i
	}
	if kind >= '0' && kind <= '~' {
		return i + n
	}
	return i
}

// csiEnd returns the length of a control sequence whose parameters begin at n, or 0.
func csiEnd(s string, n int) int {
	for ; n < len(s); n++ {
		switch c := s[n]; {
		case c >= '@' && c <= '~':
			return n + 1
		case c < ' ' || c > '?':
			return 0
		}
	}
	return 0
}

// stringEnd returns the length of a control string (title, link, clipboard) whose
// text begins at n, or 0. It ends with BEL or ST, on the same line.
func stringEnd(s string, n int) int {
	for ; n < len(s); n++ {
		switch {
		case s[n] == '\a':
			return n + 1
		case strings.HasPrefix(s[n:], "\x1b\\"), strings.HasPrefix(s[n:], "\u009c"):
			return n + 2
		case s[n] == '\n', s[n] == 0x1b:
			return 0
		}
	}
	return 0
}
