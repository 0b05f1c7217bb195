package evidence

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/gantry-run/gantry/internal/lazyregexp"
	"github.com/gantry-run/gantry/launch/dossier"
)

// position sums up: how the product presents itself, what it handles, what one
// does with it.
func (g *gatherer) position(context.Context) {
	g.readmeLicenses()
	g.confirmInstall()
	g.positioning()
	g.formatsAndPlatforms()
	g.workflows()
}

// positioning takes the tagline from the manifest and the short description
// from the README's first sentence; each stands in for the other.
func (g *gatherer) positioning() {
	p := &g.facts.Positioning
	var opening *dossier.Claim
	for _, claim := range g.firstLines {
		if strings.HasPrefix(strings.ToLower(plainText(claim.Text)), strings.ToLower(g.name)+" ") {
			opening = claim
			break
		}
	}
	for _, claim := range g.firstLines {
		if opening == nil && claim.Kind == kindFeature { // what it needs, or does not, says not what it is
			opening = claim
		}
	}
	if p.Tagline.Value == "" {
		p.Tagline = g.slogan()
	}
	if opening != nil {
		p.ShortDescription = dossier.Fact{Value: opening.Text, ClaimID: opening.ID}
		if p.Tagline.Value == "" {
			var text prose
			text.write(opening.Text, 1)
			p.Tagline = dossier.Fact{Value: plainText(text.split()[0].text), ClaimID: opening.ID}
		}
	}
	if doc := g.mainModule(); p.ShortDescription.Value == "" && doc != nil {
		p.ShortDescription = dossier.Fact{Value: doc.Text, ClaimID: doc.ID}
	}
	if p.ShortDescription.Value == "" && p.Tagline.ClaimID != "" {
		p.ShortDescription = dossier.Fact{Value: g.claims.get(p.Tagline.ClaimID).Text, ClaimID: p.Tagline.ClaimID}
	}
}

// mainModule is the claim that a Go package at the top level makes of itself.
func (g *gatherer) mainModule() *dossier.Claim {
	for _, m := range g.facts.APISurface.Modules {
		if m.Path == "." && packageDoc.MatchString(m.Doc) && m.ClaimID != "" {
			return g.claims.get(m.ClaimID)
		}
	}
	return nil
}

// slogan is a short paragraph without a verb right under the README's title.
func (g *gatherer) slogan() dossier.Fact {
	for _, doc := range g.docs {
		if !doc.readme {
			continue
		}
		for _, b := range doc.blocks {
			if len(b.headings) > 1 || b.kind != paragraph {
				return dossier.Fact{}
			}
			sentences := b.prose.split()
			if len(sentences) == 0 || b.prose.isLinks() {
				continue
			}
			s := sentences[0]
			words := strings.TrimRight(s.plain, ".")
			if n := len(strings.Fields(words)); n < 3 || n > 15 || !isReadable(words+" as described") || outside.MatchString(words) || startsLost.MatchString(words) || isClaim(productPattern(g.name).ReplaceAllString(words, "${1}Product${2}")) {
				return dossier.Fact{}
			}
			id := g.claims.add(g.name+" is described as “"+escapeText(words)+"”.", kindMetadata, fact, doc.anchor(b), cite(doc.path, s.start, s.end, fromMarketing))
			return dossier.Fact{Value: words, ClaimID: id}
		}
	}
	return dossier.Fact{}
}

var planned = lazyregexp.New(`(?i)\b(planned|roadmap|in the future|coming soon)\b`)

// formatsAndPlatforms lists the formats and systems that claims name.
func (g *gatherer) formatsAndPlatforms() {
	for _, claim := range g.claims.order {
		words := plainText(claim.Text)
		if claim.Kind == kindAPI || claim.Kind == kindMetadata || claim.Kind == kindLimitation {
			continue
		}
		if claim.Kind == kindFormat || claim.Kind == kindFeature && formatWords.MatchString(words) {
			status := "implemented"
			if planned.MatchString(words) {
				status = "planned"
			}
			for _, name := range formatNames.FindAllString(words, -1) {
				if !slices.ContainsFunc(g.facts.SupportedFormats, func(f dossier.FormatFact) bool { return f.Format == name }) {
					g.facts.SupportedFormats = append(g.facts.SupportedFormats, dossier.FormatFact{Format: name, Status: status, ClaimID: claim.ID})
				}
			}
		}
		if platformWords.MatchString(words) {
			for _, name := range platformNames.FindAllString(words, -1) {
				g.facts.SupportedPlatforms = addFact(g.facts.SupportedPlatforms, name, claim.ID)
			}
		}
	}
	slices.SortFunc(g.facts.SupportedFormats, func(a, b dossier.FormatFact) int { return cmp.Compare(a.Format, b.Format) })
	slices.SortFunc(g.facts.SupportedPlatforms, func(a, b dossier.Fact) int { return cmp.Compare(a.Value, b.Value) })
}

func addFact(facts []dossier.Fact, value, id string) []dossier.Fact {
	if slices.ContainsFunc(facts, func(f dossier.Fact) bool { return f.Value == value }) {
		return facts
	}
	return append(facts, dossier.Fact{Value: value, ClaimID: id})
}
