package evidence

import (
	"context"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/gantry-run/gantry/internal/lazyregexp"
)

const (
	maxPerDocument = 40
	maxFromProse   = 400
)

// fromDocuments makes claims of the prose of the entry documents.
func (g *gatherer) fromDocuments(ctx context.Context) {
	total := 0
	for _, doc := range g.docs {
		if ctx.Err() != nil || total >= maxFromProse {
			return
		}
		if doc.entry && !processDoc.MatchString(path.Base(doc.path)) {
			total += g.fromDocument(doc)
		}
	}
}

// fromDocument returns how many claims the document gave.
func (g *gatherer) fromDocument(doc document) int {
	r := &proseReader{g: g, doc: doc, product: productPattern(g.name)}
	for i := 0; i < len(doc.blocks) && r.count < maxPerDocument; i++ {
		b := doc.blocks[i]
		if b.kind == code || skipped(b.headings) || b.prose.isLinks() {
			r.previous = nil
			continue
		}
		if b.kind == listItem {
			r.item(b)
			continue
		}
		r.leads = i+1 < len(doc.blocks) && doc.blocks[i+1].kind == code
		r.paragraph(b)
	}
	return r.count
}

// skipped reports whether one of the headings puts its section out of question.
func skipped(headings []heading) bool {
	for _, h := range headings {
		if skipSection.MatchString(h.title) {
			return true
		}
	}
	return false
}

// isLinks reports whether the block says little but the texts of its links.
func (p prose) isLinks() bool {
	words := len(strings.TrimSpace(plainText(string(p.text))))
	return p.bare && words < 80 || p.links > 0 && p.links*10 >= words*7
}

// proseReader turns the blocks of one document into claims.
type proseReader struct {
	g        *gatherer
	doc      document
	count    int
	product  *lazyregexp.Regexp
	previous *sentence // the sentence right before, if it became a claim
	leads    bool      // code follows the block
}

// neutral puts a plain word where a text names the product, so that a product
// called Click or Express is not taken for an order.
func (r *proseReader) neutral(plain string) string {
	return r.product.ReplaceAllString(plain, "${1}Product${2}")
}

func productPattern(name string) *lazyregexp.Regexp {
	return lazyregexp.New(`(?i)(^|[^\w./-])` + regexp.QuoteMeta(name) + `($|[^\w/-])`)
}

func (r *proseReader) paragraph(b block) { r.sentences(b, b.prose.split()) }

func (r *proseReader) sentences(b block, all []sentence) {
	r.previous = nil
	for _, s := range all {
		r.sentence(b, s)
	}
	r.previous = nil
}

// unlabelled cuts "Fast. goldmark is fast" down to the sentence about the product.
func (r *proseReader) unlabelled(text string) string {
	label, rest, ok := strings.Cut(text, ". ")
	if ok && len(strings.Fields(label)) <= 3 && strings.HasPrefix(strings.ToLower(rest), strings.ToLower(r.g.name)+" ") {
		return rest
	}
	return text
}

// sentence adds a sentence if it is a claim; one that leans on the sentence
// before is joined to it.
func (r *proseReader) sentence(b block, s sentence) {
	s.text = r.named(r.trimmed(s.text))
	if text, ok := strings.CutSuffix(s.text, ":"); ok && r.leads && !dangles.MatchString(text) {
		s.text = finish(text)
	}
	s.plain = plainText(s.text)
	before := r.previous
	r.previous = nil
	if leansBack.MatchString(s.plain) {
		if before != nil {
			r.join(b, *before, s)
		}
		return
	}
	if !isClaim(r.neutral(s.plain)) || r.weak(b, s) {
		return
	}
	s.text = finish(s.text)
	id := r.add(b, s)
	if r.doc.readme && r.opens(b) && !opensWeakly.MatchString(s.plain) {
		r.g.firstLines = append(r.g.firstLines, r.g.claims.get(id))
	}
	r.previous = &s
}

var abilities = lazyregexp.New(`^(supports|provides|includes|offers|has|allows|lets|enables|comes with|features|ships with) `)

// isSelfDescription reports whether a sentence says what the product is, whatever
// else it names, or what it can do, wherever it stands.
func isSelfDescription(plain, name, kind string) bool {
	if len(plain) < len(name)+2 || !strings.EqualFold(plain[:len(name)], name) || plain[len(name)] != ' ' {
		return false
	}
	rest := plain[len(name)+1:]
	inDepth := kind == kindWorkflow || kind == kindAPI || kind == kindQuickstart
	return strings.HasPrefix(rest, "is a ") || strings.HasPrefix(rest, "is an ") || inDepth && abilities.MatchString(rest)
}

// intro reports whether a block is before the document's second heading: that
// of a title, if it has one.
func (r *proseReader) intro(b block) bool {
	return len(b.headings) == 0 || len(b.headings) == 1 && b.headings[0].line == r.doc.firstHeading()
}

// firstHeading is the line of the first heading that has something below it.
func (d document) firstHeading() int {
	for _, b := range d.blocks {
		if len(b.headings) > 0 {
			return b.headings[0].line
		}
	}
	return 0
}

// opens reports whether a block may say what the product is: one of the first
// three in the intro, or below a heading like "Overview".
func (r *proseReader) opens(b block) bool {
	return b.kind == paragraph && len(r.g.firstLines) < 3 && (r.intro(b) || featureHeading.MatchString(b.section().title))
}

// opensWeakly matches sentences that tell how and not what.
var opensWeakly = lazyregexp.New(`(?i)^(to|if|you|for|when|in|by|with|at|on|as) `)

// trimmed is trimLead, but leaves a product's name as it is written.
func (r *proseReader) trimmed(text string) string {
	if strings.HasPrefix(text, r.g.name+" ") {
		return text
	}
	return trimLead(text)
}

// selfReference matches the subject by which a README means the product.
var selfReference = lazyregexp.New(`^(?i:this) (?:[A-Z]\w+ )?(?i:repository|repo|project|package|library|module|crate|gem|tool|plugin|framework|program|application|app|sdk) (is|contains|provides|implements|offers|supports|helps|aims|lets|allows|makes|adds|exposes|includes|requires|has) `)

// named puts the product's name where a README says "this library".
func (r *proseReader) named(text string) string {
	if !r.doc.readme {
		return text
	}
	if m := selfReference.FindStringSubmatch(text); m != nil {
		return r.g.name + " " + m[1] + " " + text[len(m[0]):]
	}
	if rest, ok := strings.CutPrefix(text, "This is a "); ok && selfNoun.MatchString(rest) {
		return r.g.name + " is a " + rest
	}
	return text
}

// selfNoun matches what only the product can be.
var selfNoun = lazyregexp.New(`(?i)^([\[\w.+#-]+(\]\([^)]*\))? ){0,5}(module|library|package|framework|plugin|command[- ]line|cli|sdk|crate|gem|client)\b`)

// leansBack matches a sentence whose subject is in the one before.
var leansBack = lazyregexp.New(`(?i)^((it|it's|its|they|their)\b|this (means|allows|makes|lets|enables|ensures) )`)

// join replaces a claim by the same with the next sentence attached.
func (r *proseReader) join(b block, before, s sentence) {
	rest := leansBack.ReplaceAllString(s.plain, "The product ")
	text := before.text + " " + finish(s.text)
	if !isClaim(r.neutral(rest)) || utf8.RuneCountInString(plainText(text)) > maxChars {
		return
	}
	anchor := r.doc.anchor(b)
	if !r.g.claims.replace(before.text, text, anchor, cite(r.doc.path, before.start, s.end, r.sourceType(b))) {
		return
	}
	joined := before
	joined.text, joined.end = text, s.end
	r.previous = &joined
}

// weak holds sentences that are deep in a context to more: they must name the
// product or something in code; outside of the README, begin with it.
func (r *proseReader) weak(b block, s sentence) bool {
	named := strings.Contains(strings.ToLower(s.plain), strings.ToLower(r.g.name)) || strings.HasPrefix(s.text, "`")
	if !r.doc.readme {
		return !named
	}
	switch kindOfClaim(s.plain, b.headings, true, r.intro(b)) {
	case kindAPI, kindWorkflow, kindQuickstart:
		return !named && !strings.Contains(s.text, "`")
	case kindFormat:
		return !named && !r.intro(b) && !featureHeading.MatchString(b.section().title)
	}
	return false
}

func (r *proseReader) add(b block, s sentence) string {
	kind := kindOfClaim(s.plain, b.headings, r.doc.readme, r.intro(b))
	if r.doc.readme && kind != kindLimitation && isSelfDescription(s.plain, r.g.name, kind) {
		kind = kindFeature
	}
	return r.addKind(b, s, kind)
}

func (r *proseReader) addKind(b block, s sentence, kind string) string {
	r.count++
	return r.g.claims.add(s.text, kind, fact, r.doc.anchor(b), cite(r.doc.path, s.start, s.end, r.sourceType(b)))
}

// sourceType ranks where a sentence stands.
func (r *proseReader) sourceType(b block) string {
	switch {
	case !r.doc.readme && (strings.Contains(strings.ToLower(r.doc.path), "api") || strings.Contains(strings.ToLower(r.doc.path), "reference")):
		return fromAPIDoc
	case !r.doc.readme:
		return fromDoc
	}
	if r.intro(b) || featureHeading.MatchString(b.section().title) {
		return fromMarketing
	}
	return fromTechnical
}

// dangles matches a sentence that its colon and what follows complete.
var dangles = lazyregexp.New(`(?i)\b(by|with|as|like|the|an?|to|of|in|running|using|calling|adding|doing|following|is|are|do|does|this|so|follows|e\.g|way|code|command|example)$`)

// conditional matches sentences about a case and not about the product.
var conditional = lazyregexp.New(`(?i)^(if|when|unless|by default|the|an?|some)\b`)

// kindOfClaim sorts by wording first, then by the innermost heading that says something.
func kindOfClaim(plain string, headings []heading, readme, intro bool) string {
	switch {
	case limitationWords.MatchString(plain) && (readme || !conditional.MatchString(plain) && !strings.Contains(plain, "no longer")):
		return kindLimitation
	case compatibilityWords.MatchString(plain):
		return kindCompatibility
	case readme && formatWords.MatchString(plain):
		return kindFormat
	case installWords.MatchString(plain):
		return kindInstall
	}
	for i := len(headings) - 1; i >= 0; i-- {
		for _, rule := range headingKinds() {
			if rule.pattern.MatchString(headings[i].title) && (rule.kind != kindFeature || readme) {
				return rule.kind
			}
		}
	}
	if !readme || !intro {
		return kindWorkflow
	}
	return kindFeature
}
