package launch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "main")
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestAFolderIsNamedByItsOriginThenItsManifestThenItself(t *testing.T) {
	origin := func(url string) string {
		return "[core]\n\turl = no\n[remote \"fork\"]\n\turl = https://example.com/fork.git\n[remote \"origin\"]\n\tfetch = +refs\n\turl = " + url + "\n"
	}
	for _, c := range []struct {
		files map[string]string
		want  string
	}{
		{map[string]string{".git/config": origin("https://github.com/acme/widget.git"), "go.mod": "module example.com/other\n"}, "widget"},
		{map[string]string{".git/config": origin("git@github.com:acme/widget.git")}, "widget"},
		{map[string]string{".git/config": origin("/srv/git/somewhere"), "go.mod": "module example.com/acme/widget/v3\n"}, "widget"},
		{map[string]string{".git/config": origin("file:///srv/git/somewhere"), "Cargo.toml": "[package]\nname = \"widget\"\n"}, "widget"},
		{map[string]string{".git": "gitdir: /elsewhere", "package.json": `{"name": "@acme/widget"}`}, "widget"},
		{map[string]string{"pyproject.toml": "[project]\nname = \"widget\"\n", "package.json": `{"private": true}`}, "widget"},
		{map[string]string{"setup.cfg": "[metadata]\nname = widget\n", "go.mod": "not a module"}, "widget"},
		{map[string]string{"README.md": "# Widget\n"}, "main"},
		{nil, "main"},
	} {
		dir := folder(t, c.files)
		if got := nameOf(Source{URL: dir, Local: true}); got != c.want {
			t.Errorf("%v: %q, want %q", c.files, got, c.want)
		}
	}
	if got := nameOf(Source{URL: "https://github.com/acme/widget"}); got != "widget" {
		t.Errorf("an address: %q", got)
	}
}

func TestANameIsNotReadThroughALinkOutOfTheFolder(t *testing.T) {
	outside := folder(t, map[string]string{"config": "[remote \"origin\"]\n\turl = https://example.com/secret\n", "go.mod": "module secret\n"})
	dir := folder(t, nil)
	if err := os.Mkdir(filepath.Join(dir, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{".git/config": "config", "go.mod": "go.mod"} {
		if err := os.Symlink(filepath.Join(outside, to), filepath.Join(dir, from)); err != nil {
			t.Fatal(err)
		}
	}
	if got := nameOf(Source{URL: dir, Local: true}); strings.Contains(got, "secret") {
		t.Errorf("the name is %q", got)
	}
}
