package evidence

import (
	"context"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"
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
		r.paragraph(b)
	}
	r.shortItems()
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
	product  *regexp.Regexp
	previous *sentence // the sentence right before, if it became a claim
	short    []shortItem
}

// neutral puts a plain word where a text names the product, so that a product
// called Click or Express is not taken for an order.
func (r *proseReader) neutral(plain string) string {
	return r.product.ReplaceAllString(plain, "${1}Product${2}")
}

func productPattern(name string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)(^|[^\w./-])` + regexp.QuoteMeta(name) + `($|[^\w/-])`)
}

// shortItem is a feature bullet too short to stand alone.
type shortItem struct {
	text string
	b    block
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
	s.text = r.named(trimLead(s.text))
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
	if intro := len(b.headings) <= 1 || featureHeading.MatchString(b.section().title); r.doc.readme && intro && b.kind == paragraph && len(r.g.firstLines) < 3 {
		r.g.firstLines = append(r.g.firstLines, r.g.claims.get(id))
	}
	r.previous = &s
}

// selfReference matches the subject by which a README means the product.
var selfReference = regexp.MustCompile(`^(?i:this) (?i:repository|repo|project|package|library|module|crate|gem|tool|plugin|framework|program|application|app|sdk) (is|contains|provides|implements|offers|supports|helps|aims|lets|allows|makes|adds|exposes|includes|requires|has) `)

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
var selfNoun = regexp.MustCompile(`(?i)^([\[\w.+#-]+(\]\([^)]*\))? ){0,5}(module|library|package|framework|plugin|command[- ]line|cli|sdk|crate|gem|client)\b`)

// leansBack matches a sentence whose subject is in the one before.
var leansBack = regexp.MustCompile(`(?i)^((it|it's|its|they|their)\b|this (means|allows|makes|lets|enables|ensures) )`)

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
	switch kindOfClaim(s.plain, b.headings, true) {
	case kindAPI, kindWorkflow, kindQuickstart:
		return !named && !strings.Contains(s.text, "`")
	case kindFormat:
		return !named && len(b.headings) > 1 && !featureHeading.MatchString(b.section().title)
	}
	return false
}

// item adds a list item: as a sentence, as the end of its lead-in, or, in a list
// of features, as it stands.
func (r *proseReader) item(b block) {
	r.previous = nil
	sentences := b.prose.split()
	if len(sentences) == 0 || b.ordered || b.prose.bare {
		return
	}
	first := sentences[0]
	first.text = r.unlabelled(trimLead(first.text))
	first.plain = plainText(first.text)
	lead := leadJoin.FindStringSubmatch(b.leadIn)
	continues := lead != nil && len(sentences) == 1 && !strings.HasSuffix(first.plain, ".") && !labelled.MatchString(first.plain) && r.joinable(lead[1]) && !imperative.MatchString(r.neutral(first.plain))
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
		r.addKind(b, first, kindOfClaim(plainText(first.text), b.headings, true))
		return
	}
	if len(strings.Fields(first.plain)) < minItem {
		r.short = append(r.short, shortItem{strings.TrimRight(first.text, " .;,"), b})
		return
	}
	first.text = finish(upperFirst(first.text))
	r.addKind(b, first, kindFeature)
}

// labelled matches "Label: what it is" and "Label - what it is".
var labelled = regexp.MustCompile(`^[^.]{2,40}(:| [-–—]) `)

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

var itSubject = regexp.MustCompile(`(?i)^it (also )?`)

// shortItems states the short bullets of each list as one claim.
func (r *proseReader) shortItems() {
	byList := map[int][]shortItem{}
	var order []int
	for _, item := range r.short {
		if byList[item.b.list] == nil {
			order = append(order, item.b.list)
		}
		byList[item.b.list] = append(byList[item.b.list], item)
	}
	for _, list := range order {
		items := byList[list]
		for len(items) > 1 {
			n := min(len(items), 8)
			if rest := len(items) - n; rest == 1 {
				n--
			}
			r.addShort(items[:n])
			items = items[n:]
		}
	}
}

func (r *proseReader) addShort(items []shortItem) {
	words := make([]string, len(items))
	for i, item := range items {
		words[i] = lowerFirst(item.text)
	}
	text := finish(r.g.name + " names these features: " + enumerate(words))
	if utf8.RuneCountInString(plainText(text)) > maxChars {
		return
	}
	for _, item := range items {
		r.g.claims.add(text, kindFeature, fact, r.doc.anchor(item.b), cite(r.doc.path, item.b.start, item.b.end, r.sourceType(item.b)))
	}
	r.count++
}

// enumerate joins words with commas and a final "and".
func enumerate(words []string) string {
	switch n := len(words); n {
	case 0:
		return ""
	case 1:
		return words[0]
	case 2:
		return words[0] + " and " + words[1]
	default:
		return strings.Join(words[:n-1], ", ") + ", and " + words[n-1]
	}
}

func (r *proseReader) add(b block, s sentence) string {
	kind := kindOfClaim(s.plain, b.headings, r.doc.readme)
	if r.doc.readme && kind != kindLimitation && strings.HasPrefix(strings.ToLower(s.plain), strings.ToLower(r.g.name)+" is a") {
		kind = kindFeature // what the product is, whatever else it names
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
	for _, h := range b.headings[min(1, len(b.headings)):] {
		if !featureHeading.MatchString(h.title) {
			return fromTechnical
		}
	}
	return fromMarketing
}

// kindOfClaim sorts by wording first, then by the innermost heading that says something.
func kindOfClaim(plain string, headings []heading, readme bool) string {
	switch {
	case limitationWords.MatchString(plain):
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
	if !readme || len(headings) > 1 {
		return kindWorkflow
	}
	return kindFeature
}
