package pages

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gantry-run/gantry/launch/dossier"
)

func TestSlug(t *testing.T) {
	for title, want := range map[string]string{
		"Getting Started":           "getting-started",
		"Über-schnelles_Laden  (2)": "uber-schnelles-laden-2",
		"ﬁle formats":               "file-formats",
		"What's new?":               "whats-new",
		"github.com/x/y":            "github-com-x-y",
		"--a--":                     "a",
		"日本語":                       "p77710aed",
		strings.Repeat("ab ", 60):   strings.TrimSuffix(strings.Repeat("ab-", 27)[:80], "-"),
	} {
		if got := Slug(title); got != want {
			t.Errorf("Slug(%q) = %q, want %q", title, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		slug := Slug(rapid.String().Draw(t, "title"))
		if slug == "" || len(slug) > 80 || strings.Trim(slug, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || slug != strings.Trim(slug, "-") {
			t.Fatalf("%q", slug)
		}
	})
}

func TestFilesAndAddressesFollowTheLayout(t *testing.T) {
	cases := []struct {
		name, root, content, mode, locale string
		inSub                             bool
		slug, file, url                   string
	}{
		{"plain", "content/docs", "content", "none", "en", false, "a", "content/docs/w/a.md", "/docs/w/a/"},
		{"index", "content/docs", "content", "none", "en", false, "_index", "content/docs/w/_index.md", "/docs/w/"},
		{"language folder that is a content folder", "content/en/docs", "content/en", "dir", "en", false, "a", "content/en/docs/w/a.md", "/docs/w/a/"},
		{"the same, default language in a folder", "content/en/docs", "content/en", "dir", "en", true, "a", "content/en/docs/w/a.md", "/en/docs/w/a/"},
		{"the same, other language", "content/fr/docs", "content/fr", "dir", "fr", false, "a", "content/fr/docs/w/a.md", "/fr/docs/w/a/"},
		{"language folder below the content folder", "content/en/docs", "content", "dir", "en", false, "a", "content/en/docs/w/a.md", "/en/docs/w/a/"},
		{"subdomain", "content/docs.x.org", "content", "dir", "en", false, "a", "content/docs.x.org/w/en/a.md", "/w/a/"},
		{"subdomain, other language", "content/docs.x.org", "content", "dir", "fr", false, "a", "content/docs.x.org/w/fr/a.md", "/fr/w/a/"},
		{"file name, default language", "content/docs", "content", "filename", "en", false, "a", "content/docs/w/a.md", "/docs/w/a/"},
		{"file name, other language", "content/docs", "content", "filename", "fr", false, "a", "content/docs/w/a.fr.md", "/fr/docs/w/a/"},
		{"capitals", "content/Docs Site", "content", "none", "en", false, "a", "content/Docs Site/w/a.md", "/docs-site/w/a/"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := place{product: "w", locale: c.locale, site: dossier.SiteContext{
				Hugo: dossier.HugoConfig{DefaultLanguage: "en", LanguageInSub: c.inSub},
				Layout: dossier.SiteLayout{ContentRoot: c.content, SubdomainRoots: map[string]string{"docs": c.root},
					Localization: dossier.Localization{ModeBySection: map[string]string{"docs": c.mode}}},
			}}
			file := p.file("docs", "", c.slug)
			if diff := cmp.Diff([]string{c.file, c.url}, []string{file, p.url("docs", file)}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLinksCarryThePathOfTheBaseURL(t *testing.T) {
	d := widget(t)
	d.Site.Hugo.BaseURL = "https://acme.github.io/site/"
	_, drafts := d.drafts(t)
	if !strings.Contains(string(drafts[0].Content), "](/site/docs/widget/)") {
		t.Errorf("%s", drafts[0].Content)
	}
}

func TestFolderIndexesAreMadeWhereTheyAreMissingAndAllowed(t *testing.T) {
	d := widget(t)
	plan, drafts := d.drafts(t)
	in := DraftInput{PlanInput: d.PlanInput, Plan: plan, Templates: specFiles}
	made, err := FolderIndexes(in, drafts,
		func(path string) bool { return path == "content/docs/_index.md" },
		func(path string) bool { return path != "content/kb/_index.md" })
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, m := range made {
		paths = append(paths, m.OutputPath)
		if err := check(m); err != nil {
			t.Error(err)
		}
	}
	want := []string{"content/blog/_index.md", "content/blog/widget/_index.md", "content/products/_index.md", "content/reference/_index.md"}
	if diff := cmp.Diff(want, paths); diff != "" {
		t.Error(diff)
	}
}

func TestAnIndexOfTheLanguageIsNotMadeTwice(t *testing.T) {
	d := widget(t)
	d.Config.Locale = "fr"
	for section := range d.Site.Layout.Localization.ModeBySection {
		d.Site.Layout.Localization.ModeBySection[section] = "filename"
	}
	plan, drafts := d.drafts(t)
	made, err := FolderIndexes(DraftInput{PlanInput: d.PlanInput, Plan: plan, Templates: specFiles}, drafts,
		func(path string) bool { return strings.HasSuffix(path, "/_index.fr.md") }, func(string) bool { return true })
	if err != nil || len(made) != 0 {
		t.Errorf("made %d, %v", len(made), err)
	}
}
