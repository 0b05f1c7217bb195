package launch

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/git"
	"github.com/gantry-run/gantry/launch/dossier"
)

// offline is a service without an engine: for what is decided before a run starts.
//
//	base/root/repo, base/root/deep/repo   folders
//	base/root/out → base/outside          a link out of the root
//	base/root/in  → base/root/repo        a link that stays
//	base/root/file, base/root-evil, base/outside
func offline(t *testing.T, anyPath bool) (s *Service, base string) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"root/repo", "root/deep/repo", "root-evil", "outside"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"root/out": "../outside", "root/in": "repo", "root/gone": "nowhere", "root/loop": "loop", "link-to-root": "root"} {
		if err := os.Symlink(to, filepath.Join(base, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(base, "root", "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	g, err := git.New(git.Options{Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + base}})
	if err != nil {
		t.Fatal(err)
	}
	return NewService(Options{Git: g, Root: filepath.Join(base, "link-to-root"), AnyPath: anyPath}), base
}

func TestWhereARepositoryMayBe(t *testing.T) {
	client, base := offline(t, false)
	person := NewService(Options{Git: client.o.Git, Root: client.o.Root, AnyPath: true})
	for _, c := range []struct {
		raw            string
		client, person fault.Code // "" is accepted
		shown          string
	}{
		{"repo", "", "", "repo"},
		{"./repo/", "", "", "repo"},
		{"  repo ", "", "", "repo"},
		{"deep/repo", "", "", "deep/repo"},
		{"deep/../repo", "", "", "repo"},
		{"in", "", "", "repo"},
		{".", "", "", "root"},
		{base + "/root/repo", "", "", "repo"},
		{base + "/link-to-root/repo", "", "", "repo"},
		{"out", fault.PathEscape, "", "outside"},
		{"..", fault.PathEscape, "", filepath.Base(base)},
		{"../outside", fault.PathEscape, "", "outside"},
		{"repo/../../outside", fault.PathEscape, "", "outside"},
		{base + "/root-evil", fault.PathEscape, "", "root-evil"},
		{"../root-evil", fault.PathEscape, "", "root-evil"},
		{"/", fault.PathEscape, "", "/"},
		{"nothing", fault.RepoNotFound, fault.RepoNotFound, ""},
		{base + "/root/nothing", fault.RepoNotFound, fault.RepoNotFound, ""},
		{"gone", fault.RepoNotFound, fault.RepoNotFound, ""},
		{"loop", fault.RepoNotFound, fault.RepoNotFound, ""},
		{"file", fault.RepoNotFound, fault.RepoNotFound, ""},
		{"../nothing", fault.PathEscape, fault.RepoNotFound, ""},
		{base + "/nothing", fault.PathEscape, fault.RepoNotFound, ""},
		{"   ", fault.InvalidInput, fault.InvalidInput, ""},
		{"repo\x00", fault.InvalidInput, fault.InvalidInput, ""},
		{"https://example.com/acme/widget.git", "", "", "https://example.com/acme/widget.git"},
		{"https://me:pass@example.com/acme/widget", fault.URLNotAllowed, fault.URLNotAllowed, ""},
		{"git@example.com:acme/widget.git", "", "", "example.com:acme/widget.git"},
		{"file://" + base + "/outside", fault.URLNotAllowed, "", ""},
		{"ext::sh -c touch% /tmp/x", fault.URLNotAllowed, fault.URLNotAllowed, ""},
		{"http://169.254.169.254/latest", fault.URLNotAllowed, fault.URLNotAllowed, ""},
		{"--upload-pack=touch:y", fault.URLNotAllowed, fault.URLNotAllowed, ""},
		{"-", fault.RepoNotFound, fault.RepoNotFound, ""},
	} {
		for who, s := range map[string]*Service{"client": client, "person": person} {
			want := c.client
			if who == "person" {
				want = c.person
			}
			got, err := s.source(c.raw)
			if codeOf(err) != want {
				t.Errorf("%s, %q: %v, want %q", who, c.raw, err, want)
			}
			if err != nil && strings.Contains(err.Error(), base) {
				t.Errorf("%s, %q: the message holds an absolute path: %v", who, c.raw, err)
			}
			if err == nil && c.shown != "" && got.Shown != c.shown {
				t.Errorf("%s, %q is shown as %q, want %q", who, c.raw, got.Shown, c.shown)
			}
			if err == nil && got.Local && (!filepath.IsAbs(got.URL) || filepath.IsAbs(got.Shown) && c.raw != "/") {
				t.Errorf("%s, %q: %+v", who, c.raw, got)
			}
		}
	}
}

func TestDefaultsFillWhatIsNotSaid(t *testing.T) {
	s, _ := offline(t, false)
	effective := func(raw string) dossier.Config {
		t.Helper()
		cfg, _, err := s.Effective(json.RawMessage(raw))
		if err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		return cfg
	}
	base := effective(`{"github_repo_url":"repo"}`)
	want := dossier.Defaults()
	want.GithubRepoURL, want.ProductName, want.ProductSlug, want.Family = "repo", "repo", "repo", "repo"
	if diff := cmp.Diff(want, base); diff != "" {
		t.Errorf("the least that can be said: %s", diff)
	}
	for raw, change := range map[string]func(*dossier.Config){
		`,"product_name":"My Widget"`: func(c *dossier.Config) {
			c.ProductName, c.ProductSlug, c.Family = "My Widget", "my-widget", "my-widget"
		},
		`,"product_slug":"w"`:  func(c *dossier.Config) { c.ProductSlug, c.Family = "w", "w" },
		`,"product_name":"製品"`: func(c *dossier.Config) { c.ProductName, c.ProductSlug, c.Family = "製品", "product", "product" },
		`,"budgets":{"max_runtime_s":5}`: func(c *dossier.Config) {
			c.Budgets.MaxRuntimeS = 5 // the other budgets stay
		},
		`,"autopilot":{"open_pr":true}`:                        func(c *dossier.Config) { c.Autopilot.OpenPR = true },
		`,"required_sections":["kb"]`:                          func(c *dossier.Config) { c.RequiredSections = []string{"kb"} },
		`,"github_ref":"v1"`:                                   func(c *dossier.Config) { c.GithubRef = "v1" },
		`,"site_repo_url":"deep/repo","site_ref":"main"`:       func(c *dossier.Config) { c.SiteRepoURL, c.SiteRef = "deep/repo", "main" },
		`,"allowed_paths":["content/docs/x/**"],"locale":"de"`: func(c *dossier.Config) { c.AllowedPaths, c.Locale = []string{"content/docs/x/**"}, "de" },
	} {
		want := base
		want.RequiredSections = append([]string{}, base.RequiredSections...)
		change(&want)
		if diff := cmp.Diff(want, effective(`{"github_repo_url":"repo"`+raw+`}`)); diff != "" {
			t.Errorf("%s: %s", raw, diff)
		}
	}
	if again := dossier.Defaults(); len(again.RequiredSections) != 3 {
		t.Errorf("a run_config changed the defaults: %v", again.RequiredSections)
	}
}

func TestARunConfigThatIsNoneIsRefused(t *testing.T) {
	s, _ := offline(t, false)
	for raw, says := range map[string]string{
		`null`: "", `[]`: "", `"repo"`: "", `{}`: "github_repo_url", `{"github_repo_url":7}`: "/github_repo_url",
		`{"github_repo_url":"repo","typo":1}`:                                 `"typo"`,
		`{"github_repo_url":"repo","budgets":{"max_run_time":1}}`:             `"max_run_time"`,
		`{"github_repo_url":"repo","autopilot":{"fix":"yes"}}`:                "/autopilot/fix",
		`{"github_repo_url":"repo","github_repo_url":"other"}`:                "",
		`{"github_repo_url":"repo","github_ref":"--upload-pack=x"}`:           "/github_ref",
		`{"github_repo_url":"repo","github_ref":"a..b"}`:                      "",
		`{"github_repo_url":"repo","publisher":"carrier-pigeon"}`:             "/publisher",
		`{"github_repo_url":"repo","site_repo_url":"repo","site_ref":"a..b"}`: "",
		`{"github_repo_url":"repo","budgets":{"max_runtime_s":1e3000}}`:       "",
		`{"github_repo_url":"repo","max_fix_attempts":-1}`:                    "/max_fix_attempts",
		`{"github_repo_url":"repo","required_sections":["docs","../../etc"]}`: "/required_sections",
	} {
		_, _, err := s.Effective(json.RawMessage(raw))
		if code := codeOf(err); code != fault.SchemaValidationFailed && code != fault.InvalidInput && code != fault.RefNotFound {
			t.Errorf("%s: %v", raw, err)
			continue
		}
		if !strings.Contains(err.Error(), says) {
			t.Errorf("%s: the message does not say %s: %v", raw, says, err)
		}
	}
}
