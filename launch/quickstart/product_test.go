package quickstart

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/validate"
)

func shipped(t *testing.T) []Profile {
	t.Helper()
	list, err := Profiles(os.DirFS("../../specs"))
	if err != nil || len(list) == 0 {
		t.Fatalf("shipped profiles: %v, %v", list, err)
	}
	return list
}

func TestEveryOrderOfAProductURLIsRead(t *testing.T) {
	for _, c := range []struct{ url, section, product, locale, repository string }{
		{"https://products.aspose.org/3d/python/", "products", "3d-python", "en", "aspose-3d-foss-python"},
		{"https://products.aspose.org/3d/python", "products", "3d-python", "en", "aspose-3d-foss-python"},
		{"https://docs.aspose.org/3d/fr/python/", "docs", "3d-python", "fr", "aspose-3d-foss-python"},
		{"https://docs.aspose.org/3d/fr/python/getting-started/install/", "docs", "3d-python", "fr", "aspose-3d-foss-python"},
		{"https://kb.aspose.org/de/cells/java/how-to/", "kb", "cells-java", "de", "aspose-cells-foss-java"},
		{"https://reference.aspose.org/words/cpp/", "reference", "words-cpp", "en", "aspose-words-foss-cpp"},
		{"https://blog.aspose.org/note/python/2024-01-15-new-release/", "blog", "note-python", "en", "aspose-note-foss-python"},
		{"https://blog.aspose.org/zh/note/python/post/", "blog", "note-python", "zh", "aspose-note-foss-python"},
		{"https://docs.aspose.org/3d/pt-br/python/", "docs", "3d-python", "pt-br", "aspose-3d-foss-python"},
		{"https://docs.aspose.org/pdf/go/", "docs", "pdf-go", "en", "aspose-pdf-foss-go"}, // a platform, not a language
		{"https://docs.aspose.org/pdf/go/python/", "docs", "pdf-go", "en", "aspose-pdf-foss-go"},
		{"https://docs.aspose.org/pdf/net/", "docs", "pdf-dotnet", "en", "aspose-pdf-foss-dotnet"},
		{" HTTPS://Docs.Aspose.ORG/PDF/EN/NodeJS/?utm_source=x#top\n", "docs", "pdf-nodejs", "en", "aspose-pdf-foss-nodejs"},
	} {
		p, err := ParseProductURL(c.url, shipped(t))
		if err != nil {
			t.Errorf("%s: %v", c.url, err)
			continue
		}
		got, want := p.Derived(), DerivedFromProduct{
			Site: c.section + ".aspose.org", ProductSlug: c.product, Platform: p.Platform.Target, Locale: c.locale,
			GithubRepoURL: "https://github.com/Aspose/" + c.repository,
		}
		if got != want || p.Section != c.section {
			t.Errorf("%s: %+v in %s, want %+v", c.url, got, p.Section, want)
		}
	}
}

func TestProductBecomesARunConfig(t *testing.T) {
	p, err := ParseProductURL("https://docs.aspose.org/barcode/nodejs/", shipped(t))
	if err != nil {
		t.Fatal(err)
	}
	want := RunConfig{
		ProductSlug: "barcode-nodejs", ProductName: "Aspose.BarCode FOSS for Node.js", Family: "barcode", TargetPlatform: "javascript",
		GithubRepoURL: "https://github.com/Aspose/aspose-barcode-foss-nodejs", Locale: "en",
	}
	if got := p.RunConfig(); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// Each product of each shipped site gives a run_config and a result that their
// schemas accept.
func TestEveryProductOfAShippedSiteObeysTheSchemas(t *testing.T) {
	var schemas validate.Lazy
	schema, err := schemas.Artifact("run_config.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, profile := range shipped(t) {
		for _, f := range profile.Families {
			for _, platform := range profile.Platforms {
				p, err := ParseProductURL("https://"+profile.Hosts[dossier.Docs]+"/"+f.Name+"/"+platform.Name, shipped(t))
				if err != nil {
					t.Fatal(err)
				}
				obeys(t, schema, p.RunConfig())
				obeys(t, output(t, "launch_start_run_from_product_url"), p.Derived())
				if _, _, _, err := ParseGitHubURL(p.Derived().GithubRepoURL); err != nil {
					t.Errorf("%s: %v", p.Derived().GithubRepoURL, err)
				}
			}
		}
	}
}

func obeys(t *testing.T, schema *validate.Schema, value any) {
	t.Helper()
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	if problems, err := schema.Check(raw); err != nil || len(problems) > 0 {
		t.Errorf("%s: %v, %v", raw, problems, err)
	}
}

func TestUnknownHostIsUnsupportedSite(t *testing.T) {
	for _, raw := range []string{
		"https://example.com/3d/python/", "https://aspose.org/3d/python/", "https://www.aspose.org/3d/python/", "https://docs.aspose.com/3d/python/",
		"https://docs.aspose.org.evil.example/3d/python/", "https://docs.aspose.org./3d/python/", "https://localhost/3d/python", "https://0x7f.1/",
	} {
		if _, err := ParseProductURL(raw, shipped(t)); !fault.Is(err, fault.UnsupportedSite) {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

func TestWhatNamesNoProductIsInvalidURL(t *testing.T) {
	for _, raw := range []string{
		"", "3d/python", "docs.aspose.org/3d/python", "http://docs.aspose.org/3d/python/", "gopher://docs.aspose.org/3d/python",
		"http://localhost:8080/admin", "http://[::1]/", "http://2130706433/", "https://", "https:///3d/python",
		"https://docs.aspose.org:443/3d/python/", "https://u:p@docs.aspose.org/3d/python/", "https://docs.aspose.org/%zz",
		"https://docs.aspose.org", "https://docs.aspose.org/", "https://docs.aspose.org/3d/", "https://docs.aspose.org/python/3d/",
		"https://docs.aspose.org/3d/fortran/", "https://docs.aspose.org/5d/python/", "https://docs.aspose.org/en/3d/", "https://docs.aspose.org/3d/en/",
		"https://docs.aspose.org/en/3d/fr/python/", "https://docs.aspose.org/3d/eng/python/", "https://docs.aspose.org/go/3d/python/",
		"https://docs.aspose.org//3d/python/", "https://docs.aspose.org/3d//python/", "https://docs.aspose.org/3d/python/../java/",
		"https://docs.aspose.org/./3d/python/", "https://docs.aspose.org/3d/python/%2e%2e/x", "https://docs.aspose.org/3d/python/%00", `https://docs.aspose.org\3d\python`,
		"https://docs.aspose.org/3d/python/" + strings.Repeat("x", maxURL),
	} {
		if p, err := ParseProductURL(raw, shipped(t)); !fault.Is(err, fault.InvalidURL) || !reflect.ValueOf(p).IsZero() {
			t.Errorf("%.80q: %+v, %v", raw, p, err)
		}
	}
}

func TestAnotherSiteIsOneMoreProfile(t *testing.T) {
	mine := Profile{
		Name: "acme", Hosts: map[string]string{"docs": "docs.acme.example"},
		Families:    []Family{{"it", "IT"}},
		Platforms:   []Platform{{Name: "go", Title: "Go", Target: "go"}, {Name: "py", Title: "Python", Target: "python"}},
		ProductSlug: "acme-{family}", ProductName: "Acme {Family}", Repository: "https://git.acme.example/{platform}/{family}.git",
		Repositories: map[string]string{"it/py": "https://git.acme.example/snakes.git"},
	}
	profiles := append(shipped(t), mine)
	if err := CheckProfiles(profiles); err != nil {
		t.Fatal(err)
	}
	for raw, want := range map[string]DerivedFromProduct{
		"https://docs.acme.example/it/go":     {"docs.acme.example", "acme-it", "go", "en", "https://git.acme.example/go/it.git"},
		"https://docs.acme.example/it/it/py/": {"docs.acme.example", "acme-it", "python", "it", "https://git.acme.example/snakes.git"},
	} {
		if p, err := ParseProductURL(raw, profiles); err != nil || p.Derived() != want {
			t.Errorf("%s: %+v, %v", raw, p.Derived(), err)
		}
	}
}

func TestAProfileThatCannotBeUsedIsConfigInvalid(t *testing.T) {
	good := shipped(t)[0]
	for name, spoil := range map[string]func(p *Profile){
		"no name":           func(p *Profile) { p.Name = "" },
		"no hosts":          func(p *Profile) { p.Hosts = nil },
		"unknown section":   func(p *Profile) { p.Hosts = map[string]string{"wiki": "wiki.example.org"} },
		"host with a port":  func(p *Profile) { p.Hosts = map[string]string{"docs": "docs.example.org:80"} },
		"one host twice":    func(p *Profile) { p.Hosts = map[string]string{"docs": "a.example.org", "kb": "a.example.org"} },
		"no families":       func(p *Profile) { p.Families = nil },
		"family twice":      func(p *Profile) { p.Families = []Family{{"a", "A"}, {"a", "B"}} },
		"family is dots":    func(p *Profile) { p.Families = []Family{{"..", "A"}} },
		"upper case family": func(p *Profile) { p.Families = []Family{{"A", "A"}} },
		"no platforms":      func(p *Profile) { p.Platforms = nil },
		"unknown target":    func(p *Profile) { p.Platforms = []Platform{{Name: "a", Title: "A", Target: "cobol"}} },
		"alias is a name": func(p *Profile) {
			p.Platforms = append(slices.Clone(p.Platforms), Platform{"x", "X", "go", []string{"go"}})
		},
		"unknown blank":       func(p *Profile) { p.ProductName = "{product}" },
		"repository over ssh": func(p *Profile) { p.Repository = "git@example.org:{family}" },
		"repository's user":   func(p *Profile) { p.Repository = "https://u:p@example.org/{family}" },
		"unknown exception":   func(p *Profile) { p.Repositories = map[string]string{"5d/go": "https://example.org/x"} },
		"name with no family": func(p *Profile) { p.RepositoryNames = []string{"x-{platform}"} },
	} {
		bad := good
		spoil(&bad)
		if err := CheckProfiles([]Profile{bad}); !fault.Is(err, fault.ConfigInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := CheckProfiles([]Profile{good, good}); !fault.Is(err, fault.ConfigInvalid) {
		t.Errorf("one site twice: %v", err)
	}
	for name, text := range map[string]string{"not JSON": "{", "unknown member": `{"nam": "x"}`, "two values": `{} {}`, "empty": `{}`} {
		if _, err := Profiles(fstest.MapFS{"sites/a.json": {Data: []byte(text)}}); !fault.Is(err, fault.ConfigInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTargetsAreThoseOfRunConfig(t *testing.T) {
	raw, err := os.ReadFile("../../specs/artifacts/run_config.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Properties struct {
			TargetPlatform struct{ Enum []string } `json:"target_platform"`
		}
	}
	if err := json.Unmarshal(raw, &schema); err != nil || !slices.Equal(schema.Properties.TargetPlatform.Enum, targets) {
		t.Errorf("run_config has %v (%v), the code %v", schema.Properties.TargetPlatform.Enum, err, targets)
	}
}
