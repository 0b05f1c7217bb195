package fixes_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/launch/fixes"
	"github.com/gantry-run/gantry/launch/gates"
	"github.com/gantry-run/gantry/launch/gates/gatestest"
	"github.com/gantry-run/gantry/launch/patch"
)

// issues returns what the gates find, of one code.
func issues(t *testing.T, c gatestest.Case, code string) []dossier.Issue {
	t.Helper()
	report, _, err := gates.RunAll(context.Background(), c.Input, c.Gates(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(report.Issues, func(i dossier.Issue) bool { return i.Code != code })
}

// comment returns the value of a line of the archive's comment.
func comment(c gatestest.Case, key string) string {
	for line := range strings.Lines(string(c.Archive.Comment)) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), key+": "); ok {
			return value
		}
	}
	return ""
}

// Each archive of testdata is a site with issues of one code, which are fixed
// one after the other; after/ holds what the pages are then. "ends:" names the
// error with which fixing ends, if issues remain.
func TestFixesRepairTheirIssues(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no test data: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			c := gatestest.Load(t, file)
			code := comment(c, "code")
			if len(issues(t, c, code)) == 0 {
				t.Fatalf("no issue of %s", code)
			}
			end := fixAll(t, c, code)
			if string(end) != comment(c, "ends") {
				t.Errorf("ends with %q", end)
			}
			want := map[string]string{}
			for _, f := range c.Archive.Files {
				if name, ok := strings.CutPrefix(f.Name, "after/"); ok {
					want[name] = string(f.Data)
				} else if _, seen := want[name]; !seen && !strings.HasPrefix(f.Name, "artifacts/") && !strings.HasPrefix(f.Name, "repo/") && !strings.HasPrefix(f.Name, "bin/") && !strings.HasPrefix(f.Name, "before/") {
					want[f.Name] = string(f.Data)
				}
			}
			if diff := cmp.Diff(want, c.Site(t)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// fixAll fixes the issues of the code one by one and returns the code of the
// error that ends it.
func fixAll(t *testing.T, c gatestest.Case, code string) fault.Code {
	t.Helper()
	ctx := context.Background()
	for range 50 {
		open := issues(t, c, code)
		if len(open) == 0 {
			return ""
		}
		plan, err := fixes.Plan(ctx, c.Input, open[0])
		if err != nil {
			f := fault.From(err)
			if f.Hint == "" {
				t.Errorf("%v has no hint", err)
			}
			return f.Code
		}
		again, err := fixes.Plan(ctx, c.Input, open[0])
		if diff := cmp.Diff(plan, again); diff != "" || err != nil {
			t.Errorf("planning twice differs: %s %v", diff, err)
		}
		for _, p := range plan {
			if p.ExpectedBeforeHash == "" || !strings.HasPrefix(p.ID, "p") {
				t.Errorf("patch %+v", p)
			}
		}
		if _, err := apply(t, c, open[0]); err != nil {
			t.Fatal(err)
		}
		left := issues(t, c, code)
		if len(left) >= len(open) || slices.ContainsFunc(left, func(i dossier.Issue) bool { return i.ID == open[0].ID }) {
			t.Fatalf("still there: %+v", open[0])
		}
		if _, err := fixes.Plan(ctx, c.Input, open[0]); !fault.Is(err, fault.FixNoOp) && len(left) == 0 {
			t.Errorf("fixing again: %v", err)
		}
	}
	t.Fatal("does not end")
	return ""
}

func apply(t *testing.T, c gatestest.Case, issue dossier.Issue) (patch.Result, error) {
	t.Helper()
	plan, err := fixes.Plan(context.Background(), c.Input, issue)
	if err != nil {
		return patch.Result{}, err
	}
	bundle := dossier.PatchBundle{SchemaVersion: dossier.SchemaVersion, Patches: plan}
	return patch.Apply(c.Input.Site, []string{"content/**"}, bundle, dossier.Budgets{})
}

func TestEveryFixHasATestAndIsOfACodeThatAGateGives(t *testing.T) {
	known := map[string]bool{}
	for _, g := range gates.All() {
		for _, code := range g.Codes {
			known[code] = true
		}
	}
	files, _ := filepath.Glob("testdata/*.txtar")
	tested := map[string]bool{}
	for _, file := range files {
		tested[comment(gatestest.Load(t, file), "code")] = true
	}
	for _, fix := range fixes.All() {
		if !known[fix.Code] || !tested[fix.Code] || fix.Title == "" {
			t.Errorf("%s: known=%t tested=%t", fix.Code, known[fix.Code], tested[fix.Code])
		}
	}
}

func TestACodeWithoutAFixNamesWhatAPersonShouldDo(t *testing.T) {
	_, err := fixes.Plan(context.Background(), &gates.Input{}, dossier.Issue{Code: "GATE_X", SuggestedFix: "Ask somebody"})
	if !fault.Is(err, fault.FixerUnfixable) || !strings.Contains(fault.From(err).Hint, "Ask somebody.") {
		t.Errorf("%v %q", err, fault.From(err).Hint)
	}
}

func TestNextIsTheFirstOpenIssueThatCounts(t *testing.T) {
	issue := func(id, severity, status string) dossier.Issue {
		return dossier.Issue{ID: id, Severity: severity, Status: status}
	}
	list := []dossier.Issue{
		issue("i4", dossier.Warning, "OPEN"), issue("i3", dossier.Error, "OPEN"), issue("i2", dossier.Blocker, "OPEN"),
		issue("i1", dossier.Blocker, "RESOLVED"), issue("i5", dossier.Info, "OPEN"),
	}
	for _, c := range []struct {
		list   []dossier.Issue
		strict bool
		want   string
	}{
		{list, false, "i2"}, {list[:2], false, "i3"}, {list[:1], false, ""}, {list[:1], true, "i4"}, {list[4:], true, ""}, {nil, true, ""},
	} {
		got, ok := fixes.Next(dossier.ValidationReport{Strict: c.strict, Issues: c.list})
		if got.ID != c.want || ok != (c.want != "") {
			t.Errorf("%t %d: %q", c.strict, len(c.list), got.ID)
		}
	}
}

func TestAPageThatIsGoneOrUnreadableIsLeftAlone(t *testing.T) {
	c := gatestest.Unpack(t, &txtar.Archive{Files: []txtar.File{{Name: "content/docs/x.md", Data: []byte("a\x00")}, {Name: "content/docs/l.md", Data: []byte("-> x.md")}}})
	for path, want := range map[string]fault.Code{
		"content/docs/gone.md": fault.FixNoOp, "content/docs/x.md": fault.FixerUnfixable, "content/docs/l.md": fault.FixerUnfixable,
		"../../etc/passwd": fault.FixerUnfixable, "": fault.FixerUnfixable,
	} {
		for _, fix := range fixes.All() {
			issue := dossier.Issue{ID: "i0", Code: fix.Code, Location: &dossier.Location{Path: path, Line: 1}}
			if _, err := fixes.Plan(context.Background(), c.Input, issue); !fault.Is(err, want) {
				t.Errorf("%s of %q: %v", fix.Code, path, err)
			}
		}
	}
}

// A value from the configuration never breaks front matter.
func TestATokenIsFilledInSuchThatFrontMatterStaysValid(t *testing.T) {
	for src, want := range map[string]string{
		"---\ntitle: About __PRODUCT_NAME__ # x\n---\nText\n": "---\ntitle: \"About Wid: get\" # x\n---\nText\n",
		"---\ntags: [a]\n__PRODUCT_NAME__: x\n---\nText\n":    "",
	} {
		c := gatestest.Unpack(t, &txtar.Archive{Files: []txtar.File{{Name: "content/docs/x.md", Data: []byte(src)}}})
		c.Input.Config.ProductName = "Wid: get"
		_, err := apply(t, c, issues(t, c, gates.TemplateTokenUnresolved)[0])
		if want == "" {
			if !fault.Is(err, fault.FixerUnfixable) {
				t.Errorf("%q: %v", src, err)
			}
		} else if got := c.Site(t)["content/docs/x.md"]; got != want || err != nil {
			t.Errorf("%q: %q, %v", src, got, err)
		}
	}
}
