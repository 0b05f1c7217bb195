package gates

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/launch/page"
)

// distributionGate looks at how the content is spread over the pages: each does
// what its role is for, and no more. Its findings are warnings in profile local
// and get graver from there.
func distributionGate() Gate {
	return Gate{
		Name: "distribution", Title: "each page does what its role is for, and pages do not repeat each other",
		Codes: []string{
			PageRoleMissing, TOCHasSnippets, TOCMissingChildren, GuideIncomplete, ClaimQuotaUnderflow, ContentDuplicated, MandatoryPageMissing,
		},
		Timeout: within(60*time.Second, 120*time.Second), Run: runDistribution,
	}
}

// The bounds of the distribution gate.
const (
	leastStatements = 6   // a shorter page cannot repeat another
	mostShared      = 0.8 // of a page's statements, with a page of another section
	leastOfQuota    = 0.5 // of the claims that the plan gave to a page
)

func runDistribution(ctx context.Context, in *Input) (Outcome, error) {
	plan, err := Plan(in)
	if err != nil {
		return Outcome{}, err
	}
	d := distribution{in: in, plan: plan, pages: map[string]*page.Page{}}
	if err := in.document(dossier.ProductFactsName, &d.facts); err != nil {
		return Outcome{}, err
	}
	if d.index, err = newSiteIndex(ctx, in); err != nil {
		return Outcome{}, err
	}
	n, err := in.changedPages(ctx, func(p *page.Page) { d.pages[p.Path] = p }, nil)
	if err != nil {
		return Outcome{}, err
	}
	for _, planned := range plan.Pages {
		d.role(planned)
		switch p := d.pages[planned.OutputPath]; {
		case p != nil:
			d.page(planned, p)
		case !d.index.files[planned.OutputPath]:
			d.add(MandatoryPageMissing, in.byProfile(dossier.Warning, dossier.Warning, dossier.Error), planned.OutputPath, 0,
				"Force merge_and_link with launch_resume.", "the planned page is not there")
		}
	}
	d.duplicates()
	return Outcome{Issues: d.found, Checked: n}, nil
}

type distribution struct {
	in    *Input
	plan  dossier.PagePlan
	facts dossier.ProductFacts
	index *siteIndex
	pages map[string]*page.Page // the changed ones, by path
	found []dossier.Issue
}

func (d *distribution) add(code, severity, path string, line int, fix, format string, args ...any) {
	d.found = append(d.found, issue("distribution", code, severity, path, line, fix, format, args...))
}

func (d *distribution) role(planned dossier.PlannedPage) {
	known := []string{
		"landing", "toc", "comprehensive_guide", "workflow_page", "feature_showcase", "troubleshooting", "api_reference", "announcement",
	}
	if !slices.Contains(known, planned.Role) {
		d.add(PageRoleMissing, d.in.byProfile(dossier.Warning, dossier.Warning, dossier.Error), planned.OutputPath, 0,
			"Force build_plan with launch_resume.", "the plan gives the page no role that is known: %s", quote(planned.Role))
	}
}

func (d *distribution) page(planned dossier.PlannedPage, p *page.Page) {
	cited := map[string]bool{}
	for _, m := range p.Claims {
		cited[m.ID] = true
	}
	switch planned.Role {
	case "toc":
		d.toc(planned, p)
	case "comprehensive_guide":
		d.guide(planned, cited)
	}
	kept := 0
	for _, id := range planned.RequiredClaims {
		if cited[id] {
			kept++
		}
	}
	if float64(kept) < leastOfQuota*float64(len(planned.RequiredClaims)) {
		d.add(ClaimQuotaUnderflow, dossier.Warning, p.Path, 0, "Force draft_sections with launch_resume to write the page again.",
			"the page tells %d of the %d claims that the plan gave it", kept, len(planned.RequiredClaims))
	}
}

// toc wants a page that lists others to do just that.
func (d *distribution) toc(planned dossier.PlannedPage, p *page.Page) {
	if len(p.Fences) > 0 {
		d.add(TOCHasSnippets, d.in.byProfile(dossier.Warning, dossier.Error, dossier.Blocker), p.Path, p.Fences[0].Line,
			"Move the code to one of the pages that this one lists.", "a page that lists others shows code")
	}
	linked := map[string]bool{}
	d.follow(p, linked)
	for _, other := range d.plan.Pages { // a long page goes on in another, which only the first part lists
		if next := d.pages[other.OutputPath]; next != nil && linked[other.OutputPath] && other.Role == "api_reference" {
			d.follow(next, linked)
		}
	}
	for _, child := range d.plan.Pages {
		if child.OutputPath == planned.OutputPath || child.Section != planned.Section || !strings.HasPrefix(child.URLPath, planned.URLPath) ||
			!d.index.files[child.OutputPath] || linked[child.OutputPath] {
			continue
		}
		d.add(TOCMissingChildren, d.in.byProfile(dossier.Warning, dossier.Error, dossier.Error), p.Path, 0,
			"Add a link to it.", "the page does not list %s", quote(child.URLPath))
	}
}

// follow adds the files that the page links to.
func (d *distribution) follow(p *page.Page, to map[string]bool) {
	for _, l := range p.Links {
		if !staysInSite(d.index, l) {
			continue
		}
		if file, ok := d.index.resolve(p, l, d.index.target(l)); ok {
			to[file] = true
		}
	}
}

// guide wants something of each workflow that the plan gave to the guide.
func (d *distribution) guide(planned dossier.PlannedPage, cited map[string]bool) {
	for _, w := range d.facts.Workflows {
		given, told := 0, 0
		for _, id := range w.ClaimIDs {
			if slices.Contains(planned.RequiredClaims, id) {
				given++
				if cited[id] {
					told++
				}
			}
		}
		if given > 0 && told == 0 {
			d.add(GuideIncomplete, d.in.byProfile(dossier.Warning, dossier.Error, dossier.Error), planned.OutputPath, 0,
				"Force draft_sections with launch_resume to write the page again.", "the guide tells nothing of %s", quote(w.Title))
		}
	}
}

// duplicates finds pages of different sections that say the same.
func (d *distribution) duplicates() {
	seen := map[string][]string{} // statement → the pages before this one that have it
	for _, planned := range d.plan.Pages {
		p := d.pages[planned.OutputPath]
		if p == nil {
			continue
		}
		shared := map[string]int{}
		for _, s := range p.Statements {
			for _, other := range seen[s.Text] {
				shared[other]++
			}
		}
		for _, other := range d.plan.Pages {
			if n := shared[other.OutputPath]; other.Section != planned.Section && len(p.Statements) >= leastStatements &&
				float64(n) > mostShared*float64(len(p.Statements)) {
				d.add(ContentDuplicated, dossier.Warning, p.Path, 0, "Leave one of the two pages out, or let them differ.",
					"%d of %d statements are those of %s", n, len(p.Statements), quote(other.OutputPath))
			}
		}
		once := map[string]bool{}
		for _, s := range p.Statements {
			if !once[s.Text] {
				once[s.Text] = true
				seen[s.Text] = append(seen[s.Text], p.Path)
			}
		}
	}
}
