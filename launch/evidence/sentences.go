package evidence

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gantry-run/gantry/internal/lazyregexp"
)

// sentence is one sentence of a block with its lines.
type sentence struct {
	text       string // cleaned inline Markdown
	plain      string
	start, end int
}

// abbreviation matches the end of a text whose full stop ends no sentence.
var abbreviation = lazyregexp.New(`(?i)(^|[\s(])(e\.g|i\.e|etc|vs|cf|approx|resp|incl|no|fig|mr|mrs|dr|st|inc|ltd|al|[a-z])\.$`)

// split cuts a block's prose into sentences. Full stops in code, links and
// parentheses end none.
func (p prose) split() []sentence {
	var found []sentence
	from, depth := 0, 0
	inCode := false
	add := func(to int) {
		text, start, end := p.slice(from, to)
		from = to
		if text != "" {
			found = append(found, sentence{text, plainText(text), start, end})
		}
	}
	for i := 0; i < len(p.text); i++ {
		switch c := p.text[i]; {
		case c == '`':
			inCode = !inCode
		case inCode:
		case c == '(' || c == '[':
			depth++
		case (c == ')' || c == ']') && depth > 0:
			depth--
		case depth == 0 && (c == '.' || c == '!' || c == '?') && p.endsSentence(from, i):
			end := i + 1
			for end < len(p.text) && strings.IndexByte(`"')*`, p.text[end]) >= 0 {
				end++
			}
			add(end)
			i = end - 1
		}
	}
	add(len(p.text))
	return found
}

// endsSentence reports whether the mark at i is followed by the start of another
// sentence and is not part of an abbreviation.
func (p prose) endsSentence(from, i int) bool {
	rest := strings.TrimLeft(string(p.text[i+1:min(len(p.text), i+80)]), `"')*`)
	if rest == "" || !isSpace(rest[0]) {
		return false
	}
	rest = strings.TrimLeft(rest, " \n\t")
	next, _ := utf8.DecodeRuneInString(rest)
	if next == utf8.RuneError || !(unicode.IsUpper(next) || unicode.IsDigit(next) || strings.ContainsRune("`[(\"'*", next) || next > 0x2000) {
		return false
	}
	return !abbreviation.Match(p.text[max(from, i-12) : i+1])
}
