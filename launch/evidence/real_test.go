package evidence_test

import (
	"go/build"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/mod/module"

	"github.com/gantry-run/gantry/launch/evidence"
)

// moduleDir finds a module of this program's go.sum in the module cache.
func moduleDir(t *testing.T, modulePath string) string {
	t.Helper()
	escaped, err := module.EscapePath(modulePath)
	if err != nil {
		t.Fatal(err)
	}
	found, _ := filepath.Glob(filepath.Join(filepath.SplitList(build.Default.GOPATH)[0], "pkg", "mod", filepath.FromSlash(escaped)+"@*"))
	if len(found) == 0 {
		t.Skipf("%s is not in the module cache", modulePath)
	}
	return found[len(found)-1]
}

func TestARealRepositoryGivesClaimsWorthReading(t *testing.T) {
	dir := moduleDir(t, "github.com/modelcontextprotocol/go-sdk")
	r := gather(t, dir, evidence.Options{ProductName: "MCP Go SDK", ProductSlug: "mcp-go-sdk"})
	f := r.Facts
	if !strings.HasPrefix(f.Positioning.ShortDescription.Value, "MCP Go SDK ") {
		t.Errorf("short description: %q", f.Positioning.ShortDescription.Value)
	}
	if f.APISurface.Symbols < 200 || f.License == nil || len(f.Distribution) != 1 || len(f.Examples) < 10 {
		t.Errorf("%d symbols, license %v, distribution %v, %d examples", f.APISurface.Symbols, f.License, f.Distribution, len(f.Examples))
	}
	if len(f.ClaimGroups.KeyFeatures) < 3 {
		t.Errorf("key features: %v", f.ClaimGroups.KeyFeatures)
	}
	ashamed := regexp.MustCompile(`(?i)\b(we|our|click here|see below|as follows|contribut|mcp-go|codespaces)\b|\?|!\[`)
	for _, c := range r.Evidence.Claims {
		if c.Kind != "api" && c.Kind != "metadata" && ashamed.MatchString(c.Text) {
			t.Errorf("no claim for a page: %s", c.Text)
		}
		if c.Kind != "api" {
			quoted(t, dir, c.Citations[0].Path, c.Citations[0].StartLine, c.Citations[0].EndLine, c.Text)
		}
	}
	valid := 0
	for _, s := range r.Snippets.Snippets {
		if s.Language == "go" && s.Syntax == "valid" {
			valid++
		}
	}
	if valid < 40 {
		t.Errorf("%d valid Go snippets", valid)
	}
}

var longWord = regexp.MustCompile(`[A-Za-z]{7,}`)

// quoted checks that the cited lines hold the first two long words of the claim
// that are not our own.
func quoted(t *testing.T, dir, path string, start, end int, text string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, path))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(data), "\n")
	if end > len(lines) {
		t.Errorf("%s has %d lines, cited is %d", path, len(lines), end)
		return
	}
	cited := strings.ToLower(strings.Join(lines[start-1:end], " "))
	if strings.HasPrefix(path, "README") || strings.HasPrefix(path, "docs/") {
		for _, word := range longWord.FindAllString(text, 2) {
			if !strings.Contains(cited, strings.ToLower(word)) {
				t.Errorf("%s:%d-%d does not hold %q of %q", path, start, end, word, text)
			}
		}
	}
}
