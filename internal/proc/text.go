package proc

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// Text makes output readable for a person or a model, and safe to show: valid UTF-8
// in lines that end in "\n". Escape sequences of terminals and control characters
// other than tabs are left out, what is not UTF-8 becomes U+FFFD, and of a line
// that was written over itself with carriage returns the last writing stays.
func Text(raw []byte) string {
	var out strings.Builder
	out.Grow(len(raw))
	for line := range bytes.Lines(raw) {
		line, ended := bytes.CutSuffix(line, newline)
		line = bytes.TrimRight(line, "\r")
		line = line[bytes.LastIndexByte(line, '\r')+1:]
		writeLine(&out, line)
		if ended {
			out.WriteByte('\n')
		}
	}
	return out.String()
}

func writeLine(out *strings.Builder, line []byte) {
	for len(line) > 0 {
		if line[0] == escape {
			n, _ := escapeLength(line)
			line = line[n:]
			continue
		}
		r, n := utf8.DecodeRune(line)
		if r == '\t' || r >= ' ' && (r < 0x7f || r > 0x9f) {
			out.WriteRune(r)
		}
		line = line[n:]
	}
}

const (
	escape     = 0x1b
	bell       = 0x07
	longEscape = 128 // a longer sequence is not waited for
)

// escapeLength returns the length of the escape sequence that b begins with.
// whole is false when its end is not in b.
func escapeLength(b []byte) (n int, whole bool) {
	if len(b) < 2 {
		return len(b), false
	}
	switch b[1] {
	case '[': // a control sequence: parameters, then one final byte
		for i := 2; i < len(b); i++ {
			if b[i] >= 0x40 && b[i] <= 0x7e {
				return i + 1, true
			}
			if b[i] < 0x20 || b[i] > 0x7e {
				return i, true // broken off
			}
		}
		return len(b), false
	case ']', 'P', 'X', '^', '_': // a string, such as a title or a link
		for i := 2; i < len(b); i++ {
			switch {
			case b[i] == bell:
				return i + 1, true
			case b[i] == escape && i+1 < len(b) && b[i+1] == '\\':
				return i + 2, true
			case b[i] == '\n':
				return i, true // broken off
			}
		}
		return len(b), false
	}
	for i := 1; i < len(b); i++ { // intermediates, then one final byte
		if b[i] < 0x20 || b[i] > 0x2f {
			if b[i] < 0x20 || b[i] > 0x7e {
				return i, true
			}
			return i + 1, true
		}
	}
	return len(b), false
}

// complete returns how much of b ends with a whole character and a whole escape
// sequence.
func complete(b []byte) int {
	end := len(b)
	for i := 1; i <= min(utf8.UTFMax, end); i++ {
		if c := b[end-i]; utf8.RuneStart(c) {
			if !utf8.FullRune(b[end-i:]) {
				end -= i
			}
			break
		}
	}
	from := max(0, end-longEscape)
	if at := bytes.LastIndexByte(b[from:end], escape); at >= 0 {
		if _, whole := escapeLength(b[from+at : end]); !whole {
			return from + at
		}
	}
	return end
}

// runeStart returns how many bytes of b belong to a character that began before it.
func runeStart(b []byte) int {
	for i := 0; i < min(utf8.UTFMax, len(b)); i++ {
		if utf8.RuneStart(b[i]) {
			return i
		}
	}
	return 0
}
