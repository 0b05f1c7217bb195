package pages

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gantry-run/gantry/launch/dossier"
)

var specFiles = os.DirFS("../../specs")

// dossierOf collects the evidence on an imaginary product.
type dossierOf struct{ PlanInput }

func (d *dossierOf) claim(kind, text, path string, start, end int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%d", text, path, start))
	id := "c" + hex.EncodeToString(sum[:8])
	d.Evidence.Claims = append(d.Evidence.Claims, dossier.Claim{
		ID: id, Text: text, Kind: kind, Truth: "fact",
		Citations: []dossier.Citation{{Path: path, StartLine: start, EndLine: end, SourceType: "readme_technical"}},
	})
	d.Facts.Claims = append(d.Facts.Claims, id)
	return id
}

func (d *dossierOf) fact(value, kind, text, path string, line int) dossier.Fact {
	return dossier.Fact{Value: value, ClaimID: d.claim(kind, text, path, line, line)}
}

func (d *dossierOf) snippet(language, content, path string, start int, tags ...string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%d", content, path, start))
	id := "s" + hex.EncodeToString(sum[:8])
	d.Snippets.Snippets = append(d.Snippets.Snippets, dossier.Snippet{
		ID: id, Path: path, StartLine: start, EndLine: start + strings.Count(content, "\n") - 1, Language: language,
		Origin: "fence", Tags: tags, Syntax: "unchecked", Content: content,
	})
	return id
}

// empty is a launch of a product of which nothing is known, on the embedded site.
func empty(t *testing.T) *dossierOf {
	t.Helper()
	rules, err := LoadRuleset(specFiles, "ruleset.v1")
	if err != nil {
		t.Fatal(err)
	}
	d := &dossierOf{}
	d.Config = dossier.Defaults()
	d.Config.ProductSlug, d.Config.ProductName = "widget", "Widget"
	d.Config.RequiredSections = dossier.Sections()
	d.Facts.ProductName, d.Facts.ProductSlug = "Widget", "widget"
	d.Facts.RepoURL, d.Facts.RepoSHA = "https://github.com/acme/widget.git", strings.Repeat("0123456789", 4)
	d.Facts.APISurface.Status, d.Facts.APISurface.Reason = "not_extracted", "no tool for this language is installed"
	d.Facts.Missing = []string{"There is no README."}
	d.Ruleset, d.CommitDate = rules, "2026-03-04"
	d.Site.Hugo = dossier.HugoConfig{DefaultLanguage: "en", Languages: []string{"en"}, BaseURL: "https://example.org/"}
	d.Site.Layout = dossier.SiteLayout{ContentRoot: "content", SubdomainRoots: map[string]string{}, Localization: dossier.Localization{ModeBySection: map[string]string{}}}
	d.Contract.Sections = map[string]dossier.SectionFrontmatter{}
	for _, section := range dossier.Sections() {
		d.Site.Layout.SubdomainRoots[section] = "content/" + section
		d.Site.Layout.Localization.ModeBySection[section] = "none"
		required := []string{"description", "title", "weight"}
		if section == dossier.Blog {
			required = []string{"date", "description", "title"}
		}
		d.Contract.Sections[section] = dossier.SectionFrontmatter{
			Required: required, Types: map[string]string{"title": "string", "description": "string", "weight": "number", "date": "date"},
		}
	}
	return d
}

// widget is a product with a bit of everything.
func widget(t *testing.T) *dossierOf {
	d := empty(t)
	f := &d.Facts
	f.Missing = nil
	f.Positioning.Tagline = d.fact("", "feature", "Widget turns **spreadsheets** into web pages.", "README.md", 3)
	f.Positioning.ShortDescription = d.fact("", "feature", "It reads CSV and XLSX files and writes plain HTML ([demo](docs/demo.md)).", "README.md", 5)
	version := d.fact("1.2.3", "metadata", "The version is 1.2.3.", "pyproject.toml", 3)
	license := d.fact("MIT", "metadata", "The license is MIT.", "pyproject.toml", 4)
	f.Version, f.License = &version, &license
	f.Runtime = []dossier.Fact{d.fact("Python >=3.9", "compatibility", "Requires Python >=3.9.", "pyproject.toml", 6)}
	for i, text := range []string{"Reads CSV and XLSX", "Keeps formulas as `{{ formula }}` attributes", "Writes one page per sheet", "Streams files of any size",
		"Has no dependencies", "Themes are plain CSS", "# is kept in cell text", "Works with a_snake_case name and 2 < 3"} {
		f.ClaimGroups.KeyFeatures = append(f.ClaimGroups.KeyFeatures, d.claim("feature", text, "README.md", 10+i, 10+i))
	}
	install := d.claim("install", "Install it with `pip install widget`.", "README.md", 30, 30)
	f.Distribution = []dossier.Distribution{{Method: "pip", Identifier: "widget", InstallCommands: []string{"pip install widget"}, ClaimID: install}}
	d.snippet("bash", "$ pip install widget\n", "README.md", 32, "install")
	extra := d.snippet("bash", "python -m venv .venv\n. .venv/bin/activate\npip install widget\n", "README.md", 37, "install")
	f.ClaimGroups.InstallSteps = []string{install, d.claim("install", "A virtual environment keeps it apart:", "README.md", 35, 35)}
	f.ClaimGroups.QuickstartSteps = []string{
		d.claim("quickstart", "Convert a file with one command:", "README.md", 42, 42),
		d.claim("quickstart", "The pages are in the folder `out`.", "README.md", 48, 49),
	}
	d.snippet("bash", "widget convert table.csv\n", "README.md", 44, "quickstart")
	d.snippet("bash", "widget convert table.csv\n", "docs/README.md", 44, "quickstart") // shown once all the same
	theme := []string{
		d.claim("workflow", "A theme is a folder with a file `theme.css`.", "docs/themes.md", 5, 5),
		d.claim("workflow", "Give its path to the command.", "docs/themes.md", 6, 6),
		d.claim("workflow", "Hugo sites can include it with a shortcode:", "docs/themes.md", 12, 12),
	}
	d.snippet("bash", "widget convert --theme ./dark table.csv\n", "docs/themes.md", 8, "themes")
	d.snippet("html", "{{< widget src=\"table.csv\" >}}\n```\nnested\n```\n", "docs/themes.md", 14, "themes")
	f.Workflows = []dossier.Workflow{
		{Tag: "themes", Title: "Using `themes`", ClaimIDs: theme, SnippetTags: []string{"themes"}},
		{Tag: "license", Title: "License", ClaimIDs: theme, SnippetTags: []string{"themes"}},
	}
	f.ClaimGroups.Limitations = []string{d.claim("limitation", "Charts are not converted.", "README.md", 60, 60)}
	f.ClaimGroups.CompatibilityNotes = []string{d.claim("compatibility", "Tested on Linux and macOS.", "README.md", 62, 62)}
	f.Examples = []dossier.Example{{ID: "e1", Title: "convert.py", PrimarySnippet: d.snippet("python", "import widget\n\nwidget.convert(\"table.csv\")\n", "examples/convert.py", 1, "example")}}
	api := func(name, kind, signature, doc string, line int) dossier.APISymbol {
		return dossier.APISymbol{Name: name, Kind: kind, Signature: signature, Doc: doc, Path: "widget/core.py", Line: line,
			ClaimID: d.claim("api", signature, "widget/core.py", line, line)}
	}
	f.APISurface = dossier.APISurface{Status: "extracted", Symbols: 4, Modules: []dossier.APIModule{{
		Name: "widget.core", Path: "widget/core.py", Doc: "Converts files.", ClaimID: d.claim("api", "Module widget.core converts files.", "widget/core.py", 1, 1),
		Symbols: []dossier.APISymbol{
			api("convert", "func", "convert(path: str) -> list[str]", "Convert a file and return the pages.", 10),
			api("Reader", "class", "class Reader", "Reads a sheet.", 20),
			api("Reader.rows", "method", "rows(self) -> Iterator[Row]", "Yield each row.", 25),
			api("LIMIT", "const", "LIMIT = 1_000", "", 5),
		},
	}}}
	_ = extra
	slices.SortFunc(d.Evidence.Claims, func(a, b dossier.Claim) int { return strings.Compare(a.ID, b.ID) })
	return d
}

func (d *dossierOf) drafts(t *testing.T) (dossier.PagePlan, []Page) {
	t.Helper()
	plan, err := Plan(d.PlanInput)
	if err != nil {
		t.Fatal(err)
	}
	var drafts []Page
	in := DraftInput{PlanInput: d.PlanInput, Plan: plan, Templates: specFiles}
	for _, section := range dossier.Sections() {
		list, err := Draft(t.Context(), in, section)
		if err != nil {
			t.Fatal(err)
		}
		drafts = append(drafts, list...)
	}
	return plan, drafts
}
