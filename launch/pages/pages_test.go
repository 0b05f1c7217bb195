package pages

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/proc"
	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/launch/page"
	"github.com/gantry-run/gantry/launch/site"
)

var marker = regexp.MustCompile(`<!-- claim_id: (c[0-9a-f]{16}) -->$`)

func TestEveryStatementEndsWithAKnownClaim(t *testing.T) {
	d := widget(t)
	_, drafts := d.drafts(t)
	known := map[string]bool{}
	for _, claim := range d.Evidence.Claims {
		known[claim.ID] = true
	}
	statements := 0
	for _, draft := range drafts {
		read, err := page.Parse(draft.OutputPath, draft.Content)
		if err != nil {
			t.Fatal(err)
		}
		told := map[string]bool{}
		for _, s := range read.Statements {
			statements++
			m := marker.FindStringSubmatch(read.LineText(s.Line))
			if m == nil || !known[m[1]] {
				t.Errorf("%s:%d: %s", draft.OutputPath, s.Line, read.LineText(s.Line))
			}
			if told[s.Text] {
				t.Errorf("%s:%d says again: %s", draft.OutputPath, s.Line, s.Text)
			}
			told[s.Text] = true
		}
		for _, m := range read.Claims {
			if !slices.Contains(draft.ClaimIDs, m.ID) {
				t.Errorf("%s: claim %s is not reported", draft.OutputPath, m.ID)
			}
		}
	}
	if statements < 40 {
		t.Errorf("only %d statements were checked", statements)
	}
}

func TestSnippetsAreTheCataloguesVerbatim(t *testing.T) {
	d := widget(t)
	_, drafts := d.drafts(t)
	catalogue := map[string]dossier.Snippet{}
	for _, s := range d.Snippets.Snippets {
		catalogue[s.ID] = s
	}
	shown := 0
	for _, draft := range drafts {
		read, err := page.Parse(draft.OutputPath, draft.Content)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, fence := range read.Fences {
			shown++
			s, ok := catalogue[fence.SnippetID]
			if !ok || fence.Info != s.Language || page.UnescapeHugo(fence.Content) != s.Content {
				t.Errorf("%s:%d: snippet %q\n%q", draft.OutputPath, fence.Line, fence.SnippetID, fence.Content)
			}
			ids = append(ids, fence.SnippetID)
		}
		if !slices.Equal(ids, draft.SnippetIDs) {
			t.Errorf("%s reports %v and shows %v", draft.OutputPath, draft.SnippetIDs, ids)
		}
	}
	if shown < 4 {
		t.Errorf("only %d snippets were checked", shown)
	}
}

func TestPagesKeepToTheirPlan(t *testing.T) {
	plan, drafts := widget(t).drafts(t)
	urls := map[string]bool{}
	for _, p := range plan.Pages {
		urls[p.URLPath] = true
	}
	for i, planned := range plan.Pages {
		draft := drafts[i]
		read, err := page.Parse(draft.OutputPath, draft.Content)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(planned.RequiredClaims, draft.ClaimIDs); diff != "" || planned.OutputPath != draft.OutputPath {
			t.Errorf("%s: claims %s", planned.OutputPath, diff)
		}
		level := 1
		var titles []string
		for _, h := range read.Headings {
			if h.Level > level+1 || h.Level < 2 {
				t.Errorf("%s:%d: a heading of level %d after one of %d", draft.OutputPath, h.Line, h.Level, level)
			}
			level = h.Level
			titles = append(titles, h.Text)
		}
		for _, want := range planned.RequiredHeadings {
			if !slices.Contains(titles, want) {
				t.Errorf("%s lacks the heading %q", draft.OutputPath, want)
			}
		}
		linked := map[string]bool{}
		for _, link := range read.Links {
			linked[link.Dest] = true
			if strings.HasPrefix(link.Dest, "/") && !urls[link.Dest] {
				t.Errorf("%s:%d links to %s, which is not planned", draft.OutputPath, link.Line, link.Dest)
			}
		}
		for _, want := range planned.CrossLinks {
			if !linked[want] && planned.Section != dossier.Reference {
				t.Errorf("%s does not link to %s", draft.OutputPath, want)
			}
		}
	}
}

func TestFrontMatterMeetsTheSampledContract(t *testing.T) {
	d := widget(t)
	d.Contract.Sections["docs"] = dossier.SectionFrontmatter{
		Required: []string{"author", "categories", "date", "draft", "extra", "rating", "title", "toc", "url", "weight"},
		Types: map[string]string{"author": "string", "categories": "list", "date": "date", "draft": "boolean", "extra": "map", "rating": "number",
			"title": "string", "toc": "boolean", "url": "string", "weight": "string"},
	}
	plan, drafts := d.drafts(t)
	for i, draft := range drafts {
		if plan.Pages[i].Section != "docs" {
			continue
		}
		read, err := page.Parse(draft.OutputPath, draft.Content)
		if err != nil {
			t.Fatal(err)
		}
		for key, kind := range d.Contract.Sections["docs"].Types {
			field, ok := read.Front.Field(key)
			if !ok || !field.Is(kind) {
				t.Errorf("%s: %s is %q %q, want %s", draft.OutputPath, key, field.Type, field.Text, kind)
			}
		}
		if diff := cmp.Diff([]string{"author", "extra", "rating"}, draft.Defaulted); diff != "" {
			t.Error(diff)
		}
	}
	d.CommitDate = ""
	plan, _ = Plan(d.PlanInput)
	_, err := Draft(t.Context(), DraftInput{PlanInput: d.PlanInput, Plan: plan, Templates: specFiles}, "docs")
	if !fault.Is(err, fault.ConfigInvalid) {
		t.Errorf("a page without its date: %v", err)
	}
}

func TestAnEmptyRepositoryIsAFaultThatSaysWhatIsMissing(t *testing.T) {
	_, err := Plan(empty(t).PlanInput)
	if !fault.Is(err, fault.InsufficientEvidence) || fault.From(err).Hint == "" {
		t.Fatalf("got %v", err)
	}
	details, _ := fault.From(err).Details.(map[string][]string)
	if len(details["missing"]) != 2 {
		t.Errorf("missing: %v", details)
	}
}

func TestAManifestAloneGivesShortHonestPages(t *testing.T) {
	d := empty(t)
	license := d.fact("MIT", "metadata", "The license is MIT.", "package.json", 3)
	d.Facts.License = &license
	plan, drafts := d.drafts(t)
	var paths []string
	for _, draft := range drafts {
		paths = append(paths, draft.OutputPath)
	}
	if diff := cmp.Diff([]string{"content/products/widget/_index.md", "content/docs/widget/_index.md"}, paths); diff != "" {
		t.Error(diff)
	}
	if plan.LaunchTier != "minimal" || len(plan.TierAdjustments) != 1 || plan.TierAdjustments[0].From != "standard" {
		t.Errorf("%s %+v", plan.LaunchTier, plan.TierAdjustments)
	}
	reasons := fmt.Sprint(plan.Omitted)
	if !strings.Contains(reasons, "the API was not extracted") {
		t.Errorf("omitted: %s", reasons)
	}
}

func TestWhatIsInDoubtIsNotTold(t *testing.T) {
	d := widget(t)
	features := d.Facts.ClaimGroups.KeyFeatures
	for i := range d.Evidence.Claims {
		if d.Evidence.Claims[i].ID == features[0] {
			d.Evidence.Claims[i].Truth = "inference"
		}
	}
	d.Evidence.Contradictions = []dossier.Contradiction{
		{ClaimA: features[1], ClaimB: features[2], Resolution: "prefer_higher_priority", Winner: features[2]},
		{ClaimA: features[3], ClaimB: features[4], Resolution: "unresolved"},
	}
	_, drafts := d.drafts(t)
	told := map[string]bool{}
	for _, draft := range drafts {
		for _, id := range draft.ClaimIDs {
			told[id] = true
		}
	}
	for i, want := range []bool{false, false, true, false, false, true} {
		if told[features[i]] != want {
			t.Errorf("feature %d told: %v", i, told[features[i]])
		}
	}
}

func TestTwoPagesWithOneAddressAreAFault(t *testing.T) {
	d := widget(t)
	d.Site.Layout.SubdomainRoots["reference"] = d.Site.Layout.SubdomainRoots["docs"]
	if _, err := Plan(d.PlanInput); !fault.Is(err, fault.URLCollision) {
		t.Errorf("got %v", err)
	}
}

func TestWorkflowsWithOneNameGetDistinctPages(t *testing.T) {
	d := widget(t)
	for i := range 2 {
		var ids []string
		for j := range 4 {
			ids = append(ids, d.claim("workflow", fmt.Sprintf("Step %d of way %d.", j, i), "docs/index.md", 10*i+j+1, 10*i+j+1))
		}
		d.Facts.Workflows = append(d.Facts.Workflows, dossier.Workflow{Tag: fmt.Sprint("way", i), Title: "Índex!", ClaimIDs: ids})
	}
	plan, _ := d.drafts(t)
	var urls []string
	for _, p := range plan.Pages {
		if p.Template == "guide.md.tmpl" {
			urls = append(urls, p.URLPath)
		}
	}
	want := []string{"/docs/widget/guides/index-page-2/", "/docs/widget/guides/index-page/", "/docs/widget/guides/using-themes/"}
	if diff := cmp.Diff(want, urls); diff != "" {
		t.Error(diff)
	}
}

func TestTiersBoundThePages(t *testing.T) {
	d := widget(t)
	for i := range 100 {
		name := fmt.Sprintf("widget.m%03d", i)
		id := d.claim("api", "Module "+name+" exists.", "m.py", i+100, i+100)
		d.Facts.APISurface.Modules = append(d.Facts.APISurface.Modules, dossier.APIModule{Name: name, Path: "m.py", ClaimID: id,
			Symbols: []dossier.APISymbol{{Name: "f", Kind: "func", Signature: "f()", Path: "m.py", Line: i + 1, ClaimID: id}}})
	}
	d.Facts.APISurface.Symbols = 2000
	count := map[string]int{}
	for _, tier := range []string{"minimal", "standard", "rich"} {
		d.Config.LaunchTier = tier
		plan, err := Plan(d.PlanInput)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range plan.Pages {
			if p.Section == "reference" {
				count[tier]++
			}
		}
		if count[tier]+len(plan.Omitted) < 101 {
			t.Errorf("%s: %d pages and %d omitted", tier, count[tier], len(plan.Omitted))
		}
	}
	if diff := cmp.Diff(map[string]int{"minimal": 18, "standard": 42, "rich": 60}, count); diff != "" {
		t.Error(diff)
	}
}

func TestALargeModuleHasSeveralPagesThatKeepToTheBudgetAndLackNothing(t *testing.T) {
	d := widget(t)
	d.Config.Budgets.MaxLinesPerFile = 150
	m := &d.Facts.APISurface.Modules[0]
	for i := range 600 {
		name := fmt.Sprintf("T%03d", i)
		m.Symbols = append(m.Symbols, dossier.APISymbol{Name: name, Kind: "type", Signature: "type " + name, Path: "m.py", Line: i + 1,
			ClaimID: d.claim("api", "type "+name, "m.py", i+1, i+1)})
	}
	plan, drafts := d.drafts(t)
	for _, draft := range drafts {
		if lines := strings.Count(string(draft.Content), "\n"); lines > d.Config.Budgets.MaxLinesPerFile {
			t.Errorf("%s has %d lines", draft.OutputPath, lines)
		}
	}
	told := ""
	for _, draft := range drafts {
		told += string(draft.Content)
	}
	for i := range 600 {
		if !strings.Contains(told, fmt.Sprintf("`type T%03d`", i)) {
			t.Fatalf("type %d is on no page; omitted: %v", i, plan.Omitted)
		}
	}
	if strings.Contains(fmt.Sprint(plan.Omitted), "no room for") {
		t.Errorf("omitted: %v", plan.Omitted)
	}
	last := plan.Pages[len(plan.Pages)-1]
	for _, p := range plan.Pages {
		if strings.Contains(p.Subject, "#5") {
			last = p
		}
	}
	if !strings.Contains(last.Title, ": types T") || !strings.Contains(last.Slug, "-types-5") {
		t.Errorf("the fifth page of the module is %q at %s", last.Title, last.Slug)
	}
}

func TestTemplatesThatStateOrForgetAreRefused(t *testing.T) {
	d := widget(t)
	plan, _ := d.drafts(t)
	good, err := fs.ReadFile(specFiles, "templates/limitations.md.tmpl")
	if err != nil {
		t.Fatal(err)
	}
	for text, code := range map[string]fault.Code{
		string(good) + "Widget is the best.\n":     fault.DraftClaimMissing,
		string(good) + "[a](b) __PRODUCT__\n":      fault.DraftUnfilledTokens,
		string(good) + "{{`{{`}} x\n":              fault.DraftUnfilledTokens,
		"{{.Front -}}\n{{.Block \"limitations\"}}": fault.TemplateMissing,
		"{{.Block \"features\"}}":                  fault.Internal,
		"{{":                                       fault.TemplateMissing,
		"{{.Nothing}}":                             fault.Internal,
	} {
		files := fstest.MapFS{"templates/limitations.md.tmpl": {Data: []byte(text)}}
		files["templates/kb.md.tmpl"] = &fstest.MapFile{Data: []byte("{{.Front}}")}
		_, err := Draft(t.Context(), DraftInput{PlanInput: d.PlanInput, Plan: plan, Templates: files}, "kb")
		if !fault.Is(err, code) {
			t.Errorf("%q: got %v, want %s", text, err, code)
		}
	}
}

// TestEveryTemplateAndBlockOfTheRulesetExists walks the shipped ruleset.
func TestEveryTemplateAndBlockOfTheRulesetExists(t *testing.T) {
	rules := empty(t).Ruleset
	if err := rules.check(); err != nil {
		t.Error(err)
	}
	named := map[string]bool{}
	for _, rule := range rules.Pages {
		named[rule.Template] = true
		raw, err := fs.ReadFile(specFiles, "templates/"+rule.Template)
		if err != nil {
			t.Error(err)
		}
		for _, block := range rule.Blocks {
			if !strings.Contains(string(raw), fmt.Sprintf("{{.Block %q -}}", block.Source)) {
				t.Errorf("%s does not show the block %s", rule.Template, block.Source)
			}
		}
		if other, _ := rules.rule(rule.Section, rule.Template); !cmp.Equal(other, rule) {
			t.Errorf("two rules for %s in %s", rule.Template, rule.Section)
		}
	}
	files, _ := fs.Glob(specFiles, "templates/*.tmpl")
	if len(files) != len(named) {
		t.Errorf("%d templates, %d of them used", len(files), len(named))
	}
}

func TestTheSiteBuildsWithHugo(t *testing.T) {
	d := widget(t)
	dir := t.TempDir()
	if err := site.WriteEmbedded(specFiles, dir); err != nil {
		t.Fatal(err)
	}
	plan, drafts := d.drafts(t)
	in := DraftInput{PlanInput: d.PlanInput, Plan: plan, Templates: specFiles}
	none := func(string) bool { return false }
	indexes, err := FolderIndexes(in, drafts, none, func(string) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	for _, draft := range append(drafts, indexes...) {
		full := filepath.Join(dir, filepath.FromSlash(draft.OutputPath))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, draft.Content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	public := t.TempDir()
	out, err := proc.Run(t.Context(), proc.Spec{Name: "hugo", Args: []string{"--source", dir, "--destination", public, "--cacheDir", t.TempDir(), "--panicOnWarning"}, Env: os.Environ()})
	if fault.Is(err, fault.ToolchainMissing) {
		t.Skip("hugo is not installed")
	}
	if err != nil || !out.OK() {
		t.Fatalf("%v\n%s%s", err, out.Stdout, out.Stderr)
	}
	for _, p := range plan.Pages {
		html, err := os.ReadFile(filepath.Join(public, filepath.FromSlash(p.URLPath), "index.html"))
		if err != nil {
			t.Errorf("%s is not at %s", p.OutputPath, p.URLPath)
		}
		if p.Subject == "themes" && !strings.Contains(string(html), "{{&lt;") {
			t.Errorf("the shortcode is not shown:\n%s", html)
		}
	}
}
