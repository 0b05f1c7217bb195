package patch

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/launch/dossier"
)

func TestAllowed(t *testing.T) {
	cases := []struct {
		path, pattern string
		want          bool
	}{
		{"content/docs/x/a.md", "content/docs/x/**", true},
		{"content/docs/x/y/z/a.md", "content/docs/x/**", true},
		{"content/docs/x", "content/docs/x/**", false},
		{"content/docs/x2/a.md", "content/docs/x/**", false},
		{"content/docs/_index.md", "content/docs/_index.md", true},
		{"content/docs/a.md", "content/*/a.md", true},
		{"content/docs/b/a.md", "content/*/a.md", false},
		{"content/docs/b/a.md", "content/**/a.md", true},
		{"content/a.md", "content/**/a.md", true},
		{"content/abc.md", "content/a*c.md", true},
		{"content/a.md", "content/a*a.md", false},
		{"Makefile", "**", true},
		{".vscode/tasks.json", "**", false},
		{"docs/.husky/pre-commit", "docs/**", false},
		{".gitattributes", "*", false},
		{".gitattributes", ".gitattributes", true},
		{".git/config", ".git/config", false},
		{".GIT/hooks/x", ".GIT/**", false},
		{"a/.git/config", "a/.git/**", false},
		{"a/.git. /config", "a/.git. /**", false},
		{"GIT~1/config", "GIT~1/**", false},
		{"../outside/secret", "**", false},
		{"../outside/secret", "../outside/**", false},
		{"foo/../../etc/passwd", "**", false},
		{"foo/../bar", "**", false},
		{"./a", "**", false},
		{"a//b", "**", false},
		{"a/", "**", false},
		{"/etc/passwd", "/etc/**", false},
		{`a\..\b`, "**", false},
		{"ok.txt\x00.png", "**", false},
		{"", "**", false},
		{".", "**", false},
		{"a/\xff", "**", false},
		{strings.Repeat("a/", 3000) + "x", "**", false},
		{"%2e%2e%2fetc", "**", true}, // no decoding: a strange name, and only that
		{"a", "", false},
		{"a", "../**", false},
	}
	for _, c := range cases {
		if got := Allowed(c.path, []string{c.pattern}); got != c.want {
			t.Errorf("Allowed(%.60q, %q) = %v", c.path, c.pattern, got)
		}
	}
}

// Matching ends: one that tried every way would outlive the test's time.
func TestAHostilePatternIsDecided(t *testing.T) {
	pattern := strings.TrimSuffix(strings.Repeat("**/", 300), "/") + "/x"
	if Allowed(strings.TrimSuffix(strings.Repeat("a/", 500), "/"), []string{pattern, strings.Repeat("*a", 400)}) {
		t.Error("allowed")
	}
}

func TestALinkOrAPipeOnThePathIsRefused(t *testing.T) {
	outside := t.TempDir()
	root := site(t, map[string]string{"content/real.md": "r", ".git/config": "g", "content/file": "f"})
	dir := root.Name()
	for link, target := range map[string]string{
		"content/out": outside, "content/in": "../.git", "content/self": "self", "content/page.md": "real.md", "content/gone": "nowhere",
	} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "content/pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	before := tree(t, root)
	for path, code := range map[string]fault.Code{
		"content/out/x.md": fault.AllowedPathsViolation, "content/in/config": fault.AllowedPathsViolation,
		"content/self/x": fault.AllowedPathsViolation, "content/page.md": fault.AllowedPathsViolation,
		"content/gone": fault.AllowedPathsViolation, "content/file/x": fault.AllowedPathsViolation,
		"content/pipe": fault.PatchConflict, "content": fault.AllowedPathsViolation,
	} {
		_, err := Apply(root, []string{"content/**"}, bundleOf(Create("content/fine.md", "x"), Create(path, "x")), dossier.Budgets{})
		if !fault.Is(err, code) {
			t.Errorf("%s: got %v, want %s", path, err, code)
		}
	}
	if diff := cmp.Diff(before, tree(t, root)); diff != "" {
		t.Errorf("the site changed: %s", diff)
	}
	if entries, _ := os.ReadDir(outside); len(entries) != 0 {
		t.Errorf("written outside: %v", entries)
	}
}

// hostilePath makes paths of pieces that have fooled path checks before.
func hostilePath() *rapid.Generator[string] {
	piece := rapid.SampledFrom([]string{
		"..", ".", "", "content", "docs", "x", "a.md", ".git", ".GIT", "config", "link", "inlink", "/", `\`, "\x00", "%2e%2e", "．．",
		"hooks", "~", "$HOME", "C:", "é", "canary",
	})
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(piece, 1, 6).Draw(t, "pieces"), rapid.SampledFrom([]string{"/", "/", "//", `\`}).Draw(t, "separator"))
	})
}

func TestNothingOutsideAllowedPathsIsEverWritten(t *testing.T) {
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "canary"), []byte("safe"), 0o644); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(outside, "site")
		if err != nil {
			rt.Fatal(err)
		}
		defer os.RemoveAll(dir)
		canaries := map[string]string{".git/config": "g", "canary": "safe", "content/canary": "safe", "content/docs/y/a.md": "safe"}
		for name, text := range canaries {
			os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755)
			os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644)
		}
		os.MkdirAll(filepath.Join(dir, "content/docs/x"), 0o755)
		os.Symlink(outside, filepath.Join(dir, "content/docs/x/link"))
		os.Symlink("../../../.git", filepath.Join(dir, "content/docs/x/inlink"))
		root, err := os.OpenRoot(dir)
		if err != nil {
			rt.Fatal(err)
		}
		defer root.Close()
		var patches []dossier.Patch
		for _, path := range rapid.SliceOfN(hostilePath(), 1, 3).Draw(rt, "paths") {
			if rapid.Bool().Draw(rt, "prefixed") {
				path = "content/docs/x/" + path
			}
			if rapid.Bool().Draw(rt, "delete") {
				patches = append(patches, Delete(path, ""))
			} else {
				patches = append(patches, Create(path, "evil"))
			}
		}
		_, err = Apply(root, []string{"content/docs/x/**"}, bundleOf(patches...), dossier.Budgets{})
		after := tree(rt, root)
		for name, text := range canaries {
			if after[name] != text {
				rt.Fatalf("%s became %q", name, after[name])
			}
		}
		for name := range after {
			if _, canary := canaries[name]; !canary && !strings.HasPrefix(name, "content/docs/x/") {
				rt.Fatalf("%q was written", name)
			}
		}
		if err != nil && len(after) != len(canaries) {
			rt.Fatalf("refused with %v and yet wrote %v", err, after)
		}
		entries, _ := os.ReadDir(outside)
		if len(entries) != 2 { // the canary and this site
			rt.Fatalf("outside: %v", entries)
		}
	})
}

func TestApplyingTwiceIsApplyingOnce(t *testing.T) {
	text := rapid.Custom(func(t *rapid.T) string {
		body := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"", "a", "b", "a\r", "---", "title: x"}), 0, 8).Draw(t, "lines"), "\n")
		return body + rapid.SampledFrom([]string{"", "\n"}).Draw(t, "end")
	})
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp("", "patch")
		if err != nil {
			rt.Fatal(err)
		}
		defer os.RemoveAll(dir)
		root, err := os.OpenRoot(dir)
		if err != nil {
			rt.Fatal(err)
		}
		defer root.Close()
		var files []File
		for _, name := range []string{"a.md", "b/c.md", "d.md"} {
			if rapid.Bool().Draw(rt, "exists") {
				root.MkdirAll(filepath.Dir(name), 0o755)
				root.WriteFile(name, []byte(text.Draw(rt, "before")), 0o644)
			}
			files = append(files, File{name, []byte(text.Draw(rt, "wanted"))})
		}
		bundle, err := Bundle(BundleInput{Root: root, Files: files})
		if err != nil {
			rt.Fatal(err)
		}
		for _, p := range bundle.Patches {
			if p.Type == dossier.UpdateFileRange && (p.StartLine < 1 || p.EndLine < p.StartLine) {
				rt.Fatalf("an empty range: %+v", p)
			}
		}
		if _, err := Apply(root, everything, bundle, dossier.Budgets{}); err != nil {
			rt.Fatal(err)
		}
		once := tree(rt, root)
		for _, file := range files {
			if once[file.Path] != string(file.Content) {
				rt.Fatalf("%s is %q, want %q", file.Path, once[file.Path], file.Content)
			}
		}
		again, err := Apply(root, everything, bundle, dossier.Budgets{})
		if err != nil || len(again.Applied)+len(again.Changes) != 0 {
			rt.Fatalf("again: %+v, %v", again, err)
		}
		if diff := cmp.Diff(once, tree(rt, root)); diff != "" {
			rt.Fatal(diff)
		}
	})
}
