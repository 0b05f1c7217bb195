package telemetry

import "strings"

// assignment is name=value, name: value, "name":"value" and --name value: the
// value is replaced if it has at least min bytes.
func assignment(kind string, min int) matcher {
	return func(s string, start, end int) (int, int, string, bool) {
		i, ok := assignOperator(s, end)
		if !ok {
			if !strings.HasSuffix(s[:start], "--") {
				return 0, 0, "", false
			}
			if i = skipBlank(s, end); i == end {
				return 0, 0, "", false
			}
		}
		from, to := assignedValue(s, i)
		if to-from < min || strings.HasPrefix(s[from:to], "[REDACTED:") || workingDir(s, start, end, from) {
			return 0, 0, "", false
		}
		return from, to, mask(kind), true
	}
}

// workingDir tells the shell's PWD=/path and OLDPWD=/path from a password.
func workingDir(s string, start, end, value int) bool {
	return s[start:end] == "PWD" && s[value] == '/'
}

// assignOperator skips what may stand between a name and its value: a closing
// quote, blanks and one operator (=, :, :=, =>, ==).
func assignOperator(s string, i int) (int, bool) {
	for n := 0; n < 4 && i < len(s) && strings.IndexByte("\"'\\ \t", s[i]) >= 0; n++ {
		i++
	}
	op := i
	for i < len(s) && i-op < 2 && (s[i] == '=' || s[i] == ':' || i > op && s[i] == '>') {
		i++
	}
	return i, i > op
}

// assignedValue returns the range of the value that begins at or after i, without
// its quotes. A quoted value ends at its closing quote on the same line.
func assignedValue(s string, i int) (from, to int) {
	i = skipBlank(s, i)
	quote := i
	if quote+1 < len(s) && s[quote] == '\\' && isQuote(s[quote+1]) {
		quote++
	}
	if quote < len(s) && isQuote(s[quote]) {
		from = quote + 1
		if to := closingQuote(s, from, s[i:from]); to >= 0 {
			return from, to
		}
		i = from
	}
	to = i
	for to < len(s) && !endsValue(s, to) {
		to++
	}
	return i, i + len(strings.TrimRight(s[i:to], ",;)]}"))
}

// closingQuote returns where the text opened by open (" or \") ends, or -1 if it
// does not end on this line.
func closingQuote(s string, i int, open string) int {
	const longest = 4096
	for end := min(len(s), i+longest); i < end; i++ {
		switch {
		case s[i] == '\n':
			return -1
		case strings.HasPrefix(s[i:], open):
			return i
		case s[i] == '\\' && len(open) == 1:
			i++
		}
	}
	return -1
}

func endsValue(s string, i int) bool {
	switch c := s[i]; {
	case c <= ' ', c == 0x7f, c == '&', c == '<', isQuote(c):
		return true
	case c == '\\':
		return i+1 < len(s) && strings.IndexByte("\"'nrt", s[i+1]) >= 0
	}
	return false
}

func isQuote(c byte) bool { return c == '"' || c == '\'' || c == '`' }

// skipOpening skips blanks and an opening quote.
func skipOpening(s string, i int) int {
	for n := 0; n < 4 && i < len(s) && strings.IndexByte("\"'\\ \t", s[i]) >= 0; n++ {
		i++
	}
	return i
}

func skipBlank(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t') {
		i++
	}
	return i
}

// wordStart reports whether no run of class meets s[i] from the left. The letters
// of an escape (\n, \u000a, %20, ESC[31m) are no word: a token after one counts.
func wordStart(s string, i int, class byteClass) bool {
	if i == 0 || !class.has(s[i-1]) {
		return true
	}
	if i >= 2 && s[i-2] == '\\' && strings.IndexByte("nrtbf", s[i-1]) >= 0 {
		return true
	}
	if i >= 3 && s[i-3] == '%' && run(s[:i], i-2, hexDigit) == i {
		return true
	}
	if i >= 6 && s[i-6:i-4] == `\u` && run(s[:i], i-4, hexDigit) == i {
		return true
	}
	return afterCSI(s, i)
}

// afterCSI reports whether a sequence such as [1;31m ends just before i.
func afterCSI(s string, i int) bool {
	const longest = 16
	for j := i - 2; j >= 0 && j > i-longest; j-- {
		if s[j] == '[' {
			return true
		}
		if !digit.has(s[j]) && s[j] != ';' {
			return false
		}
	}
	return false
}

// A byteClass is a set of kinds of bytes.
type byteClass uint8

const (
	upper byteClass = 1 << iota
	lower
	digit
	underscore
	dash
	dot
	base64Signs // + / =
	hexDigit

	alnum      = upper | lower | digit
	tokenClass = alnum | underscore | dash | dot | base64Signs
)

func (c byteClass) has(b byte) bool { return classes[b]&c != 0 }

// run returns the end of the run of c in s that begins at i.
func run(s string, i int, c byteClass) int {
	for i < len(s) && c.has(s[i]) {
		i++
	}
	return i
}

var classes = func() (t [256]byteClass) {
	for b := range t {
		switch {
		case 'A' <= b && b <= 'Z':
			t[b] = upper
		case 'a' <= b && b <= 'z':
			t[b] = lower
		case '0' <= b && b <= '9':
			t[b] = digit | hexDigit
		}
		if 'a' <= b && b <= 'f' || 'A' <= b && b <= 'F' {
			t[b] |= hexDigit
		}
	}
	t['_'], t['-'], t['.'] = underscore, dash, dot
	t['+'], t['/'], t['='], t['~'] = base64Signs, base64Signs, base64Signs, dot
	return t
}()
