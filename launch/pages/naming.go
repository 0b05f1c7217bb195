package pages

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	"github.com/gantry-run/gantry/internal/lazyregexp"
	"github.com/gantry-run/gantry/launch/dossier"
)

func (b *book) productName() string {
	return cmp.Or(b.Facts.ProductName, b.Config.ProductName, b.Config.ProductSlug)
}

// nameOf is what a page on the subject is called.
func (b *book) nameOf(rule Rule, subject string) string {
	if rule.ForEach == "workflow" {
		w, _ := b.workflow(subject)
		return cmp.Or(plainText(w.Title), w.Tag)
	}
	if rule.ForEach == "module" {
		return b.moduleTitle(subject)
	}
	return subject
}

var majorVersion = lazyregexp.New(`^v[0-9]+$`)

// shortName is what a page's slug is made of: of a module's name, what sets it
// apart from the folder that all modules are in.
func (b *book) shortName(rule Rule, subject, name string) string {
	if rule.ForEach != "module" {
		return name
	}
	m, number := b.module(subject)
	common := strings.Split(path.Dir(m.Name), "/")
	for _, m := range b.Facts.APISurface.Modules {
		segments := strings.Split(m.Name, "/")
		n := 0
		for n < len(common) && n < len(segments) && common[n] == segments[n] {
			n++
		}
		common = common[:n]
	}
	rest := strings.Split(m.Name, "/")[len(common):]
	if n := len(common); n > 0 && (len(rest) == 0 || majorVersion.MatchString(rest[0])) {
		rest = append([]string{common[n-1]}, rest...)
	}
	short := cmp.Or(strings.Join(rest, "/"), name)
	if number > 1 {
		short += fmt.Sprintf("-types-%d", number)
	}
	return short
}

// summary is the first sentence that the page tells, else what the project says
// of itself, else the name.
func (b *book) summary(rule Rule, parts []part, name string) string {
	for _, p := range parts {
		for _, it := range p.items {
			if it.text != "" && it.bullet == 0 {
				return plainText(it.text)
			}
		}
	}
	for _, fact := range []dossier.Fact{b.Facts.Positioning.ShortDescription, b.Facts.Positioning.Tagline} {
		if name == "" && b.knows(fact.ClaimID) {
			return plainText(b.texts[fact.ClaimID])
		}
	}
	if rule.ForEach == "module" {
		return "The public names of " + name
	}
	if name != "" {
		return b.productName() + ": " + name
	}
	return b.productName()
}
