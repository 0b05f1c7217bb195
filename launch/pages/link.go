package pages

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gantry-run/gantry/launch/dossier"
)

// link gives each page the addresses of the pages that it leads to: a folder's
// page to those below it, any other page to the next one of its folder, and all
// but references to the entry pages of the other sections. Only pages of one host
// are linked, for an address is a path.
func (p *planner) link() {
	pages := p.plan.Pages
	for i := range pages {
		page := &pages[i]
		links := below(pages, *page)
		if page.Slug != "_index" {
			links = append(links, next(pages, *page)...)
		}
		if page.Slug == "_index" && isEntry(*page) || page.Role == "announcement" || page.Role == "comprehensive_guide" {
			links = append(links, p.entries(pages, *page)...)
		}
		seen := map[string]bool{page.URLPath: true}
		for _, address := range links {
			if !seen[address] {
				page.CrossLinks = append(page.CrossLinks, address)
			}
			seen[address] = true
		}
	}
}

// below lists the pages of a folder page's folder; of those in a folder below,
// only that one's own page.
func below(pages []dossier.PlannedPage, page dossier.PlannedPage) []string {
	if page.Slug != "_index" {
		return nil
	}
	var links []string
	for _, other := range sorted(pages, page.Section) {
		rest, under := strings.CutPrefix(other.URLPath, page.URLPath)
		if !under || rest == "" {
			continue
		}
		parent, _, deep := strings.Cut(strings.TrimSuffix(rest, "/"), "/")
		if deep && slices.ContainsFunc(pages, func(o dossier.PlannedPage) bool { return o.URLPath == page.URLPath+parent+"/" }) {
			continue
		}
		links = append(links, other.URLPath)
	}
	return links
}

// next is the page after this one in its folder, or else in its section.
func next(pages []dossier.PlannedPage, page dossier.PlannedPage) []string {
	list := slices.DeleteFunc(sorted(pages, page.Section), func(o dossier.PlannedPage) bool { return o.Section != page.Section })
	i := slices.IndexFunc(list, func(o dossier.PlannedPage) bool { return o.OutputPath == page.OutputPath })
	if i < 0 || i+1 >= len(list) {
		return nil
	}
	return []string{list[i+1].URLPath}
}

// entries are the entry pages of the other sections on the same host.
func (p *planner) entries(pages []dossier.PlannedPage, page dossier.PlannedPage) []string {
	var links []string
	for _, section := range dossier.Sections() {
		if section == page.Section || p.host(section) != p.host(page.Section) {
			continue
		}
		for _, other := range sorted(pages, section) {
			if isEntry(other) {
				links = append(links, other.URLPath)
				break
			}
		}
	}
	return links
}

// isEntry reports whether a page is where readers enter its section.
func isEntry(page dossier.PlannedPage) bool {
	return page.Role == "landing" || page.Role == "announcement" || page.Slug == "_index" && page.Weight <= 10
}

// sorted lists a section's pages in reading order.
func sorted(pages []dossier.PlannedPage, section string) []dossier.PlannedPage {
	list := slices.DeleteFunc(slices.Clone(pages), func(o dossier.PlannedPage) bool { return o.Section != section })
	slices.SortStableFunc(list, func(a, b dossier.PlannedPage) int {
		return cmp.Or(cmp.Compare(a.Weight, b.Weight), cmp.Compare(a.URLPath, b.URLPath))
	})
	return list
}
