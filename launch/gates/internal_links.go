package gates

import (
	"cmp"
	"context"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/launch/page"
)

// internalLinksGate follows every link of a changed page that stays in the site:
// to files beside it, to addresses that Hugo serves, through ref and relref, and
// to anchors. Names that differ in case alone are broken, as they are on a server.
func internalLinksGate() Gate {
	return Gate{
		Name: "internal_links", Title: "links within the site lead to a page and an anchor that exist",
		Codes:   []string{LinkBrokenInternal, LinkBrokenAnchor, LinkBrokenRelative},
		Timeout: within(120*time.Second, 180*time.Second),
		Run: func(ctx context.Context, in *Input) (Outcome, error) {
			broken, checked, err := BrokenLinks(ctx, in, in.Changed)
			out := Outcome{Checked: checked}
			for _, b := range broken {
				out.Issues = append(out.Issues, b.Issue)
			}
			return out, err
		},
	}
}

// BrokenLink is one link that leads nowhere.
type BrokenLink struct {
	Issue   dossier.Issue
	Link    page.Link
	Nearest string // what to write instead, in the link's own form; "" if nothing is near
}

// BrokenLinks returns the broken links of the pages, and how many links it followed.
func BrokenLinks(ctx context.Context, in *Input, pages []string) (broken []BrokenLink, checked int, err error) {
	index, err := newSiteIndex(ctx, in)
	if err != nil {
		return nil, 0, err
	}
	only := *in
	only.Changed = pages
	var failed error
	check := func(p *page.Page) (found []BrokenLink) {
		for _, l := range p.Links {
			if failed != nil || ctx.Err() != nil || !staysInSite(index, l) {
				continue
			}
			var b *BrokenLink
			if b, failed = index.follow(ctx, p, l); b != nil {
				found = append(found, *b)
			}
		}
		return found
	}
	_, err = only.changedPages(ctx, func(p *page.Page) {
		for _, l := range p.Links {
			if staysInSite(index, l) {
				checked++
			}
		}
		broken = append(broken, fresh(in, p, check, func(b BrokenLink) dossier.Issue { return b.Issue })...)
	}, nil)
	return broken, checked, cmp.Or(err, failed)
}

// staysInSite reports whether the link can be followed here. A destination with
// a template token or another shortcode in it cannot.
func staysInSite(x *siteIndex, l page.Link) bool {
	if l.IsRef {
		return true
	}
	if l.Kind == page.Auto || strings.Contains(l.Dest, "{{") || token.MatchString(l.Dest) {
		return false
	}
	u, err := url.Parse(l.Dest)
	if err != nil {
		return !strings.Contains(l.Dest, ":") // no address at all: reported as broken
	}
	if u.Scheme == "" && u.Host == "" {
		return u.Opaque == ""
	}
	_, own := x.hostPath(u)
	return own && (u.Scheme == "" || u.Scheme == "http" || u.Scheme == "https")
}

// target is where a link leads.
type target struct {
	path     string // as written, decoded, without query and anchor
	anchor   string
	relative bool
}

func (x *siteIndex) target(l page.Link) target {
	u, err := url.Parse(l.Dest)
	if err != nil || l.IsRef {
		written, anchor, _ := strings.Cut(l.Dest, "#")
		return target{path: written, anchor: anchor, relative: !strings.HasPrefix(written, "/")}
	}
	t := target{path: u.Path, anchor: u.Fragment, relative: u.Host == "" && !strings.HasPrefix(u.Path, "/")}
	if u.Host != "" && t.path == "" {
		t.path = "/"
	}
	return t
}

// follow returns what is wrong with the link, or nil.
func (x *siteIndex) follow(ctx context.Context, p *page.Page, l page.Link) (*BrokenLink, error) {
	t := x.target(l)
	file, ok := x.resolve(p, l, t)
	if !ok {
		if err := x.addFrontmatter(ctx); err != nil {
			return nil, err
		}
		file, ok = x.resolve(p, l, t)
	}
	if !ok {
		return x.broken(p, l, t), nil
	}
	if t.anchor == "" || t.anchor == "top" || strings.HasPrefix(t.anchor, ":~:") || !isMarkdown(file) {
		return nil, nil
	}
	to := p
	if file != p.Path {
		to = x.page(file)
	}
	if to == nil || to.HasAnchor(t.anchor) || hasOwnAnchors(to) {
		return nil, nil
	}
	return brokenAnchor(p, l, to, t.anchor), nil
}

// resolve finds the file that the link leads to; "" for a page that Hugo makes
// without one.
func (x *siteIndex) resolve(p *page.Page, l page.Link, t target) (file string, ok bool) {
	switch {
	case l.IsRef:
		return x.resolveRef(p, t.path)
	case t.path == "" && (t.anchor != "" || strings.Contains(l.Dest, "?")):
		return p.Path, true
	case t.path == "":
		return "", false
	case !t.relative:
		return x.atURL(t.path)
	}
	beside := path.Join(path.Dir(p.Path), t.path)
	for _, name := range []string{beside, beside + ".md", beside + "/_index.md", beside + "/index.md"} {
		if x.files[name] {
			return name, true
		}
	}
	own := x.urlOf(p.Path)
	if file, ok = x.atURL(path.Join(own, t.path)); ok {
		return file, true
	}
	return x.atURL(path.Join(path.Dir(own), t.path))
}

// resolveRef finds a page as Hugo's ref does: from the content root or a section's
// root, beside the page, or by a file name that is the only one of its kind.
func (x *siteIndex) resolveRef(p *page.Page, ref string) (string, bool) {
	if ref == "" {
		return p.Path, true
	}
	folders := []string{x.in.contentRoot()}
	if _, root := x.in.sectionOf(p.Path); root != "" {
		folders = append(folders, root)
	}
	if !strings.HasPrefix(ref, "/") {
		folders = append(folders, path.Dir(p.Path))
	}
	for _, folder := range folders {
		name := path.Join(folder, ref)
		for _, candidate := range []string{name, name + ".md", name + "/_index.md", name + "/index.md"} {
			if x.files[candidate] && isMarkdown(candidate) {
				return candidate, true
			}
		}
	}
	if strings.Contains(ref, "/") {
		return x.atURL(ref)
	}
	for _, base := range []string{ref, ref + ".md"} {
		if named := x.byBase[base]; len(named) == 1 {
			return named[0], true
		}
	}
	return "", false
}

// hasOwnAnchors reports whether a shortcode on the page may make anchors that
// its source does not show.
func hasOwnAnchors(p *page.Page) bool {
	plain := []string{"", "ref", "relref", "highlight", "figure", "youtube", "vimeo", "gist", "param", "note", "tip", "warning"}
	return slices.ContainsFunc(p.Shortcodes, func(s page.Shortcode) bool { return !slices.Contains(plain, s.Name) })
}

func (x *siteIndex) broken(p *page.Page, l page.Link, t target) *BrokenLink {
	code := LinkBrokenInternal
	if t.relative && !l.IsRef {
		code = LinkBrokenRelative
	}
	nearest := x.nearest(p, l, t)
	fix := "Link to a page that exists, or remove the link and keep its text."
	if nearest != "" {
		fix = "Link to " + quote(nearest) + " instead, or remove the link and keep its text."
	}
	why := "the link leads to no page of the site: %s"
	if nearest != "" && strings.EqualFold(strings.Trim(nearest, "/"), strings.Trim(l.Dest, "/")) {
		why = "the link differs from the page's address in case: %s"
	}
	return &BrokenLink{
		Issue: issue("internal_links", code, dossier.Error, p.Path, l.Line, fix, why, quote(l.Dest)),
		Link:  l, Nearest: nearest,
	}
}

func brokenAnchor(p *page.Page, l page.Link, to *page.Page, anchor string) *BrokenLink {
	b := &BrokenLink{Link: l}
	before, _, _ := strings.Cut(l.Dest, "#")
	best := len(anchor)/2 + 1
	for _, h := range to.Headings {
		if d := distance(anchor, h.ID); d < best {
			best, b.Nearest = d, before+"#"+h.ID
		}
	}
	fix := "Link to a heading that is there, or to the page without an anchor."
	if b.Nearest != "" {
		fix = "Link to " + quote(b.Nearest) + " instead."
	}
	b.Issue = issue("internal_links", LinkBrokenAnchor, dossier.Error, p.Path, l.Line, fix,
		"the page has no heading or element of the link's anchor: %s", quote(l.Dest))
	return b
}
