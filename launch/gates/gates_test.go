package gates_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/launch/gates"
	"github.com/gantry-run/gantry/launch/gates/gatestest"
	"github.com/gantry-run/gantry/specs"
	"github.com/gantry-run/gantry/validate"
)

func archives(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no test data: %v", err)
	}
	return files
}

func run(t *testing.T, c gatestest.Case) (dossier.ValidationReport, []gates.Log) {
	t.Helper()
	report, logs, err := gates.RunAll(context.Background(), c.Input, c.Gates(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	return report, logs
}

// Each archive of testdata is a site and, in issues.want, what its gate finds.
func TestGatesFindWhatIsWrongAndNothingElse(t *testing.T) {
	for _, file := range archives(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			c := gatestest.Load(t, file)
			before := c.Site(t)
			report, logs := run(t, c)
			got := describe(report)
			if c.Web != "" {
				got = strings.ReplaceAll(got, c.Web, "http://web.test")
			}
			if os.Getenv("UPDATE") != "" {
				update(t, file, c.Archive, got)
				return
			}
			want, _ := c.File("issues.want")
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			obeysSchema(t, report)
			if diff := cmp.Diff(before, c.Site(t)); diff != "" {
				t.Error("a gate changed the site:\n" + diff)
			}
			slices.Reverse(c.Input.Changed)
			again, againLogs := run(t, c)
			if !bytes.Equal(encode(t, report), encode(t, again)) || !cmp.Equal(logs, againLogs) {
				t.Error("a second run differs")
			}
		})
	}
}

func describe(report dossier.ValidationReport) string {
	var b strings.Builder
	for _, g := range report.Gates {
		fmt.Fprintf(&b, "%s ok=%t checked=%d issues=%d\n", g.Name, g.OK, g.Checked, g.Issues)
		if g.Skipped != "" {
			fmt.Fprintf(&b, "  skipped: %s\n", g.Skipped)
		}
	}
	for _, i := range report.Issues {
		path, line := i.At()
		fmt.Fprintf(&b, "%s %s %s:%d %s\n  %s\n", i.Severity, i.Code, path, line, i.Message, i.SuggestedFix)
	}
	return b.String()
}

func update(t *testing.T, file string, archive *txtar.Archive, got string) {
	t.Helper()
	i := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return f.Name == "issues.want" })
	archive.Files[i].Data = []byte(got)
	if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
		t.Fatal(err)
	}
}

func encode(t *testing.T, doc any) []byte {
	t.Helper()
	raw, err := dossier.Encode(doc)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func obeysSchema(t *testing.T, report dossier.ValidationReport) {
	t.Helper()
	raw, _ := specs.ArtifactSchema(dossier.ValidationReportName)
	schema, err := validate.Compile("report", raw)
	if err != nil {
		t.Fatal(err)
	}
	problems, err := schema.Check(encode(t, report))
	if err != nil || len(problems) > 0 {
		t.Errorf("the report breaks its schema: %v %v", problems, err)
	}
	for _, i := range report.Issues {
		if i.SuggestedFix == "" {
			t.Errorf("no suggested fix: %+v", i)
		}
	}
}

// A gate without a site that breaks it in each of its codes, or without one
// that passes, is not tested.
func TestEveryCodeOfEveryGateHasASiteThatBreaksIt(t *testing.T) {
	seen, passes := map[string]bool{}, map[string]bool{}
	for _, file := range archives(t) {
		c := gatestest.Load(t, file)
		report, _ := run(t, c)
		for _, i := range report.Issues {
			seen[i.Gate+" "+i.Code] = true
		}
		for _, g := range report.Gates {
			passes[g.Name] = passes[g.Name] || g.Issues == 0 && g.Checked > 0
		}
	}
	for _, g := range gates.All() {
		if !passes[g.Name] {
			t.Errorf("no site passes %s", g.Name)
		}
		for _, code := range g.Codes {
			if !seen[g.Name+" "+code] {
				t.Errorf("no site breaks %s with %s", g.Name, code)
			}
			delete(seen, g.Name+" "+code)
		}
	}
	for name := range seen {
		t.Errorf("not among the gate's codes: %s", name)
	}
}
