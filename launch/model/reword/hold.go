package reword

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/gantry-run/gantry/internal/lazyregexp"
	"github.com/gantry-run/gantry/launch/page"
)

// The bounds of a new sentence.
const (
	maxClaims   = 4
	maxSentence = 600 // bytes, without its markers
)

func refuse(format string, args ...any) error { return &Refusal{fmt.Sprintf(format, args...)} }

// hold says what of the answer is not the draft's, as a *Refusal.
func hold(p Page, draft, given *form) error {
	for i := range max(len(draft.fixed), len(given.fixed)) {
		switch {
		case i >= len(given.fixed):
			return refuse("a line of the draft is missing: %s", show(draft.fixed[i]))
		case i >= len(draft.fixed):
			return refuse("a line that is neither the draft's nor a cited sentence: %s", show(given.fixed[i]))
		case draft.fixed[i] != given.fixed[i]:
			return refuse("%s stands where the draft has %s", show(given.fixed[i]), show(draft.fixed[i]))
		}
	}
	if err := sameParts(draft.Page, given.Page); err != nil {
		return err
	}
	for i := range draft.sections {
		if err := holdSection(p, draft, given, i); err != nil {
			return err
		}
	}
	return nil
}

// sameParts compares what the parser sees in the two pages, so that no line of the draft
// means something else among new neighbours.
func sameParts(draft, given *page.Page) error {
	if len(draft.Headings) != len(given.Headings) || len(draft.Fences) != len(given.Fences) || len(draft.Shortcodes) != len(given.Shortcodes) {
		return refuse("it has other headings, code blocks or shortcodes than the draft")
	}
	for i, h := range draft.Headings {
		if g := given.Headings[i]; g.Level != h.Level || g.Text != h.Text || g.ID != h.ID {
			return refuse("heading %s became %s", show(h.Text), show(g.Text))
		}
	}
	for i, f := range draft.Fences {
		if g := given.Fences[i]; g.Info != f.Info || g.Content != f.Content || g.SnippetID != f.SnippetID {
			return refuse("a code block is not the draft's: %s", show(g.Content))
		}
	}
	for i, s := range draft.Shortcodes {
		g := given.Shortcodes[i]
		if string(draft.Source[s.Start:s.End]) != string(given.Source[g.Start:g.End]) {
			return refuse("a shortcode is not the draft's: %s", show(g.Name))
		}
	}
	return nil
}

// holdSection compares what stands between two headings.
func holdSection(p Page, draft, given *form, i int) error {
	was, is := draft.sections[i], given.sections[i]
	said := draft.said(was)
	for _, s := range is.statements {
		if line := given.LineText(s.Line); said[line] > 0 {
			said[line]-- // as in the draft
			continue
		}
		if why := wrong(p, draft, given, was, s); why != "" {
			return refuse("%s: %s", why, show(s.Text))
		}
	}
	if want, got := was.claims(), is.claims(); !slices.Equal(got, want) {
		return refuse("a part of the page cites %s where the draft cites %s", strings.Join(got, " "), strings.Join(want, " "))
	}
	return nil
}

var (
	markerText = lazyregexp.New(`<!-- claim_id: c[0-9a-f]{16} -->`)
	tagText    = lazyregexp.New(`<[A-Za-z/!?]`)
	tokenText  = lazyregexp.New(`\{\{|\}\}|__[A-Z][A-Z0-9_]*__|\[\^`)
	numberText = lazyregexp.New(`\d+(?:[.,]\d+)*`)
	negation   = lazyregexp.New(`(?i)\b(?:not|no|never|cannot|without|neither|nor|none)\b|n['’]t\b`)
	codeText   = lazyregexp.New("(`+)(.+?)(`+)")
)

// wrong says what is wrong with a new sentence, or "".
func wrong(p Page, draft, given *form, was section, s page.Statement) string {
	line := given.LineText(s.Line)
	text := markerText.ReplaceAllString(line, "")
	known := was.claims()
	switch {
	case len(s.ClaimIDs) == 0:
		return "a sentence cites no claim"
	case len(s.ClaimIDs) > maxClaims:
		return "a sentence cites more claims than it can say"
	case len(text) > maxSentence:
		return "a sentence is too long"
	case tagText.MatchString(text):
		return "a sentence holds HTML"
	case tokenText.MatchString(text):
		return "a sentence holds a shortcode, a token or a footnote"
	case strings.ContainsFunc(text, hidden):
		return "a sentence holds a character that is not seen"
	}
	for _, id := range s.ClaimIDs {
		if !slices.Contains(known, id) {
			return "a sentence cites " + id + ", which is not of this part of the page"
		}
	}
	for _, l := range given.Links {
		if l.Line != s.Line {
			continue
		}
		if !draft.links[given.source(l)] {
			return "a sentence has a link that the draft does not have"
		}
		text = strings.Replace(text, given.source(l), "", 1) // what it says is the draft's
	}
	return newFacts(text, support(p, was, s.ClaimIDs))
}

// hidden reports whether a character is one that a reader does not see.
func hidden(r rune) bool {
	return r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Co, r))
}

// support is all that the claims say: in the evidence, and in the draft's words.
func support(p Page, was section, claims []string) string {
	text := p.Title
	for _, id := range claims {
		text += "\n" + p.Claims[id]
		for _, s := range was.statements {
			if slices.Contains(s.ClaimIDs, id) {
				text += "\n" + s.Text
			}
		}
	}
	return text
}

// newFacts says what of a sentence its claims do not say, or "".
func newFacts(text, support string) string {
	for _, m := range codeText.FindAllStringSubmatch(text, -1) {
		if !strings.Contains(support, strings.TrimSpace(m[2])) {
			return "a sentence holds code that its claims do not"
		}
	}
	numbers := numberText.FindAllString(support, -1)
	for _, n := range numberText.FindAllString(text, -1) {
		if !slices.Contains(numbers, n) {
			return "a sentence holds a number that its claims do not"
		}
	}
	from, known, unknown := stems(support), 0, 0
	for w := range stems(text) {
		if from[w] {
			known++
		} else {
			unknown++
		}
	}
	switch {
	case known == 0 || unknown > known:
		return "a sentence says what its claims do not"
	case negation.MatchString(text) != negation.MatchString(support):
		return "a sentence denies what its claims say, or the other way round"
	}
	return ""
}

// stems are the words of a text that carry meaning, as far as length tells: of four letters
// and more, cut to five, so that forms of a word are one.
func stems(text string) map[string]bool {
	out := map[string]bool{}
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) }) {
		if letters := []rune(word); len(letters) >= 4 {
			out[string(letters[:min(len(letters), 5)])] = true
		}
	}
	return out
}

// show is a piece of an answer for a report: one short line in quotes.
func show(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if letters := []rune(text); len(letters) > 80 {
		text = string(letters[:80]) + "…"
	}
	return fmt.Sprintf("%q", text)
}
