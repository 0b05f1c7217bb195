package targets

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden listings")

// open returns a project without programs and without an allowlist.
func open(t *testing.T, root string) *Project {
	t.Helper()
	p, err := Open(root, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func list(t *testing.T, p *Project, dir string) Listing {
	t.Helper()
	l, err := p.List(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// golden returns a listing as text, one line a target or problem.
func golden(l Listing) string {
	var b strings.Builder
	for _, t := range l.Targets {
		fmt.Fprintf(&b, "%s | %s | %s | %s | %s | %s\n", t.UniqueName, t.SourceName, t.Runner, t.Command, t.FilePath, t.Description)
	}
	for _, p := range l.Problems {
		fmt.Fprintf(&b, "%s: %s: %s\n", p.Severity, p.FilePath, p.Message)
	}
	return b.String()
}

func TestEveryRunnerListsItsFixture(t *testing.T) {
	for _, r := range Runners() {
		t.Run(r.Kind, func(t *testing.T) {
			l := list(t, open(t, filepath.Join("testdata", r.Kind)), "")
			got, file := golden(l), filepath.Join("testdata", r.Kind, "targets.golden")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got\n%swant\n%s", got, want)
			}
			for _, x := range l.Targets {
				if !slices.ContainsFunc(r.Tools, func(tool Tool) bool { return tool.Name == x.Runner }) {
					t.Errorf("%s is run by %s, which is no tool of %s", x.Name, x.Runner, r.Kind)
				}
			}
		})
	}
}

func TestEveryRunnerHasAKindAndItsToolsAHint(t *testing.T) {
	kinds := map[string]bool{}
	for _, r := range Runners() {
		if kinds[r.Kind] || len(r.Tools) == 0 || r.find == nil {
			t.Errorf("%s: there twice, or incomplete", r.Kind)
		}
		kinds[r.Kind] = true
		if _, err := os.Stat(r.Kind + ".go"); err != nil {
			t.Errorf("%s has no file of its own: %v", r.Kind, err)
		}
		for _, tool := range r.Tools {
			if (tool.Hint == "") != (tool.Name == "sh") || strings.HasSuffix(tool.Hint, ".") {
				t.Errorf("%s: hint %q", tool.Name, tool.Hint)
			}
		}
	}
}

func TestAWorkspaceOfTurborepoComesToWhatItExtends(t *testing.T) {
	p := open(t, "testdata/turbo")
	for dir, want := range map[string]string{
		"packages/nested":     "build lint", // what it takes away is gone
		"packages/nested/src": "build lint",
		"apps/web":            "build test kept dev",
		"packages/ui":         "storybook",
		"packages":            "build test kept",
	} {
		var names []string
		for _, x := range list(t, p, dir).Targets {
			if x.Runner == "turbo" {
				names = append(names, x.Name)
			}
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: %s, want %s", dir, got, want)
		}
	}
}
