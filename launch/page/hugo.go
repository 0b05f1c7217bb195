package page

import "strings"

// shortcodes are the delimiters that Hugo expands wherever they stand, in code
// fences too.
var shortcodes = []struct{ open, end string }{{"{{<", ">}}"}, {"{{%", "%}}"}}

// EscapeHugo makes Hugo show shortcodes instead of expanding them: {{< x >}}
// becomes {{</* x */>}}, and likewise with percent signs. It reports false for text
// that cannot be shown so, because a shortcode is not closed or the text holds
// the mark that divides a summary from the rest.
func EscapeHugo(text string) (string, bool) {
	if strings.Contains(text, "<!--more-->") {
		return "", false
	}
	var out strings.Builder
	for {
		at, open, end := nextShortcode(text)
		if at < 0 {
			out.WriteString(text)
			return out.String(), true
		}
		inner, rest, closed := strings.Cut(text[at+len(open):], end)
		if !closed {
			return "", false
		}
		out.WriteString(text[:at] + open + "/*" + inner + "*/" + end)
		text = rest
	}
}

// UnescapeHugo undoes [EscapeHugo]: for every text that can be escaped it gives
// back exactly that text.
func UnescapeHugo(text string) string {
	var out strings.Builder
	for {
		at, open, end := nextShortcode(text)
		if at < 0 {
			break
		}
		inner, rest, closed := strings.Cut(text[at+len(open):], "*/"+end)
		inner, escaped := strings.CutPrefix(inner, "/*")
		if !closed || !escaped {
			out.WriteString(text[:at+len(open)])
			text = text[at+len(open):]
			continue
		}
		out.WriteString(text[:at] + open + inner + end)
		text = rest
	}
	return out.String() + text
}

func nextShortcode(text string) (at int, open, end string) {
	at = -1
	for _, s := range shortcodes {
		if i := strings.Index(text, s.open); i >= 0 && (at < 0 || i < at) {
			at, open, end = i, s.open, s.end
		}
	}
	return at, open, end
}
