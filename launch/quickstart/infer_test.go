package quickstart

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/launch/inventory"
	"github.com/gantry-run/gantry/validate"
)

var update = flag.Bool("update", false, "write the generated documents")

func TestDocumentShowsTheWeights(t *testing.T) {
	file, want := "../../docs/inference.md", []byte(Markdown())
	if *update {
		if err := os.WriteFile(file, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is not what the weights say: %v (go test ./launch/quickstart -update writes it)", file, err)
	}
}

// seen describes a repository: manifests as "path kind name", languages as
// "language share".
func seen(url string, manifests, languages []string, readme string, builds ...string) Seen {
	s := Seen{URL: url, SHA: strings.Repeat("a", 40), README: readme, BuildSystems: builds}
	for _, m := range manifests {
		f := append(strings.Fields(m), "")
		s.Manifests = append(s.Manifests, dossier.Manifest{Path: f[0], Kind: f[1], Name: dossier.Stated{Value: f[2]}})
	}
	for _, l := range languages {
		name, share, _ := strings.Cut(l, ":")
		s.Languages = append(s.Languages, dossier.LanguageShare{Language: name, Bytes: int64(len(share)) * 1000})
	}
	return s
}

// Shares are drawn: one star is a part.
func TestRepositoriesThatSayWhatTheyAreAreInferred(t *testing.T) {
	for _, c := range []struct {
		what             string
		seen             Seen
		family, platform string
	}{
		{
			"a Go library whose README has no title",
			seen("https://github.com/spf13/cobra", []string{"go.mod go github.com/spf13/cobra"}, []string{"Go:*********", "Shell:*"}, "![logo](x.png)\n\nCobra is a library for commands.\n"),
			"cobra", "go",
		}, {
			"a Python package with a title in HTML",
			seen("https://github.com/pallets/flask", []string{"pyproject.toml python Flask"}, []string{"Python:*"}, "<div align=\"center\"><h1>Flask</h1></div>\n\nA framework.\n"),
			"flask", "python",
		}, {
			"a name with the platform behind it, and a private manifest at the top",
			seen("https://github.com/vercel/next.js", []string{"package.json npm nextjs-project", "packages/next/package.json npm next"},
				[]string{"JavaScript:***", "TypeScript:****", "Rust:*"}, "# Next.js\n"),
			"next-js", "typescript",
		}, {
			"a README in reStructuredText and C code",
			seen("https://github.com/numpy/numpy", []string{"pyproject.toml python numpy"}, []string{"Python:******", "C:***"}, "NumPy\n=====\n\nNumPy is for scientific computing with Python.\n", "meson"),
			"numpy", "python",
		}, {
			"C that Make builds",
			seen("https://github.com/jqlang/jq", nil, []string{"C:*********"}, "# jq\n\nA processor of JSON.\n", "make"),
			"jq", "cpp",
		}, {
			"a language without a platform",
			seen("https://github.com/koreader/koreader", nil, []string{"Lua:*********", "Shell:*"}, "# KOReader\n"),
			"koreader", "other",
		}, {
			"projects below, and none at the top",
			seen("https://github.com/JamesNK/Newtonsoft.Json", []string{"Src/Newtonsoft.Json/Newtonsoft.Json.csproj dotnet Newtonsoft.Json"}, []string{"C#:*"}, "# Json.NET\n\nA framework for .NET\n"),
			"newtonsoft-json", "dotnet",
		}, {
			"tooling beside the product",
			seen("https://github.com/acme/widget", []string{"go.mod go github.com/acme/widget/v2", "package.json npm"}, []string{"Go:*************", "JavaScript:*"}, "# Widget\n"),
			"widget", "go",
		}, {
			"a package with the platform in front",
			seen("https://github.com/acme/dateutil", []string{"setup.py python python-dateutil"}, []string{"Python:*"}, ""),
			"dateutil", "python",
		}, {
			"Kotlin that Gradle builds",
			seen("https://github.com/acme/okay", []string{"build.gradle.kts gradle com.acme:okay"}, []string{"Kotlin:***", "Java:*"}, "Okay\n"),
			"okay", "kotlin",
		}, {
			"a profile's form, by the name alone",
			seen("https://github.com/Aspose/aspose-3d-foss-python", nil, nil, ""),
			"3d", "python",
		}, {
			"the legacy forms",
			seen("https://github.com/aspose-3d-foss/Aspose.3D-FOSS-for-Python", []string{"pyproject.toml python aspose-3d-foss"}, []string{"Python:*"}, "# Aspose.3D FOSS for Python\n"),
			"3d", "python",
		}, {
			"a legacy form over another platform",
			seen("https://github.com/aspose-words/Aspose.Words-for-Python-via-.NET", nil, nil, ""),
			"words", "python",
		}, {
			"legacy NET",
			seen("https://github.com/aspose-cells/Aspose.Cells-for-.NET", nil, nil, ""),
			"cells", "dotnet",
		}, {
			"a family that is not listed, which the package confirms",
			seen("https://github.com/Aspose/aspose-audio-foss-rust", []string{"Cargo.toml cargo aspose-audio"}, []string{"Rust:*"}, ""),
			"audio", "rust",
		},
	} {
		inf := Infer(c.seen, shipped(t))
		if f := inf.Fault(); f != nil || inf.Family.Value != c.family || inf.TargetPlatform.Value != c.platform {
			t.Errorf("%s: %+v, %+v: %v", c.what, inf.Family, inf.TargetPlatform, f)
			continue
		}
		obeys(t, output(t, "launch_start_run_from_github_repo_url"), inf.Derived())
		obeys(t, runConfigSchema(t), inf.RunConfig())
	}
}

func runConfigSchema(t *testing.T) *validate.Schema {
	t.Helper()
	var schemas validate.Lazy
	schema, err := schemas.Artifact("run_config.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func TestUnclearRepositoriesAreRefusedWithSuggestions(t *testing.T) {
	for _, c := range []struct {
		what    string
		seen    Seen
		missing []string
		suggest map[string][]string
	}{
		{"nothing at all", Seen{URL: "https://github.com/o/thing"}, []string{"family", "target_platform"}, map[string][]string{"family": {"thing"}, "target_platform": {}}},
		{
			"two platforms", seen("https://github.com/o/thing", []string{"Cargo.toml cargo thing", "pyproject.toml python thing"}, []string{"Rust:******", "Python:****"}, "# Thing\n"),
			[]string{"target_platform"}, map[string][]string{"target_platform": {"rust", "python"}},
		},
		{
			"another product than the name says", seen("https://github.com/o/thing", []string{"go.mod go example.com/widget"}, []string{"Go:*"}, "# Widget\n\nThe widget.\n"),
			[]string{"family"}, map[string][]string{"family": {"widget", "thing"}},
		},
		{
			"a profile's name with other code", seen("https://github.com/Aspose/aspose-3d-foss-python", []string{"package.json npm aspose-cells"}, []string{"TypeScript:*"}, "# Aspose.Cells\n"),
			[]string{"family", "target_platform"}, map[string][]string{"family": {"3d", "cells"}, "target_platform": {"typescript", "python"}},
		},
		{
			"a family that is not listed and that nothing confirms", seen("https://github.com/Aspose/aspose-audio-foss-rust", nil, nil, ""),
			[]string{"family"}, map[string][]string{"family": {"audio"}},
		},
	} {
		inf := Infer(c.seen, shipped(t))
		f := inf.Fault()
		if f == nil {
			t.Errorf("%s: %+v, %+v", c.what, inf.Family, inf.TargetPlatform)
			continue
		}
		details, ok := f.Details.(Unsure)
		if f.Code != fault.InvalidInput || !ok || !slices.Equal(details.MissingFields, c.missing) || !reflect.DeepEqual(details.SuggestedValues, c.suggest) {
			t.Errorf("%s: %v, %+v", c.what, f, f.Details)
		}
		if details.Confidence.Family != inf.Family.Confidence || details.Confidence.TargetPlatform != inf.TargetPlatform.Confidence {
			t.Errorf("%s: %+v", c.what, details.Confidence)
		}
	}
}

func TestConfidenceIsTheScoreLessHalfOfTheNext(t *testing.T) {
	b := newBallot(familyField)
	b.add("a", repositoryName)
	b.add("a", repositoryName) // counts once
	b.add("a", packageName)
	b.add("b", titleAlone)
	f := b.count()
	if f.Value != "a" || f.Confidence != 0.80 || f.Candidates[0].Score != 0.85 || f.Candidates[1].Score != 0.10 {
		t.Errorf("%+v", f)
	}
	if i := (Inference{Family: f, TargetPlatform: f}); i.Fault() != nil {
		t.Error("exactly 0.80 is not enough")
	}
	b.add("b", readmeMention)
	if i := (Inference{Family: b.count(), TargetPlatform: f}); i.Fault() == nil {
		t.Error("less than 0.80 is enough")
	}
}

func TestInferenceDoesNotDependOnOrder(t *testing.T) {
	s := seen("https://github.com/o/thing", []string{"a/package.json npm a", "Cargo.toml cargo thing", "b/go.mod go b"}, []string{"Rust:***", "Go:**", "TypeScript:**"}, "# Thing for Go\n")
	first := Infer(s, shipped(t))
	for range 20 {
		slices.Reverse(s.Manifests)
		slices.Reverse(s.Languages)
		s.Manifests = append(s.Manifests[1:], s.Manifests[0])
		if again := Infer(s, shipped(t)); !reflect.DeepEqual(first, again) {
			t.Fatalf("%+v, then %+v", first, again)
		}
	}
}

// A quadratic step here would show as a test that does not end.
func TestHostileTextsEndQuicklyAndStayBounded(t *testing.T) {
	for name, text := range map[string]string{
		"brackets":  strings.Repeat("[", 1e6),
		"tags":      strings.Repeat("<h1", 1e6),
		"tag lines": strings.Repeat("<h1\n", 1e6),
		"images":    strings.Repeat("![", 1e6),
		"backticks": strings.Repeat("```\n", 1e6),
		"words":     strings.Repeat("a ", 1e6),
		"NUL":       strings.Repeat("\x00\xff", 1e6),
		"title":     "# " + strings.Repeat("x", 1e6),
	} {
		s := seen("https://github.com/o/thing", []string{"package.json npm " + strings.Repeat("y", 1e5)}, nil, text)
		inf := Infer(s, shipped(t))
		for _, c := range inf.Family.Candidates {
			if len(c.Value) > maxSlug {
				t.Errorf("%s: a value of %d bytes", name, len(c.Value))
			}
		}
	}
}

// The platforms of languages are those that the inventory gives a repository.
func TestLanguagesHaveThePlatformOfTheInventory(t *testing.T) {
	for _, name := range []string{"a.py", "a.ts", "a.tsx", "a.js", "a.java", "a.groovy", "a.cs", "a.fs", "a.vb", "a.c", "a.cc", "a.go", "a.rb", "a.php", "a.kt", "a.swift", "a.rs", "a.lua", "a.pyx", "a.hs"} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, name), []byte("code\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		inv, err := inventory.Scan(context.Background(), dir, inventory.Options{RepoURL: "https://github.com/o/r", RepoSHA: strings.Repeat("b", 40)})
		if err != nil {
			t.Fatal(err)
		}
		s := SeenIn("https://github.com/o/r", inv, "")
		if len(s.Languages) != 1 || s.SHA != inv.RepoSHA {
			t.Fatalf("%s: %+v", name, s)
		}
		got := dossier.PlatformOf(s.Languages[0].Language)
		if got == "" {
			got = otherTarget
		}
		if got != inv.Profile.PlatformFamily {
			t.Errorf("%s: %s here, %s in the inventory", s.Languages[0].Language, got, inv.Profile.PlatformFamily)
		}
	}
}
