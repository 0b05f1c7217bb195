package pages

import (
	"bytes"
	"context"
	"io/fs"
	"path"
	"slices"
	"strings"
	"text/template"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/lazyregexp"
	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/launch/page"
)

// Draft writes the planned pages of a section, in the plan's order. It fails with
// PAGE_PLANNER_TEMPLATE_MISSING, with SECTION_WRITER_UNFILLED_TOKENS if a template
// left a token, with SECTION_WRITER_CLAIM_MISSING if a line states something
// without a claim, and with CONFIG_INVALID if the contract requires a date and
// the commit's is not known. A page that is returned has passed these checks.
func Draft(ctx context.Context, in DraftInput, section string) ([]Page, error) {
	if err := in.Ruleset.check(); err != nil {
		return nil, err
	}
	b := newBook(in.PlanInput)
	drafts := []Page{}
	for _, planned := range in.Plan.Pages {
		if planned.Section != section {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, fault.From(err)
		}
		draft, err := b.draft(in, planned)
		if err != nil {
			return nil, err
		}
		drafts = append(drafts, draft)
	}
	return drafts, nil
}

func (b *book) draft(in DraftInput, planned dossier.PlannedPage) (Page, error) {
	rule, ok := in.Ruleset.rule(planned.Section, planned.Template)
	if !ok {
		return Page{}, fault.New(fault.TemplateMissing, "the ruleset has no page for %s in section %s", planned.Template, planned.Section)
	}
	tmpl, err := parseTemplate(in.Templates, planned.Template)
	if err != nil {
		return Page{}, err
	}
	parts := b.parts(rule, planned.Subject, within(planned.RequiredClaims), within(planned.Snippets))
	if rule.hasSource("modules") {
		b.linkModules(parts, in)
	}
	front, defaulted, err := frontmatter(in, planned)
	if err != nil {
		return Page{}, err
	}
	s := &sheet{book: b, in: in, planned: planned, parts: parts, front: front}
	var out bytes.Buffer
	if err := tmpl.Execute(&out, s); err != nil {
		return Page{}, fault.New(fault.Internal, "template %s cannot be filled", planned.Template).Because(err)
	}
	if source := s.left(); source != "" {
		return Page{}, fault.New(fault.TemplateMissing, "template %s has no place for the block %q of the ruleset", planned.Template, source)
	}
	claims, snippets := used(parts)
	draft := Page{
		OutputPath: planned.OutputPath, Content: append(bytes.TrimSpace(out.Bytes()), '\n'),
		ClaimIDs: claims, SnippetIDs: snippets, Defaulted: defaulted,
	}
	return draft, check(draft)
}

func within(ids []string) func(string) bool {
	set := make(map[string]bool, len(ids))
	for _, id := range ids {
		set[id] = true
	}
	return func(id string) bool { return set[id] }
}

func (r Rule) hasSource(name string) bool {
	return slices.ContainsFunc(r.Blocks, func(block Block) bool { return block.Source == name })
}

// linkModules turns the names of modules into links to their pages.
func (b *book) linkModules(parts []part, in DraftInput) {
	pages := map[string]string{} // claim of the module → address
	for _, planned := range in.Plan.Pages {
		if rule, _ := in.Ruleset.rule(planned.Section, planned.Template); rule.ForEach == "module" {
			if m, n := b.module(planned.Subject); n == 1 {
				pages[m.ClaimID+m.Name] = placeOf(in.PlanInput).prefix() + planned.URLPath
			}
		}
	}
	for i := range parts {
		if parts[i].Source != "modules" {
			continue
		}
		for j, it := range parts[i].items {
			for _, m := range b.Facts.APISurface.Modules {
				address := pages[m.ClaimID+m.Name]
				if address != "" && it.text == b.moduleLine(m, codeSpan(m.Name)) {
					parts[i].items[j].text = b.moduleLine(m, "["+codeSpan(m.Name)+"]("+address+")")
				}
			}
		}
	}
}

func parseTemplate(files fs.FS, name string) (*template.Template, error) {
	raw, err := fs.ReadFile(files, path.Join("templates", name))
	if err != nil {
		return nil, fault.New(fault.TemplateMissing, "template %s cannot be read", name).Because(err)
	}
	tmpl, err := template.New(name).Option("missingkey=error").Parse(string(raw))
	if err != nil {
		return nil, fault.New(fault.TemplateMissing, "template %s is not valid", name).Because(err)
	}
	return tmpl, nil
}

var leftover = lazyregexp.New(`\{\{|__[A-Z][A-Z0-9_]*__|<no value>`)

// check holds a page against its contract, with the parser that the gates use.
func check(draft Page) error {
	read, err := page.Parse(draft.OutputPath, draft.Content)
	if err != nil {
		return err
	}
	if read.Front.Err != nil {
		return fault.New(fault.Internal, "%s: the front matter cannot be read", draft.OutputPath).Because(read.Front.Err)
	}
	for _, at := range leftover.FindAllIndex(draft.Content, -1) {
		if at[0] < read.Body || !read.InCode(at[0]) {
			return fault.New(fault.DraftUnfilledTokens, "%s has a token that was not filled in line %d", draft.OutputPath, read.Line(at[0])).
				WithHint("Mend the template, which is named in the page plan.")
		}
	}
	for _, statement := range read.Statements {
		if len(statement.ClaimIDs) == 0 {
			return fault.New(fault.DraftClaimMissing, "%s states something without a claim in line %d", draft.OutputPath, statement.Line).
				WithHint("A template may hold headings, links and lead-ins that end with a colon; facts come from blocks.").
				WithDetails(map[string]string{"text": strings.ToValidUTF8(shorten(statement.Text, 200), "")})
		}
	}
	return nil
}
