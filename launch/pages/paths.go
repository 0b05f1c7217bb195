package pages

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/gantry-run/gantry/launch/dossier"
)

// Slug makes a name for paths of a title: accents are taken off (NFKD), what is
// left of ASCII letters and digits is put in lower case, and anything between
// becomes one hyphen. A title without such a letter or digit gets "p" and eight hex
// digits of its SHA-256. The slug has at most 80 bytes.
func Slug(title string) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(title) {
		switch {
		case r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			b.WriteRune(unicode.ToLower(r))
		case unicode.Is(unicode.Mn, r) || r == '\'' || r == '’' || r == '`':
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	slug := b.String()
	if len(slug) > 80 {
		slug = slug[:80]
	}
	if slug = strings.Trim(slug, "-"); slug == "" {
		sum := sha256.Sum256([]byte(title))
		slug = "p" + hex.EncodeToString(sum[:4])
	}
	return slug
}

// place says where a page goes.
type place struct {
	site    dossier.SiteContext
	product string // slug
	locale  string
}

// folder is the product's folder in a section. Where folders mark the language
// and the section's own path does not, the language's folder is below it.
func (p place) folder(section string) string {
	root := p.site.Layout.SubdomainRoots[section]
	folder := path.Join(root, p.product)
	if p.byFolder(section) && !slices.Contains(strings.Split(root, "/"), p.locale) {
		folder = path.Join(folder, p.locale)
	}
	return folder
}

func (p place) byFolder(section string) bool {
	return p.site.Layout.Localization.ModeBySection[section] == "dir" && p.locale != ""
}

// file is a page's path in the site. Where file names mark the language, pages of
// the default one are not marked.
func (p place) file(section, folder, slug string) string {
	name := slug
	if p.site.Layout.Localization.ModeBySection[section] == "filename" && !p.isDefault() && p.locale != "" {
		name += "." + p.locale
	}
	return path.Join(p.folder(section), folder, name+".md")
}

func (p place) isDefault() bool {
	return p.locale == "" || p.locale == p.site.Hugo.DefaultLanguage
}

// url is the path of a page's address, with slashes at both ends. A section that is a
// subdomain (docs.example.org) is not part of it, and neither is the folder of the
// default language there.
func (p place) url(section, file string) string {
	root, content := p.site.Layout.SubdomainRoots[section], p.site.Layout.ContentRoot
	rel := strings.TrimPrefix(strings.TrimPrefix(file, content), "/")
	if p.host(section) != "" {
		rel = strings.TrimPrefix(strings.TrimPrefix(file, root), "/")
		rel = strings.Replace("/"+rel, "/"+p.locale+"/", "/", 1)
	}
	dir, name := path.Split(rel)
	name = strings.TrimSuffix(name, ".md")
	if p.site.Layout.Localization.ModeBySection[section] == "filename" {
		name = strings.TrimSuffix(name, "."+p.locale)
	}
	if name != "_index" && name != "index" {
		dir = path.Join(dir, name)
	}
	address := strings.Trim(dir, "/")
	if p.marksLanguage(rel) {
		address = path.Join(p.locale, address)
	}
	address = strings.ReplaceAll(strings.ToLower(address), " ", "-")
	if address == "" {
		return "/"
	}
	return "/" + address + "/"
}

func (p place) marksLanguage(rel string) bool {
	return p.locale != "" && !strings.HasPrefix(rel, p.locale+"/") && (!p.isDefault() || p.site.Hugo.LanguageInSub)
}

// host is the subdomain that a section's folder names, or "".
func (p place) host(section string) string {
	name := path.Base(p.site.Layout.SubdomainRoots[section])
	if strings.HasPrefix(name, section+".") {
		return name
	}
	return ""
}

// prefix is the path of the site's base URL, without a final slash.
func (p place) prefix() string {
	u, err := url.Parse(p.site.Hugo.BaseURL)
	if err != nil {
		return ""
	}
	return strings.TrimRight(u.EscapedPath(), "/")
}
