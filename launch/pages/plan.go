package pages

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/launch/dossier"
)

// Plan decides which pages to write: per required section, the rules' pages that
// the evidence carries, up to the section's quota. It fails with
// PAGE_PLANNER_INSUFFICIENT_EVIDENCE when no page at all can be written, with
// IA_PLANNER_URL_COLLISION when two pages would have one file or address, and
// with CONFIG_INVALID for a rule with a source that does not exist.
func Plan(in PlanInput) (dossier.PagePlan, error) {
	if err := in.Ruleset.check(); err != nil {
		return dossier.PagePlan{}, err
	}
	p := newPlanner(in)
	for _, section := range dossier.Sections() {
		if slices.Contains(in.Config.RequiredSections, section) {
			p.section(section)
		}
	}
	if len(p.plan.Pages) == 0 {
		return dossier.PagePlan{}, insufficient(in, p.plan.EvidenceVolume)
	}
	p.link()
	slices.SortStableFunc(p.plan.Pages, func(a, b dossier.PlannedPage) int {
		return cmp.Or(cmp.Compare(slices.Index(dossier.Sections(), a.Section), slices.Index(dossier.Sections(), b.Section)),
			cmp.Compare(a.OutputPath, b.OutputPath))
	})
	return p.plan, p.collision()
}

func (r Ruleset) check() error {
	for _, rule := range r.Pages {
		for _, block := range rule.Blocks {
			if sources[block.Source] == nil {
				return fault.New(fault.ConfigInvalid, "ruleset %s: %s has a block of unknown source %q", r.Version, rule.Template, block.Source)
			}
		}
	}
	return nil
}

type planner struct {
	*book
	place
	plan dossier.PagePlan
}

func newPlanner(in PlanInput) *planner {
	b := newBook(in)
	volume := volumeOf(in)
	tier, change := tierFor(in.Config.LaunchTier, volume, in.Ruleset)
	return &planner{
		book:  b,
		place: placeOf(in),
		plan: dossier.PagePlan{
			SchemaVersion: dossier.SchemaVersion, ProductSlug: in.Config.ProductSlug,
			LaunchTier: tier, TierAdjustments: change, ProductType: cmp.Or(in.Config.ProductType, "other"),
			EvidenceVolume: volume, Quotas: map[string]int{}, Pages: []dossier.PlannedPage{}, Omitted: []dossier.OmittedPage{},
		},
	}
}

func placeOf(in PlanInput) place {
	return place{site: in.Site, product: in.Config.ProductSlug, locale: in.Config.Locale}
}

// section plans one section. Pages of folders come after the pages in them, so
// that a folder without pages gets none.
func (p *planner) section(section string) {
	quota := quotaFor(section, p.plan.LaunchTier, p.plan.EvidenceVolume.Score, p.Ruleset)
	var carried []dossier.PlannedPage
	for _, rule := range p.Ruleset.Pages {
		if rule.Section != section {
			continue
		}
		for i, subject := range p.subjects(rule) {
			page, reason := p.page(rule, subject, i)
			if reason != "" {
				p.omit(rule, page.Slug, reason)
				continue
			}
			carried = append(carried, page)
		}
	}
	disambiguate(p, carried)
	kept := carried[:min(quota, len(carried))]
	for _, page := range carried[len(kept):] {
		rule, _ := p.Ruleset.rule(section, page.Template)
		p.omit(rule, page.Slug, fmt.Sprintf("the %s tier has room for %d pages in %s", p.plan.LaunchTier, quota, section))
	}
	kept = slices.DeleteFunc(slices.Clone(kept), func(page dossier.PlannedPage) bool {
		rule, _ := p.Ruleset.rule(section, page.Template)
		alone := rule.NeedsPages && !slices.ContainsFunc(kept, func(other dossier.PlannedPage) bool {
			return other.OutputPath != page.OutputPath && strings.HasPrefix(other.URLPath, page.URLPath)
		})
		if alone {
			p.omit(rule, page.Slug, "there is no page to list")
		}
		return alone
	})
	p.plan.Quotas[section] = quota
	p.plan.Pages = append(p.plan.Pages, kept...)
}

func (p *planner) omit(rule Rule, slug, reason string) {
	p.plan.Omitted = append(p.plan.Omitted, dossier.OmittedPage{Section: rule.Section, Slug: path.Join(rule.Folder, slug), Reason: reason})
}

// omitLines records what a page on a module had no room for.
func (p *planner) omitLines(rule Rule, slug string, parts []part) {
	left := 0
	for _, part := range parts {
		left += part.left
	}
	if left > 0 && rule.ForEach == "module" {
		p.omit(rule, slug, fmt.Sprintf("the page has no room for %d of its symbols", left))
	}
}

// subjects returns what a rule wants pages on: one nameless subject, or each
// workflow or module.
func (p *planner) subjects(rule Rule) []string {
	var list []string
	switch rule.ForEach {
	case "workflow":
		shown := p.firstStepsShown()
		for _, w := range p.roots() {
			if !p.skips(w, shown) && p.isGuide(w) {
				list = append(list, w.Tag)
			}
		}
	case "module":
		for _, m := range p.Facts.APISurface.Modules {
			if len(m.Symbols) > 0 {
				list = append(list, p.moduleSubjects(m)...)
			}
		}
	default:
		list = []string{""}
	}
	return list
}

// page plans one page, or says why the evidence does not carry it.
func (p *planner) page(rule Rule, subject string, index int) (dossier.PlannedPage, string) {
	parts := p.parts(rule, subject, nil, nil)
	claims, snippets := used(parts)
	name := p.nameOf(rule, subject)
	page := dossier.PlannedPage{
		Section: rule.Section, Slug: rule.Slug, Role: rule.Role, Template: rule.Template, Weight: rule.Weight + index,
		RequiredHeadings: headings(parts), RequiredClaims: claims, Snippets: snippets, CrossLinks: []string{}, Subject: subject,
	}
	if page.Slug == "" {
		page.Slug = Slug(p.shortName(rule, subject, name))
		if page.Slug == "index" || page.Slug == "_index" {
			page.Slug = "index-page" // a file index.md would be the folder's own page
		}
	}
	fill := strings.NewReplacer("{product}", p.productName(), "{product_slug}", p.Config.ProductSlug, "{subject}", name, "{summary}", p.summary(rule, parts, name)).Replace
	page.Title = shorten(fill(rule.Title), 120)
	page.Description = shorten(fill(rule.Description), 160)
	page.Purpose = fill(rule.Purpose)
	page.Slug = Slug(fill(page.Slug))
	if rule.Slug == "_index" {
		page.Slug = "_index"
	}
	p.locate(&page, rule)
	if needs := rule.NeedsSource; needs != "" && !slices.ContainsFunc(parts, func(p part) bool { return p.Source == needs && len(p.items) > 0 }) {
		return page, "the repository says nothing for its part " + needs
	}
	reason := p.lacks(rule, len(claims), len(snippets))
	if reason == "" {
		p.omitLines(rule, page.Slug, parts)
	}
	return page, reason
}

// locate gives the page its file and address.
func (p *planner) locate(page *dossier.PlannedPage, rule Rule) {
	page.OutputPath = p.file(page.Section, rule.Folder, page.Slug)
	page.URLPath = p.url(page.Section, page.OutputPath)
}

func (p *planner) lacks(rule Rule, claims, snippets int) string {
	switch {
	case claims < rule.MinClaims:
		reason := fmt.Sprintf("it needs %d claims and the repository gives %d", rule.MinClaims, claims)
		if api := p.Facts.APISurface; rule.Section == dossier.Reference && api.Status == "not_extracted" {
			reason += "; the API was not extracted: " + cmp.Or(api.Reason, "no reason given")
		}
		return reason
	case snippets < rule.MinSnippets:
		return fmt.Sprintf("it needs %d snippets and the repository gives %d", rule.MinSnippets, snippets)
	case claims+snippets < rule.MinEvidence:
		return fmt.Sprintf("it needs %d claims and snippets together and the repository gives %d", rule.MinEvidence, claims+snippets)
	}
	return ""
}

// disambiguate numbers pages of subjects whose names give one slug.
func disambiguate(p *planner, pages []dossier.PlannedPage) {
	taken := map[string]bool{}
	for i := range pages {
		page := &pages[i]
		rule, _ := p.Ruleset.rule(page.Section, page.Template)
		base := page.Slug
		for n := 2; taken[page.URLPath] && rule.ForEach != ""; n++ {
			page.Slug = fmt.Sprintf("%s-%d", base, n)
			p.locate(page, rule)
		}
		taken[page.URLPath] = true
	}
}

func (p *planner) collision() error {
	taken := map[string]string{}
	for _, page := range p.plan.Pages {
		for _, key := range []string{p.host(page.Section) + page.URLPath, "file " + strings.ToLower(page.OutputPath)} {
			if other, ok := taken[key]; ok {
				return fault.New(fault.URLCollision, "%s and %s would have the address %s", other, page.OutputPath, page.URLPath).
					WithHint("Give the sections folders of their own in site_layout, or take one of them out of required_sections.")
			}
			taken[key] = page.OutputPath
		}
	}
	return nil
}

func insufficient(in PlanInput, volume dossier.EvidenceVolume) error {
	missing := append([]string{}, in.Facts.Missing...)
	if api := in.Facts.APISurface; api.Status != "extracted" && api.Reason != "" {
		missing = append(missing, "the API: "+api.Reason)
	}
	return fault.New(fault.InsufficientEvidence, "the repository says too little for any page in %s: %d claims, %d snippets, %d API symbols",
		strings.Join(in.Config.RequiredSections, ", "), volume.Claims, volume.Snippets, volume.Symbols).
		WithHint("Add a README that says what the project does, or a package manifest with name and description, and commit it; then start a new run. Missing: %s", strings.Join(missing[:min(len(missing), 4)], " ")).
		WithDetails(map[string][]string{"missing": missing})
}
