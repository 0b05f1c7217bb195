package validate

import (
	"unicode/utf16"
	"unicode/utf8"
)

// str reads a string, s.at on its opening quote.
func (s *scanner) str() StrictKind {
	s.escaped = false
	s.at++
	for s.at < len(s.raw) {
		switch c := s.raw[s.at]; {
		case c == '"':
			s.at++
			return ""
		case c == '\\':
			s.escaped = true
			if kind := s.escape(); kind != "" {
				return kind
			}
		case c < ' ':
			return StrictSyntax
		case c < utf8.RuneSelf:
			s.at++
		default:
			r, n := utf8.DecodeRune(s.raw[s.at:])
			if r == utf8.RuneError && n == 1 {
				return StrictUTF8
			}
			s.at += n
		}
	}
	return StrictSyntax
}

// escape reads one escape, both halves of a surrogate pair.
func (s *scanner) escape() StrictKind {
	if s.at+1 >= len(s.raw) {
		return StrictSyntax
	}
	switch s.raw[s.at+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.at += 2
		return ""
	}
	high := hex4(s.raw[s.at:])
	switch {
	case high < 0:
		return StrictSyntax
	case !utf16.IsSurrogate(high):
		s.at += 6
		return ""
	}
	if low := hex4(s.raw[s.at+6:]); low < 0 || utf16.DecodeRune(high, low) == utf8.RuneError {
		return StrictUTF8
	}
	s.at += 12
	return ""
}

// hex4 returns the code unit of the \uXXXX escape that b begins with, or -1.
func hex4(b []byte) rune {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	var r rune
	for _, c := range b[2:6] {
		switch {
		case '0' <= c && c <= '9':
			r = r<<4 | rune(c-'0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return -1
		}
	}
	return r
}

// decoded returns the text of a valid string's inside, cut before the rune that
// would take it above limit bytes.
func decoded(b []byte, limit int) string {
	var out []byte
	for len(b) > 0 {
		r, n := firstRune(b)
		if len(out)+utf8.RuneLen(r) > limit {
			break
		}
		out, b = utf8.AppendRune(out, r), b[n:]
	}
	return string(out)
}

// firstRune decodes the first character of a valid string's inside, and returns
// how many bytes it takes there.
func firstRune(b []byte) (rune, int) {
	if b[0] != '\\' {
		return utf8.DecodeRune(b)
	}
	switch b[1] {
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		if r := hex4(b); !utf16.IsSurrogate(r) {
			return r, 6
		}
		return utf16.DecodeRune(hex4(b), hex4(b[6:])), 12
	}
	return rune(b[1]), 2
}
