package evidence

import (
	"strings"
	"unicode/utf8"

	"github.com/gantry-run/gantry/internal/lazyregexp"
)

// item adds a list item: as a sentence, as the end of its lead-in, or, in a list
// of features, as it stands.
func (r *proseReader) item(b block) {
	r.previous = nil
	sentences := b.prose.split()
	if len(sentences) == 0 || b.ordered || b.prose.bare {
		return
	}
	first := sentences[0]
	first.text = r.unlabelled(r.trimmed(first.text))
	first.plain = plainText(first.text)
	lead := leadJoin.FindStringSubmatch(b.leadIn)
	continues := lead != nil && len(sentences) == 1 && (!strings.HasSuffix(first.plain, ".") || strings.HasSuffix(first.plain, "etc.")) && !labelled.MatchString(first.plain) && r.joinable(lead[1]) && !imperative.MatchString(r.neutral(first.plain))
	if isClaim(r.neutral(first.plain)) && !r.weak(b, first) && !labelled.MatchString(first.plain) && !continues {
		sentences[0] = first
		r.sentences(b, sentences)
		return
	}
	features := featureList.MatchString(b.section().title) || featureList.MatchString(b.leadIn)
	if !r.doc.readme || b.nested || !features || !isReadableItem(first.plain) {
		return
	}
	if continues {
		first.text = r.subject(lead[1]) + lead[3] + " " + lowerFirst(first.text)
		first.text = finish(strings.Join(strings.Fields(first.text), " "))
		if utf8.RuneCountInString(plainText(first.text)) <= maxChars {
			r.addKind(b, first, kindFeature)
		}
		return
	}
	if lostSubject.MatchString(first.plain) && !labelled.MatchString(first.plain) {
		first.text = finish(r.g.name + " " + lowerFirst(first.text))
		r.addKind(b, first, kindOfClaim(plainText(first.text), b.headings, true, r.intro(b)))
		return
	}
	first.text = finish(upperFirst(first.text))
	r.addKind(b, first, kindFeature)
}

// labelled matches "Label: what it is" and "Label - what it is".
var labelled = lazyregexp.New(`^[^.]{2,40}(:| [-–—]) `)

// isReadableItem is isReadable for a few words.
func isReadableItem(plain string) bool {
	return len(plain) > 2 && isReadable(plain+" as a feature") && !outside.MatchString(plain) && !history.MatchString(plain) && !strings.HasSuffix(plain, "!")
}

// joinable reports whether a lead-in's subject stands on its own.
func (r *proseReader) joinable(lead string) bool {
	return !startsLost.MatchString(r.subject(lead)+" ") && !firstPerson.MatchString(lead) && !outside.MatchString(lead)
}

// subject names the product where a lead-in says "It".
func (r *proseReader) subject(lead string) string {
	return itSubject.ReplaceAllString(lead, r.g.name+" ")
}

var itSubject = lazyregexp.New(`(?i)^it (also )?`)
