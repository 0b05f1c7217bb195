package gates

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/launch/page"
)

// consistencyGate holds pages to what the launch knows for certain: how the
// product is written, the addresses of its repository and of its pages, and the
// headings and sections that the plan promised.
func consistencyGate() Gate {
	return Gate{
		Name: "consistency", Title: "names, addresses, headings and sections are those of the facts and the plan",
		Codes:   []string{ProductNameMismatch, RepoURLMismatch, CanonicalURLMismatch, RequiredHeadingMissing, RequiredSectionMissing},
		Timeout: within(30*time.Second, 60*time.Second), Run: runConsistency,
	}
}

func runConsistency(ctx context.Context, in *Input) (Outcome, error) {
	c, err := newConsistency(in)
	if err != nil {
		return Outcome{}, err
	}
	var out Outcome
	out.Checked, err = in.changedPages(ctx, func(p *page.Page) {
		for _, m := range fresh(in, p, c.check, func(m Mismatch) dossier.Issue { return m.Issue }) {
			out.Issues = append(out.Issues, m.Issue)
		}
	}, nil)
	out.Issues = append(out.Issues, c.sections()...)
	return out, err
}

// Mismatch is one place of a page that is at odds with what the launch knows.
type Mismatch struct {
	Issue dossier.Issue
	Want  string     // what belongs there; "" if that is not known
	Start int        // offset in the page, where Link and Key are not set
	End   int        // equal to Start if nothing stands there
	Link  *page.Link // the link whose address it is
	Key   string     // the front matter key whose value it is
}

// Mismatches returns what is at odds on the page, in the order of the checks.
func Mismatches(in *Input, p *page.Page) ([]Mismatch, error) {
	c, err := newConsistency(in)
	if err != nil {
		return nil, err
	}
	return c.check(p), nil
}

type consistency struct {
	in      *Input
	plan    dossier.PagePlan
	facts   dossier.ProductFacts
	said    string         // what the repository and the plan say, as text
	name    *regexp.Regexp // the product's name in any case and with any separator; nil without a name
	planned map[string]dossier.PlannedPage
}

func newConsistency(in *Input) (*consistency, error) {
	c := &consistency{in: in, planned: map[string]dossier.PlannedPage{}}
	var err error
	if c.plan, err = Plan(in); err != nil {
		return nil, err
	}
	if err := in.document(dossier.ProductFactsName, &c.facts); err != nil {
		return nil, err
	}
	for _, name := range []string{dossier.EvidenceMapName, dossier.ProductFactsName, dossier.PagePlanName} {
		raw, err := in.Artifact(name)
		if err == nil {
			c.said += string(raw)
		}
	}
	for _, p := range c.plan.Pages {
		c.planned[p.OutputPath] = p
	}
	if words := strings.FieldsFunc(c.facts.ProductName, func(r rune) bool { return strings.ContainsRune(" -_.", r) }); len(words) > 0 {
		for i, w := range words {
			words[i] = regexp.QuoteMeta(w)
		}
		c.name, err = regexp.Compile(`(?i)\b` + strings.Join(words, `[ _.-]?`) + `\b`)
	}
	return c, err
}

func (c *consistency) check(p *page.Page) (found []Mismatch) {
	found = append(found, c.names(p)...)
	found = append(found, c.addresses(p)...)
	found = append(found, c.keys(p)...)
	return append(found, c.headings(p)...)
}

func (c *consistency) issue(code string, p *page.Page, line int, fix, format string, args ...any) dossier.Issue {
	return issue("consistency", code, dossier.Error, p.Path, line, fix, format, args...)
}

// names finds the product's name written as neither the repository nor the plan
// writes it. In lower case it may be a command, and is left alone.
func (c *consistency) names(p *page.Page) (found []Mismatch) {
	if c.name == nil {
		return nil
	}
	prose := map[int]bool{}
	for _, s := range p.Statements {
		prose[s.Line] = true
	}
	for _, h := range p.Headings {
		prose[h.Line] = true
	}
	for _, key := range []string{"title", "linkTitle", "description"} {
		if f, ok := p.Front.Field(key); ok {
			prose[f.Line] = true
		}
	}
	for _, m := range c.name.FindAllIndex(p.Source, -1) {
		text := string(p.Source[m[0]:m[1]])
		if text == c.facts.ProductName || text == strings.ToLower(text) || strings.Contains(c.said, text) ||
			!prose[p.Line(m[0])] || c.spared(p, m[0]) {
			continue
		}
		found = append(found, Mismatch{
			Issue: c.issue(ProductNameMismatch, p, p.Line(m[0]), "Write "+quote(c.facts.ProductName)+".",
				"the product is called %s, not %s", quote(c.facts.ProductName), quote(text)),
			Want: c.facts.ProductName, Start: m[0], End: m[1],
		})
	}
	return found
}

// spared reports whether the byte is no prose: code, a shortcode, a comment, or
// the address of a link.
func (c *consistency) spared(p *page.Page, at int) bool {
	if p.InCode(at) || inShortcode(p, at) {
		return true
	}
	line := p.LineStart(p.Line(at))
	if open := strings.LastIndex(string(p.Source[line:at]), "<!--"); open >= 0 && !strings.Contains(string(p.Source[line+open:at]), "-->") {
		return true
	}
	return slices.ContainsFunc(p.Links, func(l page.Link) bool {
		return l.Start <= at && at < l.End && !strings.Contains(l.Text, string(p.Source[at:min(at+len(c.facts.ProductName), l.End)]))
	})
}

// addresses checks where links lead.
func (c *consistency) addresses(p *page.Page) (found []Mismatch) {
	for _, l := range p.Links {
		if l.IsRef {
			continue
		}
		code, want := c.correct(l.Dest)
		if want == "" {
			continue
		}
		what := map[string]string{RepoURLMismatch: "the product's repository", CanonicalURLMismatch: "the product's page"}[code]
		found = append(found, Mismatch{
			Issue: c.issue(code, p, l.Line, "Link to "+quote(want)+".", "%s is at %s, not at %s", what, quote(want), quote(l.Dest)),
			Want:  want, Link: &l,
		})
	}
	return found
}

// correct returns what the address should be, or "" if it may stay.
func (c *consistency) correct(dest string) (code, want string) {
	if strings.Contains(c.said, dest) || !strings.Contains(dest, "://") {
		return "", ""
	}
	if base, ok := repoBase(c.facts.RepoURL); ok {
		if want := rebase(dest, base, 3); want != "" {
			return RepoURLMismatch, want
		}
		// The same host and name under another owner, with nothing behind it: an old home.
		mine, theirs := plainSegments(base), plainSegments(strings.TrimSuffix(dest, ".git"))
		if len(mine) == 3 && len(theirs) == 3 && mine[0] == theirs[0] && mine[2] == theirs[2] && mine[1] != theirs[1] {
			return RepoURLMismatch, base
		}
	}
	for _, canonical := range c.canonical() {
		base := strings.TrimRight(canonical, "/")
		switch want := rebase(dest, base, len(plainSegments(base))); want {
		case "":
		case base, base + "/":
			return CanonicalURLMismatch, canonical
		default:
			return CanonicalURLMismatch, want
		}
	}
	return "", ""
}

// canonical returns the configured addresses, the longest first.
func (c *consistency) canonical() []string {
	u := c.in.Config.CanonicalURLs
	if u == nil {
		return nil
	}
	out := []string{u.Product, u.Docs, u.Reference}
	slices.SortStableFunc(out, func(a, b string) int { return len(b) - len(a) })
	return out
}

// keys checks front matter that holds an address.
func (c *consistency) keys(p *page.Page) (found []Mismatch) {
	add := func(code string, f page.Field, want, what string) {
		found = append(found, Mismatch{
			Issue: c.issue(code, p, f.Line, "Set it to "+quote(want)+".", "the key %s says %s; %s is at %s", quote(f.Key), quote(f.Text), what, quote(want)),
			Want:  want, Key: f.Key,
		})
	}
	base, known := repoBase(c.facts.RepoURL)
	for _, f := range p.Front.Fields {
		switch strings.ToLower(f.Key) {
		case "repo_url", "repo", "repository", "github_repo_url", "github":
			if known && f.Text != "" && strings.TrimSuffix(strings.TrimRight(f.Text, "/"), ".git") != base {
				add(RepoURLMismatch, f, base, "the product's repository")
			}
		case "canonical", "canonicalurl", "canonical_url":
			if _, want := c.correct(f.Text); want != "" {
				add(CanonicalURLMismatch, f, want, "the page")
			}
		}
	}
	return found
}

// headings wants those that the plan requires of the page.
func (c *consistency) headings(p *page.Page) (found []Mismatch) {
	required := c.planned[p.Path].RequiredHeadings
	has := map[string]bool{}
	for _, h := range p.Headings {
		has[plainHeading(h.Text)] = true
	}
	for _, want := range required {
		if has[plainHeading(want)] {
			continue
		}
		m := Mismatch{Want: want, Issue: c.issue(RequiredHeadingMissing, p, 0, "Give the part its planned heading, or force build_plan with launch_resume.",
			"the plan wants a heading %s", quote(want))}
		if h, ok := nearestHeading(p, want, required); ok {
			m.Start, m.End = headingText(p, h)
		}
		found = append(found, m)
	}
	return found
}

func plainHeading(text string) string {
	return strings.Join(strings.Fields(strings.NewReplacer("`", "", "*", "", `\`, "").Replace(text)), " ")
}

// nearestHeading returns the heading that can only have been meant to be the one
// that is wanted: its letters are nearly the same, and the plan wants it nowhere.
func nearestHeading(p *page.Page, want string, required []string) (best page.Heading, ok bool) {
	limit := len(want)/3 + 1
	for _, h := range p.Headings {
		if slices.ContainsFunc(required, func(r string) bool { return plainHeading(r) == plainHeading(h.Text) }) {
			continue
		}
		if d := distance(strings.ToLower(want), strings.ToLower(h.Text)); d < limit {
			best, ok, limit = h, true, d
		}
	}
	return best, ok
}

// headingText returns where the words of a heading stand.
func headingText(p *page.Page, h page.Heading) (start, end int) {
	text := p.LineText(h.Line)
	words := strings.TrimRight(strings.TrimRight(text, " \t"), "#")
	start = len(words) - len(strings.TrimLeft(words, "# \t"))
	at := p.LineStart(h.Line)
	return at + start, at + len(strings.TrimRight(words, " \t"))
}

// sections wants a page in each section that the run_config requires, unless the
// plan says why there is none.
func (c *consistency) sections() (found []dossier.Issue) {
	for _, section := range c.in.Config.RequiredSections {
		planned, there := 0, 0
		for _, p := range c.plan.Pages {
			if p.Section == section {
				planned++
				if _, err := c.in.Site.Lstat(p.OutputPath); err == nil {
					there++
				}
			}
		}
		omitted := slices.ContainsFunc(c.plan.Omitted, func(o dossier.OmittedPage) bool { return o.Section == section })
		if there > 0 || planned == 0 && omitted {
			continue
		}
		found = append(found, issue("consistency", RequiredSectionMissing, dossier.Error, c.in.Context.Layout.SubdomainRoots[section], 0,
			"Force merge_and_link with launch_resume, or leave the section out of required_sections.",
			"the section %s is required and has no page", section))
	}
	return found
}
