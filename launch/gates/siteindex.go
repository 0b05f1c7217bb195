package gates

import (
	"context"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/gantry-run/gantry/launch/page"
)

// maxSiteFiles bounds how many files of a site are indexed.
const maxSiteFiles = 200_000

// siteIndex knows the site's files and the addresses that Hugo serves them at.
// Where Hugo's answer depends on what the index does not read (permalinks,
// themes), it knows all the answers there may be: to take a broken link for a
// good one does less harm than the opposite, for fixes remove broken links.
type siteIndex struct {
	in        *Input
	files     map[string]bool   // path relative to the site's root
	byURL     map[string]string // "/docs/x" (no slash at the end) → file, or "" for a page without one
	byBase    map[string][]string
	pages     map[string]*page.Page // parsed for their anchors; nil if unreadable
	addresses []string              // sorted keys of byURL
	searches  int                   // for the nearest page, so far
	fronted   bool                  // the pages' own url, slug and aliases were read
}

func newSiteIndex(ctx context.Context, in *Input) (*siteIndex, error) {
	x := &siteIndex{
		in: in, files: map[string]bool{}, byURL: map[string]string{}, byBase: map[string][]string{},
		pages: map[string]*page.Page{},
	}
	root := in.contentRoot()
	roots := []string{root}
	for _, r := range in.Context.Layout.SubdomainRoots {
		if clean := strings.Trim(path.Clean(r), "/"); clean != root && !strings.HasPrefix(clean, root+"/") {
			roots = append(roots, clean)
		}
	}
	slices.Sort(roots)
	for _, r := range roots {
		if err := x.walk(ctx, r, x.addContent); err != nil {
			return nil, err
		}
	}
	static := path.Join(path.Dir(root), "static")
	err := x.walk(ctx, static, func(name string) { x.byURL[strings.TrimPrefix(name, static)] = name })
	if err != nil {
		return nil, err
	}
	for _, generated := range []string{"", "/tags", "/categories", "/sitemap.xml", "/index.xml", "/robots.txt", "/404.html"} {
		x.addURL(generated, "")
	}
	x.addPlan()
	return x, nil
}

// walk calls add with each regular file under the folder; links are not followed.
func (x *siteIndex) walk(ctx context.Context, folder string, add func(name string)) error {
	if !fs.ValidPath(folder) {
		return fmt.Errorf("the site layout names a folder that is none: %s", quote(folder))
	}
	return fs.WalkDir(x.in.Site.FS(), folder, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return nil // a folder that is not there or not readable has nothing to link to
		case !entry.Type().IsRegular():
			return nil
		case len(x.files) >= maxSiteFiles:
			return fmt.Errorf("the site has more than %d files", maxSiteFiles)
		}
		x.files[name] = true
		add(name)
		return nil
	})
}

func (x *siteIndex) addURL(address, file string) {
	address = strings.TrimRight(address, "/")
	if old, ok := x.byURL[address]; !ok || old == "" {
		x.byURL[address] = file
	}
}

// addContent adds the addresses of a file under the content root.
func (x *siteIndex) addContent(name string) {
	root := x.in.contentRoot()
	section, sectionRoot := x.in.sectionOf(name)
	bases := []string{root}
	if section != "" && sectionRoot != root && path.Base(sectionRoot) != section {
		bases = append(bases, sectionRoot) // a section with a host of its own
	}
	for _, base := range bases {
		rel, under := strings.CutPrefix(name, base+"/")
		if !under {
			continue
		}
		if !isMarkdown(name) {
			for _, address := range x.withLanguages(path.Dir("/" + rel)) {
				x.addURL(path.Join(address, path.Base(rel)), name)
			}
			continue
		}
		x.byBase[path.Base(rel)] = append(x.byBase[path.Base(rel)], name)
		for _, address := range x.withLanguages(pageURL(rel, x.in.Context.Hugo.Languages)) {
			x.addURL(address, name)
			x.addURL(address+"/index.xml", name)
		}
		if top, _, nested := strings.Cut(rel, "/"); nested {
			x.addURL("/"+strings.ToLower(top), "") // Hugo lists top-level sections by itself
		}
	}
}

// pageURL returns the address of a page by its path below the content root, as
// Hugo makes it. A language in the file's name comes first: /fr/docs/x.
func pageURL(rel string, languages []string) string {
	rel = strings.TrimSuffix(rel, path.Ext(rel))
	language := ""
	if ext := strings.TrimPrefix(path.Ext(rel), "."); slices.Contains(languages, ext) {
		rel, language = strings.TrimSuffix(rel, "."+ext), ext
	}
	if base := path.Base(rel); base == "index" || base == "_index" {
		rel = path.Dir(rel)
	}
	return path.Join("/", language, strings.ToLower(strings.ReplaceAll(rel, " ", "-")))
}

// withLanguages returns the address in every form that a language segment in it
// may take: as it stands, in front, and left out for the default language.
func (x *siteIndex) withLanguages(address string) []string {
	out := []string{address}
	languages := x.in.Context.Hugo.Languages
	segments := strings.Split(strings.Trim(address, "/"), "/")
	for i, s := range segments {
		if !slices.Contains(languages, s) {
			continue
		}
		rest := "/" + strings.Join(slices.Delete(slices.Clone(segments), i, i+1), "/")
		out = append(out, path.Join("/", s, rest))
		if s == x.in.Context.Hugo.DefaultLanguage {
			out = append(out, rest)
		}
		return out
	}
	if d := x.in.Context.Hugo.DefaultLanguage; d != "" {
		out = append(out, path.Join("/", d, address))
	}
	return out
}

// addPlan adds the addresses that the launch planned for pages that exist.
func (x *siteIndex) addPlan() {
	plan, err := Plan(x.in)
	if err != nil {
		return // the schema gate says what is wrong with it
	}
	for _, p := range plan.Pages {
		if x.files[p.OutputPath] {
			x.addURL(p.URLPath, p.OutputPath)
		}
	}
}

// addFrontmatter adds what pages say of their own address. It reads them all,
// so it is done once, when a link is not found otherwise.
func (x *siteIndex) addFrontmatter(ctx context.Context) error {
	if x.fronted {
		return nil
	}
	x.fronted = true
	var names []string
	for name := range x.files {
		if isMarkdown(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		raw, err := readRegular(x.in.Site, name)
		if err != nil {
			continue
		}
		for _, own := range ownAddresses(page.ReadFront(raw)) {
			if !strings.HasPrefix(own, "/") {
				own = path.Join(x.urlOf(name), "..", own)
			}
			x.addURL(path.Clean(strings.ToLower(own)), name)
		}
	}
	return nil
}

// ownAddresses returns the url, slug and aliases of front matter.
func ownAddresses(f page.Front) []string {
	var out []string
	for _, key := range []string{"url", "slug", "aliases"} {
		field, _ := f.Field(key)
		if field.Text != "" {
			out = append(out, field.Text)
		}
		out = append(out, field.Items...)
	}
	return out
}

// urlOf returns an address of the page.
func (x *siteIndex) urlOf(name string) string {
	rel := strings.TrimPrefix(name, x.in.contentRoot()+"/")
	return pageURL(rel, x.in.Context.Hugo.Languages)
}

// page returns the parsed page, or nil if it cannot be read.
func (x *siteIndex) page(name string) *page.Page {
	p, ok := x.pages[name]
	if !ok {
		p, _ = x.in.Page(name)
		x.pages[name] = p
	}
	return p
}

// hostPath returns the path of an address on the site's own host.
func (x *siteIndex) hostPath(u *url.URL) (string, bool) {
	base, err := url.Parse(x.in.Context.Hugo.BaseURL)
	if err != nil || base.Host == "" || !strings.EqualFold(base.Host, u.Host) {
		return "", false
	}
	return u.Path, true
}

// atURL returns the file served at the path of an address.
func (x *siteIndex) atURL(address string) (file string, ok bool) {
	address = path.Clean("/" + address)
	if base, err := url.Parse(x.in.Context.Hugo.BaseURL); err == nil && len(base.Path) > 1 {
		if rest, under := strings.CutPrefix(address, strings.TrimRight(base.Path, "/")); under {
			if file, ok := x.lookup(path.Clean("/" + rest)); ok {
				return file, true
			}
		}
	}
	return x.lookup(address)
}

func (x *siteIndex) lookup(address string) (string, bool) {
	for _, a := range []string{address, strings.TrimSuffix(address, "/index.html")} {
		if file, ok := x.byURL[strings.TrimRight(a, "/")]; ok {
			return file, true
		}
	}
	for _, taxonomy := range []string{"/tags/", "/categories/"} {
		if strings.HasPrefix(address, taxonomy) {
			return "", true
		}
	}
	return "", false
}
