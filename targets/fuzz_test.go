package targets

import (
	"os"
	"strings"
	"testing"
	"time"
)

// The parsers take any text: they end, in time that grows with its size, and what they
// list can be shown and be named on a command line.

func seeds(f *testing.F, files ...string) {
	for _, name := range files {
		raw, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(raw))
	}
	for _, text := range []string{"", "\\", "a:\\\n", "define\n", "a: b: c: d", "a:=", "::", "$(", "${a:b", "a'", "a '''", "[", "a `", "a (", "alias b := c", "mod", "import", ".RECIPEPREFIX = >\na:\n>x", "a b&: c"} {
		f.Add(text)
	}
}

func inTime(t *testing.T, text string, parse func(string)) {
	t.Helper()
	began := time.Now()
	parse(text)
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("%d bytes took %v", len(text), took)
	}
}

func FuzzMakefile(f *testing.F) {
	seeds(f, "make/Makefile", "make/rules/more.mk")
	f.Fuzz(func(t *testing.T, text string) {
		inTime(t, text, func(text string) {
			m := parseMakefile(text)
			for _, r := range m.rules {
				for _, name := range r.targets {
					if strings.ContainsAny(name, " \t\n") || !strings.Contains(text, name) {
						t.Errorf("the target %q", name)
					}
				}
			}
			set := &makeSet{files: []makeSource{{source{path: "Makefile"}, m}}}
			byName := set.byName()
			for name := range byName {
				set.recipe(name, byName)
				makeDescription(byName[name])
			}
		})
	})
}

func FuzzJustfile(f *testing.F) {
	seeds(f, "just/Justfile", "just/tools/mod.just")
	f.Fuzz(func(t *testing.T, text string) {
		inTime(t, text, func(text string) {
			for _, r := range parseJustfile(text).recipes {
				if !justIdentifier(r.name) || !strings.Contains(text, r.name) || r.parameters < anyArguments {
					t.Errorf("the recipe %+v", r)
				}
			}
		})
	})
}

func FuzzCMake(f *testing.F) {
	seeds(f, "cmake/CMakeLists.txt")
	f.Fuzz(func(t *testing.T, text string) {
		inTime(t, text, func(text string) { cmakeCalls(text, "add_custom_target") })
	})
}

func FuzzJSONWithComments(f *testing.F) {
	seeds(f, "turbo/turbo.json")
	f.Fuzz(func(t *testing.T, text string) {
		if got := plainJSON(text); len(got) != len(text) || strings.Count(string(got), "\n") != strings.Count(text, "\n") {
			t.Errorf("%q: positions are not kept: %q", text, got)
		}
	})
}

// Texts that are made to cost more than they weigh: what grows with the square of the size
// takes minutes here.
func TestLargeHostileFilesAreReadInTime(t *testing.T) {
	const size = maxFile / 4
	fill := func(unit string) string { return strings.Repeat(unit, size/len(unit)) }
	for name, units := range map[string][]string{
		"Makefile":       {"a:\n", "a", "a: b\n", ":", "$(", "a\\\n", "include x\n", "x:a ", "define x\n", "\t\n", " x\n", "a:\n\tx\n"},
		"justfile":       {"a:\n", "a", "(", "'''", "alias b := a\n", "a \\\n", "import 'x'\n", "[a]\n", "a:\n x\n", "`", "a b"},
		"CMakeLists.txt": {"(", "[=", "[==[", "\"", "add_custom_target(a)\n", "add_custom_target(", "#\n"},
		"build.gradle":   {"task a\n", "task a {", "/*", "/**/", "\"", "id 'a'\n", "tasks.register('a') {\n", "description "},
		"Rakefile":       {"task :a\n", "namespace :a do\n", "desc '", "task "},
		"Taskfile.yml":   {"a: b\n", "- ", "a: &a\n", "{", "a:\n ", "'", "? ", "*a ", "!x ", "|\n"},
		"pyproject.toml": {"[a]\n", "a.", "[[a]]\n", "\"", "{"},
		"turbo.json":     {"{\"a\":", "/**/", "[", "\"", ","},
		"pom.xml":        {"<a>", "<", "&a;", "<!--", "<project>"},
		"magefile.go":    {"package a\n", "func A(){}\n", "(", "//\n", "type A b\n"},
		"run.sh":         {"#\n", "# \n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, "")
			for _, unit := range units {
				for _, head := range []string{"", map[string]string{"Taskfile.yml": "tasks:\n", "turbo.json": "{\"tasks\":", "magefile.go": "package a\n"}[name]} {
					l.write(name, head+fill(unit))
					began := time.Now()
					l.list("")
					if took := time.Since(began); took > 10*time.Second {
						t.Errorf("%s of %q took %v", name, unit, took)
					}
				}
			}
		})
	}
}
