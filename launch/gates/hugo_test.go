package gates_test

import (
	"context"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/proc"
	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/launch/gates"
	"github.com/gantry-run/gantry/launch/gates/gatestest"
)

// realHugo is a case of a site that the machine's own Hugo builds.
func realHugo(t *testing.T, more map[string]string) gatestest.Case {
	t.Helper()
	if _, err := proc.LookPath("hugo", os.Environ()); fault.Is(err, fault.ToolchainMissing) {
		t.Skip("hugo is not installed")
	}
	files := map[string]string{
		"hugo.toml":                    "baseURL = \"https://docs.example.com/\"\ntitle = \"Docs\"\n[build]\nwriteStats = true\n",
		"layouts/_default/single.html": "{{ .Content }}",
		"layouts/_default/list.html":   "{{ .Content }}",
		"layouts/index.html":           "{{ .Content }}",
		"content/docs/start.md":        "---\ntitle: Start\nweight: 1\n---\n## Use\n\nText.\n",
	}
	maps.Copy(files, more)
	archive := &txtar.Archive{Comment: []byte("gate: hugo_build\nchanged: content/docs/start.md\n")}
	for name, text := range files {
		archive.Files = append(archive.Files, txtar.File{Name: name, Data: []byte(text)})
	}
	c := gatestest.Unpack(t, archive)
	c.Input.Env = os.Environ()
	c.Input.Context.Hugo.ConfigFiles = []dossier.ConfigFile{{Path: "hugo.toml"}}
	return c
}

// Hugo builds the site and leaves nothing in it, whatever its configuration says.
func TestTheSiteIsBuiltAndNothingIsLeftInIt(t *testing.T) {
	t.Parallel()
	c := realHugo(t, nil)
	before := c.Site(t)
	report, _ := run(t, c)
	if !report.OK || report.Gates[0].Checked != 1 || len(report.Issues) != 0 {
		t.Errorf("%+v", report)
	}
	if diff := cmp.Diff(before, c.Site(t)); diff != "" {
		t.Error("the build changed the site:\n" + diff)
	}
}

// A page that Hugo cannot build is named with its line; what the site itself has
// wrong is not the launch's fault.
func TestHugoNamesThePageThatItCannotBuild(t *testing.T) {
	t.Parallel()
	start := "---\ntitle: Start\nweight: 1\n---\n## Use\n\n{{< nosuch >}}\n"
	report, _ := run(t, realHugo(t, map[string]string{"content/docs/start.md": start}))
	if len(report.Issues) != 1 || report.Issues[0].Code != gates.HugoBuildError || report.Issues[0].Location.Line != 7 {
		t.Errorf("%+v", report.Issues)
	}
	report, _ = run(t, realHugo(t, map[string]string{"layouts/_default/single.html": "{{ nosuch }}"}))
	if len(report.Issues) != 1 || report.Issues[0].Code != gates.HugoBuildFailed || report.Issues[0].Severity != dossier.Warning {
		t.Errorf("%+v", report.Issues)
	}
}

// The templates of a site are programs from a repository: they get nothing of the
// machine, whatever the site allows them.
func TestTemplatesReachNeitherTheEnvironmentNorTheNetwork(t *testing.T) {
	t.Parallel()
	allow := "\n[security.funcs]\ngetenv = [\".*\"]\n[security.http]\nurls = [\".*\"]\n[security.exec]\nallow = [\".*\"]\n"
	for name, template := range map[string]string{
		"environment": `{{ getenv "PATH" }}`,
		"network":     `{{ with resources.GetRemote "http://127.0.0.1:1/x" }}{{ with .Err }}{{ errorf "%s" . }}{{ end }}{{ end }}`,
	} {
		c := realHugo(t, map[string]string{
			"hugo.toml": "baseURL = \"https://docs.example.com/\"\n" + allow, "layouts/_default/single.html": template,
		})
		report, logs, err := gates.RunAll(context.Background(), c.Input, c.Gates(t), nil)
		if err != nil || len(report.Issues) != 1 || !strings.Contains(string(logs[0].Text), "security.") {
			t.Errorf("%s: %+v %v\n%s", name, report.Issues, err, logs[0].Text)
		}
	}
}

// A page without a line end at its end is untidy; txtar cannot hold one.
func TestAPageEndsWithALineEnd(t *testing.T) {
	t.Parallel()
	c := gatestest.Unpack(t, &txtar.Archive{
		Comment: []byte("gate: markdown_lint\n"), Files: []txtar.File{{Name: "content/docs/x.md", Data: []byte("# X\n\nText.")}},
	})
	report, _ := run(t, c)
	if len(report.Issues) != 1 || !strings.HasPrefix(report.Issues[0].Message, "MD047") {
		t.Errorf("%+v", report.Issues)
	}
}
