package quickstart

import (
	"slices"
	"strings"
	"unicode"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/lazyregexp"
)

// Product is what a product page's URL names.
type Product struct {
	Site     string // host of the URL, in lower case
	Section  string // section of the site that the host is
	Profile  string // name of the profile that knows the site
	Family   Family
	Platform Platform
	Locale   string // language tag in lower case, such as en or pt-br

	slug, name, repository string
}

// DerivedFromProduct is what a caller is told of a product's URL.
type DerivedFromProduct struct {
	Site          string `json:"site"`
	ProductSlug   string `json:"product_slug"`
	Platform      string `json:"platform"` // run_config's target_platform
	Locale        string `json:"locale"`
	GithubRepoURL string `json:"github_repo_url"`
}

// RunConfig returns what the URL gives for a launch.
func (p Product) RunConfig() RunConfig {
	return RunConfig{
		ProductSlug:    p.slug,
		ProductName:    p.name,
		Family:         p.Family.Name,
		TargetPlatform: p.Platform.Target,
		GithubRepoURL:  p.repository,
		Locale:         p.Locale,
	}
}

// Derived returns what to tell the caller.
func (p Product) Derived() DerivedFromProduct {
	return DerivedFromProduct{
		Site: p.Site, ProductSlug: p.slug, Platform: p.Platform.Target, Locale: p.Locale, GithubRepoURL: p.repository,
	}
}

// ParseProductURL reads the https URL of a product's page. The path begins with
// one of
//
//	/{family}/{platform}/
//	/{family}/{locale}/{platform}/
//	/{locale}/{family}/{platform}/
//
// and may go on; the blog takes the same forms. Names are recognised as the
// profile lists them, in either case; a locale is two letters, with a region or
// without, and DefaultLocale if there is none. Query and fragment do not count.
// The profiles must have passed CheckProfiles.
//
// The error is UNSUPPORTED_SITE for a host that no profile has, and INVALID_URL
// for everything else.
func ParseProductURL(raw string, profiles []Profile) (Product, error) {
	u, err := parseHTTPS(raw)
	if err != nil {
		return Product{}, err
	}
	host := strings.ToLower(u.Host)
	profile, section := profileOf(host, profiles)
	if profile == nil {
		return Product{}, fault.New(fault.UnsupportedSite, "no site profile has the URL's host").
			WithHint("use a page of one of %s, or add a site profile to the configuration", strings.Join(hostsOf(profiles), ", "))
	}
	parts, ok := segments(u.Path)
	if !ok {
		return Product{}, notProduct("its path has an empty, dotted or unprintable part")
	}
	family, platform, locale := profile.read(parts)
	if family == nil {
		return Product{}, notProduct("its path names no product family and platform that the site has")
	}
	p := Product{
		Site: host, Section: section, Profile: profile.Name,
		Family: *family, Platform: *platform, Locale: locale,
		slug:       Slug(profile.fill(profile.ProductSlug, *family, *platform)),
		name:       clip(printable(profile.fill(profile.ProductName, *family, *platform)), maxName),
		repository: profile.Repositories[family.Name+"/"+platform.Name],
	}
	if p.repository == "" {
		p.repository = profile.fill(profile.Repository, *family, *platform)
	}
	return p, nil
}

func notProduct(why string) error {
	return fault.New(fault.InvalidURL, "the URL is not that of a product's page: %s", why).
		WithHint("give a URL such as https://<site>/<family>/<platform>/, or start from the repository's URL")
}

// profileOf finds the profile that has the host, and the section that it is.
func profileOf(host string, profiles []Profile) (*Profile, string) {
	for i := range profiles {
		for section, known := range profiles[i].Hosts {
			if known == host {
				return &profiles[i], section
			}
		}
	}
	return nil, ""
}

func hostsOf(profiles []Profile) []string {
	var hosts []string
	for _, p := range profiles {
		for _, host := range p.Hosts {
			hosts = append(hosts, host)
		}
	}
	slices.Sort(hosts)
	return hosts
}

// segments splits a path into its parts, in lower case, and reports whether they
// are safe. A slash at the end does not count.
func segments(path string) ([]string, bool) {
	parts := strings.Split(strings.TrimSuffix(strings.TrimPrefix(path, "/"), "/"), "/")
	for i, part := range parts {
		if part == "" || strings.Trim(part, ".") == "" || strings.ContainsFunc(part, func(r rune) bool {
			return !unicode.IsPrint(r) || r == unicode.ReplacementChar || r == '\\'
		}) {
			return nil, false
		}
		parts[i] = strings.ToLower(part)
	}
	return parts, true
}

var localeToken = lazyregexp.New(`^[a-z]{2}(?:-[a-z]{2})?$`)

// read takes the three orders in turn. The names of a site come before locales:
// /3d/go/ is a platform and no language.
func (p *Profile) read(parts []string) (*Family, *Platform, string) {
	at := func(i int) string {
		if i < len(parts) {
			return parts[i]
		}
		return ""
	}
	for _, order := range []struct{ family, platform, locale int }{{0, 1, -1}, {0, 2, 1}, {1, 2, 0}} {
		family, platform := p.family(at(order.family)), p.platform(at(order.platform))
		if family == nil || platform == nil {
			continue
		}
		if order.locale < 0 {
			return family, platform, DefaultLocale
		}
		if locale := at(order.locale); localeToken.MatchString(locale) && p.platform(locale) == nil {
			return family, platform, locale
		}
	}
	return nil, nil, ""
}

// family finds a family by its name; nil if there is none.
func (p *Profile) family(name string) *Family {
	for i := range p.Families {
		if p.Families[i].Name == name {
			return &p.Families[i]
		}
	}
	return nil
}

// platform finds a platform by its name or an alias; nil if there is none.
func (p *Profile) platform(name string) *Platform {
	for i := range p.Platforms {
		if p.Platforms[i].Name == name || slices.Contains(p.Platforms[i].Aliases, name) {
			return &p.Platforms[i]
		}
	}
	return nil
}

// fill puts a product into the blanks of a text.
func (p *Profile) fill(text string, family Family, platform Platform) string {
	return strings.NewReplacer(
		"{family}", family.Name, "{platform}", platform.Name, "{Family}", family.Title, "{Platform}", platform.Title,
	).Replace(text)
}
