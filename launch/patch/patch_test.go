package patch

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/launch/dossier"
)

// site makes a folder with the files and opens it.
func site(t *testing.T, files map[string]string) *os.Root {
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
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root
}

// tree reads everything under the root.
func tree(t interface{ Fatal(...any) }, root *os.Root) map[string]string {
	files := map[string]string{}
	err := fs.WalkDir(root.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		raw, err := root.ReadFile(path)
		files[path] = string(raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func bundleOf(patches ...dossier.Patch) dossier.PatchBundle {
	return dossier.PatchBundle{SchemaVersion: dossier.SchemaVersion, BaseRef: strings.Repeat("a", 40), Patches: patches}
}

var everything = []string{"**"}

func TestEachPatchTypeDoesWhatItSays(t *testing.T) {
	const page = "---\ntitle: Old\ntags:\n  - a\n---\n\nOne\nTwo\nThree\n"
	cases := []struct {
		name  string
		patch dossier.Patch
		want  string
	}{
		{"range", Replace("p.md", 8, 8, "2\n2b\n", Hash([]byte(page))), strings.Replace(page, "Two\n", "2\n2b\n", 1)},
		{"insertion", Replace("p.md", 8, 7, "1b\n", ""), strings.Replace(page, "Two\n", "1b\nTwo\n", 1)},
		{"anchor", After("p.md", "One", "1b"), strings.Replace(page, "One\n", "One\n1b\n", 1)},
		{"front matter, present", SetFrontmatter("p.md", map[string]string{"title": `"New"`}), strings.Replace(page, "title: Old", `title: "New"`, 1)},
		{"front matter, list replaced", SetFrontmatter("p.md", map[string]string{"tags": "[b]"}), strings.Replace(page, "tags:\n  - a\n", "tags: [b]\n", 1)},
		{"front matter, absent", SetFrontmatter("p.md", map[string]string{"weight": "3"}), strings.Replace(page, "  - a\n", "  - a\nweight: 3\n", 1)},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			root := site(t, map[string]string{"p.md": page})
			for i, wantApplied := range []int{1, 0} {
				result, err := Apply(root, everything, bundleOf(c.patch), dossier.Budgets{})
				if err != nil {
					t.Fatal(err)
				}
				if len(result.Applied) != wantApplied {
					t.Errorf("round %d: applied %v", i, result.Applied)
				}
				if diff := cmp.Diff(map[string]string{"p.md": c.want}, tree(t, root)); diff != "" {
					t.Errorf("round %d: %s", i, diff)
				}
			}
		})
	}
}

func TestFrontMatterInTOMLAndWithCRLFKeepsTheRest(t *testing.T) {
	cases := []struct{ name, before, want string }{
		{"toml", "+++\ntitle = 'Old' # why\nlist = [\n  'a',\n]\n[menu]\nmain = 1\n+++\nBody = 1\n",
			"+++\ntitle = \"New \\\"x\\\"\"\nlist = [\n  'a',\n]\nweight = 3\n[menu]\nmain = 1\n+++\nBody = 1\n"},
		{"crlf", "---\r\ntitle: Old\r\n---\r\nBody\r\n", "---\r\ntitle: \"New \\\"x\\\"\"\r\nweight: 3\r\n---\r\nBody\r\n"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			root := site(t, map[string]string{"p.md": c.before})
			p := SetFrontmatter("p.md", map[string]string{"title": `"New \"x\""`, "weight": "3"})
			if _, err := Apply(root, everything, bundleOf(p), dossier.Budgets{}); err != nil {
				t.Fatal(err)
			}
			if got := tree(t, root)["p.md"]; got != c.want {
				t.Errorf("got\n%q\nwant\n%q", got, c.want)
			}
		})
	}
}

func TestAPatchThatDoesNotFitIsAConflictAndNothingIsWritten(t *testing.T) {
	files := map[string]string{"a.md": "one\ntwo\ntwo\n", "b.md": "---\ntitle: x\n---\n"}
	forged := Create("new.md", "x")
	forged.NewContent = "y"
	cases := map[string]dossier.Patch{
		"create over other content":  Create("a.md", "else"),
		"range past the end":         Replace("a.md", 3, 4, "x\n", ""),
		"range with a huge start":    Replace("a.md", 1<<62, 1<<62, "x\n", ""),
		"negative range":             Replace("a.md", -1, 0, "x\n", ""),
		"another file before":        Replace("a.md", 1, 1, "x\n", Hash([]byte("other"))),
		"anchor missing":             After("a.md", "three", "x"),
		"anchor twice":               After("a.md", "two", "x"),
		"file absent":                After("c.md", "two", "x"),
		"no front matter":            SetFrontmatter("a.md", map[string]string{"k": "v"}),
		"a value with two lines":     SetFrontmatter("b.md", map[string]string{"k": "v\nx: y"}),
		"a key that is not a word":   SetFrontmatter("b.md", map[string]string{"k: v\nx": "v"}),
		"delete of another file":     Delete("a.md", Hash([]byte("other"))),
		"content changed on the way": forged,
	}
	for name, p := range cases {
		t.Run(name, func(t *testing.T) {
			root := site(t, files)
			_, err := Apply(root, everything, bundleOf(Create("first.md", "x"), p), dossier.Budgets{})
			if !fault.Is(err, fault.PatchConflict) {
				t.Fatalf("got %v", err)
			}
			conflicts, _ := fault.From(err).Details.([]Conflict)
			if len(conflicts) != 1 || conflicts[0].Path != p.Path || conflicts[0].Reason == "" {
				t.Errorf("details %v", fault.From(err).Details)
			}
			if diff := cmp.Diff(files, tree(t, root)); diff != "" {
				t.Errorf("the site changed: %s", diff)
			}
		})
	}
}

func TestBudgetsAreCheckedBeforeAnythingIsWritten(t *testing.T) {
	bundle := bundleOf(Create("a.md", "1\n2\n3\n"), Create("b.md", "1\n"))
	for name, budgets := range map[string]dossier.Budgets{
		"files": {MaxFilesChanged: 1}, "writes": {MaxFilesChanged: 9, MaxFileWrites: 1}, "lines": {MaxLinesPerFile: 2},
	} {
		t.Run(name, func(t *testing.T) {
			root := site(t, nil)
			if _, err := Apply(root, everything, bundle, budgets); !fault.Is(err, fault.ChangeBudgetExceeded) {
				t.Fatalf("got %v", err)
			}
			if files := tree(t, root); len(files) != 0 {
				t.Errorf("written: %v", files)
			}
		})
	}
}

func TestACreatedFileThatLaterPatchesChangedIsAlreadyApplied(t *testing.T) {
	root := site(t, nil)
	bundle := bundleOf(Create("p.md", "---\ntitle: a\n---\n"), SetFrontmatter("p.md", map[string]string{"title": "b"}))
	if _, err := Apply(root, everything, bundle, dossier.Budgets{}); err != nil {
		t.Fatal(err)
	}
	again, err := Apply(root, everything, bundle, dossier.Budgets{})
	if err != nil || len(again.Applied) != 0 || len(again.AlreadyApplied) != 2 {
		t.Errorf("again: %+v, %v", again, err)
	}
}

func TestDiffReportIsTheSameForTheSameLaunch(t *testing.T) {
	reports := [2]string{}
	for i := range reports {
		root := site(t, map[string]string{"a.md": "one\n"})
		bundle, err := Bundle(BundleInput{Root: root, BaseRef: "b", Files: []File{{"z.md", []byte("z\n")}, {"a.md", []byte("two\n")}}})
		if err != nil {
			t.Fatal(err)
		}
		result, err := Apply(root, everything, bundle, dossier.Budgets{})
		if err != nil {
			t.Fatal(err)
		}
		reports[i] = string(DiffReport(bundle, result))
	}
	if reports[0] != reports[1] || !strings.Contains(reports[0], "| `a.md` | updated | 1 | 1 |") {
		t.Errorf("%s", reports[0])
	}
}

func TestARehearsalSaysWhatApplyDoesAndWritesNothing(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	bundle := dossier.PatchBundle{Patches: []dossier.Patch{{ID: "p1", Type: dossier.CreateFile, Path: "content/a.md", NewContent: "a\n", ContentHash: Hash([]byte("a\n"))}}}
	said, err := Rehearse(root, []string{"content/**"}, bundle, dossier.Budgets{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := root.Stat("content"); err == nil {
		t.Error("the rehearsal wrote")
	}
	did, err := Apply(root, []string{"content/**"}, bundle, dossier.Budgets{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(did, said); diff != "" || len(said.Applied) != 1 {
		t.Errorf("Apply did other things: %s", diff)
	}
	if _, err := Rehearse(root, []string{"other/**"}, bundle, dossier.Budgets{}); !fault.Is(err, fault.AllowedPathsViolation) {
		t.Errorf("what is not allowed: %v", err)
	}
}
