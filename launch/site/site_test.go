package site

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/proc"
	"github.com/gantry-run/gantry/launch/dossier"
)

func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func options() Options {
	config := dossier.Defaults()
	config.ProductSlug = "widget"
	return Options{Config: config, RepoURL: "https://example.org/site", SHA: strings.Repeat("a", 40)}
}

func inspect(t *testing.T, files map[string]string, opts Options) (dossier.SiteContext, dossier.FrontmatterContract) {
	t.Helper()
	context_, contract, err := Inspect(context.Background(), folder(t, files), opts)
	if err != nil {
		t.Fatal(err)
	}
	return context_, contract
}

func TestFingerprintIgnoresCommentsOrderAndSpace(t *testing.T) {
	a, _ := inspect(t, map[string]string{"hugo.toml": "# hello\nbaseURL = \"https://x.org/\"\ntitle = 'T'\n[params]\nb = 1\na = 2\n"}, options())
	b, _ := inspect(t, map[string]string{"hugo.toml": "title = \"T\"\nbaseURL   =   'https://x.org/' # there\n[params]\na = 2\nb = 1\n"}, options())
	c, _ := inspect(t, map[string]string{"hugo.toml": "title = \"T\"\nbaseURL = 'https://x.org/'\n[params]\na = 2\nb = 3\n"}, options())
	if a.Hugo.ConfigFiles[0].SHA256 != b.Hugo.ConfigFiles[0].SHA256 {
		t.Error("a comment changed the fingerprint")
	}
	if a.Hugo.ConfigFiles[0].SHA256 == c.Hugo.ConfigFiles[0].SHA256 {
		t.Error("a value did not change the fingerprint")
	}
	if a.Hugo.BaseURL != "https://x.org/" {
		t.Errorf("base URL %q", a.Hugo.BaseURL)
	}
}

func TestConfigurationIsFoundWhereHugoLooks(t *testing.T) {
	cases := []struct {
		name      string
		files     map[string]string
		root      string
		want      []string
		languages []string
		first     string
	}{
		{"hugo before config", map[string]string{"hugo.yaml": "title: a", "config.toml": "title = 'b'"}, ".", []string{"hugo.yaml"}, []string{"en"}, "en"},
		{"config alone", map[string]string{"config.toml": "DefaultContentLanguage = 'fr'"}, ".", []string{"config.toml"}, []string{"fr"}, "fr"},
		{"folder", map[string]string{"config/_default/hugo.toml": "title = 'x'", "config/_default/languages.toml": "[de]\nweight=1\n[en]\nweight=2"},
			"config/_default", []string{"config/_default/hugo.toml", "config/_default/languages.toml"}, []string{"de", "en"}, "en"},
		{"configs", map[string]string{"configs/docs.x.org/cells.toml": "title = 'x'", "configs/blog.x.org.yml": "title: x"},
			"configs", []string{"configs/blog.x.org.yml", "configs/docs.x.org/cells.toml"}, []string{"en"}, "en"},
		{"none", map[string]string{"README.md": "x"}, "", []string{}, []string{"en"}, "en"},
		{"broken", map[string]string{"hugo.toml": "title = ["}, ".", []string{"hugo.toml"}, []string{"en"}, "en"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			site, _ := inspect(t, c.files, options())
			got := []string{}
			for _, file := range site.Hugo.ConfigFiles {
				got = append(got, file.Path)
			}
			if diff := cmp.Diff(c.want, got); diff != "" || site.Hugo.ConfigRoot != c.root {
				t.Errorf("root %q, files %s", site.Hugo.ConfigRoot, diff)
			}
			if diff := cmp.Diff(c.languages, site.Hugo.Languages); diff != "" || site.Hugo.DefaultLanguage != c.first {
				t.Errorf("default %q, languages %s", site.Hugo.DefaultLanguage, diff)
			}
		})
	}
}

func TestSectionsAreFoundByLooking(t *testing.T) {
	cases := []struct {
		name       string
		files      map[string]string
		content    string
		docs, blog string
		docsMode   string
		blogMode   string
	}{
		{"plain", map[string]string{"content/docs/a.md": "", "content/posts/a.md": ""}, "content", "content/docs", "content/posts", "none", "none"},
		{"nothing yet", map[string]string{"hugo.toml": ""}, "content", "content/docs", "content/blog", "none", "none"},
		{"content folder of the language", map[string]string{"hugo.toml": "[languages.en]\ncontentDir='content/en'\n[languages.de]\ncontentDir='content/de'", "content/en/docs/a.md": ""},
			"content/en", "content/en/docs", "content/en/blog", "dir", "dir"},
		{"language below the root", map[string]string{"content/en/docs/a.md": ""}, "content", "content/en/docs", "content/en/blog", "dir", "dir"},
		{"subdomains", map[string]string{"hugo.toml": "[languages.en]\n[languages.fr]", "content/docs.x.org/cells/en/go/a.md": "", "content/blog.x.org/cells/post/index.fr.md": ""},
			"content", "content/docs.x.org", "content/blog.x.org", "dir", "filename"},
		{"own content folder", map[string]string{"hugo.toml": "contentDir = 'pages'", "pages/docs/a.md": ""}, "pages", "pages/docs", "pages/blog", "none", "none"},
		{"a content folder outside is not believed", map[string]string{"hugo.toml": "contentDir = '../x'"}, "content", "content/docs", "content/blog", "none", "none"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			site, _ := inspect(t, c.files, options())
			got := []string{site.Layout.ContentRoot, site.Layout.SubdomainRoots["docs"], site.Layout.SubdomainRoots["blog"],
				site.Layout.Localization.ModeBySection["docs"], site.Layout.Localization.ModeBySection["blog"]}
			if diff := cmp.Diff([]string{c.content, c.docs, c.blog, c.docsMode, c.blogMode}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTheConfiguredLayoutWins(t *testing.T) {
	opts := options()
	opts.Config.SiteLayout = &dossier.SiteLayout{SubdomainRoots: map[string]string{"docs": "content/manual"}, Localization: dossier.Localization{ModeBySection: map[string]string{"docs": "filename"}}}
	site, _ := inspect(t, map[string]string{"content/docs/a.md": ""}, opts)
	if site.Layout.SubdomainRoots["docs"] != "content/manual" || site.Layout.Localization.ModeBySection["docs"] != "filename" {
		t.Errorf("%+v", site.Layout)
	}
	for _, bad := range []string{"../x", "/etc", "a/../b", `a\b`, "."} {
		opts.Config.SiteLayout.SubdomainRoots["docs"] = bad
		if _, _, err := Inspect(context.Background(), folder(t, nil), opts); !fault.Is(err, fault.ConfigInvalid) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestAllowedPathsAreTheProductsFoldersAndMissingIndexes(t *testing.T) {
	site, _ := inspect(t, map[string]string{"content/docs/_index.md": "", "content/blog/_index.fr.md": ""}, options())
	want := []string{"content/blog/widget/**", "content/docs/widget/**", "content/reference/_index.md", "content/reference/widget/**"}
	if diff := cmp.Diff(want, site.AllowedPaths); diff != "" {
		t.Error(diff)
	}
	opts := options()
	opts.Config.AllowedPaths = []string{"b", "a", "b"}
	site, _ = inspect(t, nil, opts)
	if diff := cmp.Diff([]string{"a", "b"}, site.AllowedPaths); diff != "" {
		t.Error(diff)
	}
}

func TestTheContractIsWhatNineInTenPagesCarry(t *testing.T) {
	files := map[string]string{
		"content/docs/_index.md": "---\nonly_index: x\n---\n",
		"content/docs/toml.md":   "+++\ntitle = 'x'\ndate = 2024-01-02\nauthor = 'A'\ntoc = true\n+++\n",
		"content/docs/json.md":   "{\"title\": \"x\", \"date\": \"2024-01-02\", \"author\": \"A\", \"toc\": false}\n",
		"content/docs/broken.md": "---\ntitle: [\n---\n",
	}
	for i := range 8 {
		files[fmt.Sprintf("content/docs/y%d.md", i)] = "---\ntitle: x\ndate: 2024-01-02\nauthor: A\n---\n"
	}
	files["content/docs/y0.md"] = "---\ntitle: x\nauthor: A\ntags: [a]\n---\n"
	_, contract := inspect(t, files, options())
	docs := contract.Sections["docs"]
	if docs.Sampled != 10 {
		t.Errorf("sampled %d", docs.Sampled)
	}
	if diff := cmp.Diff([]string{"author", "date", "title"}, docs.Required); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{"author": "string", "date": "date", "title": "string", "toc": "boolean", "tags": "list"}, docs.Types); diff != "" {
		t.Error(diff)
	}
	if blog := contract.Sections["blog"]; blog.Sampled != 0 || !slices.Contains(blog.Required, "date") {
		t.Errorf("default for blog: %+v", blog)
	}
	if len(contract.Sections) != 5 {
		t.Errorf("%d sections", len(contract.Sections))
	}
}

func TestALinkOutOfTheSiteIsNotFollowed(t *testing.T) {
	outside := folder(t, map[string]string{"x/a.md": "---\nsecret: x\n---\n"})
	dir := folder(t, map[string]string{"content/blog/a.md": ""})
	if err := os.Symlink(filepath.Join(outside, "x"), filepath.Join(dir, "content/docs")); err != nil {
		t.Fatal(err)
	}
	_, contract, err := Inspect(context.Background(), dir, options())
	if err != nil || contract.Sections["docs"].Sampled != 0 {
		t.Errorf("%+v, %v", contract.Sections["docs"], err)
	}
}

func TestTheEmbeddedSiteBuilds(t *testing.T) {
	dir := t.TempDir()
	for range 2 {
		if err := WriteEmbedded(os.DirFS("../../specs"), dir); err != nil {
			t.Fatal(err)
		}
	}
	site, _, err := Inspect(context.Background(), dir, options())
	if err != nil || len(site.Hugo.ConfigFiles) != 1 || site.Hugo.ConfigFiles[0].Path != "hugo.toml" {
		t.Fatalf("%+v, %v", site.Hugo, err)
	}
	out, err := proc.Run(context.Background(), proc.Spec{
		Name: "hugo", Args: []string{"--source", dir, "--destination", t.TempDir(), "--cacheDir", t.TempDir(), "--panicOnWarning"}, Env: os.Environ(),
	})
	if fault.Is(err, fault.ToolchainMissing) {
		t.Skip("hugo is not installed")
	}
	if err != nil || !out.OK() {
		t.Errorf("%v\n%s%s", err, out.Stdout, out.Stderr)
	}
}
