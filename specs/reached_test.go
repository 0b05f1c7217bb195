package specs

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var word = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)

// A code that no test names is one that nobody has seen: its meaning and its hint are
// guesses, or nothing emits it any more.
func TestEveryCodeIsReachedByATest(t *testing.T) {
	named := namedByTests(t)
	codes := constants(t)
	maps.Copy(codes, constantsOf(t, "../launch/gates/gates.go"))
	for _, constant := range slices.Sorted(maps.Keys(codes)) {
		code := codes[constant]
		if !named[constant] && !named[string(code)] && !named[strings.ToLower(string(code))] {
			t.Errorf("no test names %s (%s)", code, constant)
		}
	}
}

// namedByTests returns the words of all tests and of their data, but for the tests
// here, which go through the registry.
func namedByTests(t *testing.T) map[string]bool {
	words := map[string]bool{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		slashed := filepath.ToSlash(path)
		if d.IsDir() {
			if slashed == "../specs" || d.Name() == ".git" || d.Name() == "node_modules" {
				return fs.SkipDir
			}
			return nil
		}
		tests := strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, ".go") && strings.HasSuffix(filepath.Base(filepath.Dir(path)), "test")
		if data := strings.Contains(slashed, "/testdata/") && strings.HasSuffix(path, ".txtar"); !tests && !data {
			return nil
		}
		raw, err := os.ReadFile(path)
		for _, w := range word.FindAllString(string(raw), -1) {
			words[w] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return words
}
