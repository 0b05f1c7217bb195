package quickstart

import (
	"regexp"
	"slices"
	"strings"

	"github.com/gantry-run/gantry/internal/lazyregexp"
	"github.com/gantry-run/gantry/launch/dossier"
)

// form is a repository's name as a profile reads it.
type form struct {
	profile  *Profile
	family   Family
	listed   bool // whether the profile lists the family
	platform Platform
}

// formOf reads a repository's name by the first pattern that fits; nil if none does.
func formOf(repo string, profiles []Profile) *form {
	for i := range profiles {
		p := &profiles[i]
		for _, pattern := range p.RepositoryNames {
			text := strings.NewReplacer(
				regexp.QuoteMeta("{family}"), `(?P<family>[a-z0-9]+(?:-[a-z0-9]+)*)`,
				regexp.QuoteMeta("{platform}"), `(?P<platform>[a-z0-9.+#]+)`,
			).Replace(regexp.QuoteMeta(pattern))
			re := lazyregexp.New(`(?i)^` + text + `$`)
			m := re.FindStringSubmatch(repo)
			if m == nil {
				continue
			}
			platform := p.platform(strings.ToLower(m[re.SubexpIndex("platform")]))
			if platform == nil {
				continue
			}
			name := m[re.SubexpIndex("family")]
			if known := p.family(strings.ToLower(name)); known != nil {
				return &form{p, *known, true, *platform}
			}
			return &form{p, Family{strings.ToLower(name), name}, false, *platform}
		}
	}
	return nil
}

// maxValues bounds the names that are looked for in a README.
const maxValues = 20

// familyOf weighs what speaks for a product family.
func familyOf(repo string, f *form, seen Seen, text readme) *ballot {
	b := newBallot(familyField)
	if f != nil {
		f.weigh(b, seen.Manifests, text)
		return b
	}
	own := Slug(repo)
	values := []string{own}
	b.add(own, repositoryName)
	if named(seen.Manifests, own) {
		b.add(own, packageName)
	} else {
		for _, m := range seen.Manifests {
			name := Slug(packageBase(m.Name.Value))
			if isTop(m) && name != "" && len(values) < maxValues && !slices.Contains(values, name) {
				b.add(name, packageName)
				values = append(values, name)
			}
		}
	}
	agrees := false
	for _, value := range values {
		if holds(text.titleWords, value) {
			b.add(value, readmeTitle)
			agrees = true
		}
		if holds(text.words, value) {
			b.add(value, readmeMention)
		}
	}
	if n := len(text.titleWords); !agrees && n > 0 && n <= 3 {
		b.add(Slug(text.title), titleAlone)
	}
	return b
}

// weigh is familyOf for a repository that a profile knows by its name. What names
// another family of the same brand, and not this one, speaks for that.
func (f *form) weigh(b *ballot, manifests []dossier.Manifest, text readme) {
	own := f.family.Name
	if f.listed {
		b.add(own, familyInName)
	} else {
		b.add(own, familyOpen)
	}
	var names []string // words of the packages
	for _, m := range manifests {
		if isTop(m) {
			names = append(names, Slug(packageBase(m.Name.Value)))
		}
	}
	for _, value := range f.namedIn(names) {
		b.add(value, packageName)
	}
	for _, value := range f.namedIn([]string{strings.Join(text.titleWords, "-")}) {
		b.add(value, readmeTitle)
	}
	if holds(text.words, own) {
		b.add(own, readmeMention)
	}
}

// namedIn returns the family if one of the names holds it, and otherwise those that
// stand beside the brand.
func (f *form) namedIn(names []string) []string {
	var others []string
	for _, name := range names {
		words := strings.Split(name, "-")
		if holds(words, f.family.Name) {
			return []string{f.family.Name}
		}
		if f.profile.Brand == "" || !holds(words, f.profile.Brand) {
			continue
		}
		for _, family := range f.profile.Families {
			if holds(words, family.Name) {
				others = append(others, family.Name)
			}
		}
	}
	return others
}

func named(manifests []dossier.Manifest, name string) bool {
	return slices.ContainsFunc(manifests, func(m dossier.Manifest) bool {
		base := Slug(packageBase(m.Name.Value))
		return base != "" && core(base) == core(name)
	})
}

func isTop(m dossier.Manifest) bool { return !strings.Contains(m.Path, "/") }

var majorVersion = lazyregexp.New(`[/.]v\d+$`)

// packageBase returns a package's name without scope, group, host and version.
func packageBase(name string) string {
	name = majorVersion.ReplaceAllString(strings.TrimSpace(name), "")
	return name[strings.LastIndexAny(name, "/:")+1:]
}

// core is a slug for comparison: without a platform in front or behind, and
// without hyphens.
func core(slug string) string {
	words := strings.Split(slug, "-")
	for len(words) > 1 && affixes[words[0]] != "" {
		words = words[1:]
	}
	for len(words) > 1 && affixes[words[len(words)-1]] != "" {
		words = words[:len(words)-1]
	}
	return strings.Join(words, "")
}

// holds reports whether words of a text, in a row, are the name of the slug, with
// its platform or without.
func holds(words []string, slug string) bool {
	if slug == "" {
		return false
	}
	whole, bare := strings.ReplaceAll(slug, "-", ""), core(slug)
	for i := range words {
		run := ""
		for _, word := range words[i:] {
			run += word
			if run == whole || run == bare {
				return true
			}
			if len(run) >= len(whole) {
				break
			}
		}
	}
	return false
}
