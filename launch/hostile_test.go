package launch

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/runs"
)

// A repository made to harm is launched like any other: what cannot be read is listed
// with the reason, names are names and no options, and nothing outside is touched.
func TestAHostileRepositoryIsLaunchedWithoutHarm(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.write("canary.txt", "alive")
	for _, name := range []string{"-rf", "--upload-pack=touch pwned", "docs/$(touch pwned).md", "docs/`touch pwned`.md", "docs/a\nb.md", "docs/-n.md", "examples/--help.go"} {
		w.write(filepath.Join("product", name), "# Widget\n\nWidget turns rows into text quickly.\n")
	}
	w.write("product/docs/long.md", strings.Repeat("x", 50<<20))
	w.write("product/logo.md", "version https://git-lfs.github.com/spec/v1\noid sha256:"+strings.Repeat("a", 64)+"\nsize 12345\n")
	w.write("product/.gitmodules", "[submodule \"sub\"]\n\tpath = sub\n\turl = file://"+filepath.ToSlash(w.root)+"/site.git\n\tupdate = !touch pwned\n")
	w.write("product/.gitattributes", "*.md filter=evil\n")
	bad := "docs/\xff\xfe.md"
	if runtime.GOOS == "linux" { // other file systems refuse such a name
		w.write("product/"+bad, "# Widget\n")
	}
	for link, target := range map[string]string{"loop": "loop", "docs/up": "..", "docs/out.md": "../../canary.txt", "docs/self": "../docs"} {
		if err := os.Symlink(target, filepath.Join(w.root, "product", link)); err != nil {
			t.Fatal(err)
		}
	}
	w.git("product", "add", "-A")
	w.git("product", "update-index", "--add", "--cacheinfo", "160000,"+w.git("site", "rev-parse", "HEAD")+",sub")
	w.git("product", "commit", "-q", "-m", "hostile")

	id := w.start(autopilot)
	v := w.in(id, runs.StateDone)
	var inv dossier.RepoInventory
	if err := w.svc.document(v, dossier.RepoInventoryName, &inv); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"loop": "symlink", "docs/up": "symlink", "docs/out.md": "symlink", "docs/self": "symlink", "sub": "submodule", "logo.md": "lfs_pointer"}
	if runtime.GOOS == "linux" {
		want[`docs/\xff\xfe.md`] = "name_not_utf8"
	}
	for path, reason := range want {
		if !slices.Contains(inv.Skipped, dossier.SkippedPath{Path: path, Reason: reason}) {
			t.Errorf("%q is not skipped as %s: %v", path, reason, inv.Skipped)
		}
	}
	if !slices.ContainsFunc(inv.Paths, func(f dossier.RepoFile) bool { return f.Path == "-rf" }) {
		t.Error("the file -rf is not listed")
	}
	err := filepath.WalkDir(filepath.Dir(w.root), func(path string, _ fs.DirEntry, err error) error {
		if filepath.Base(path) == "pwned" {
			t.Errorf("%s was made", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if raw, err := os.ReadFile(filepath.Join(w.root, "canary.txt")); err != nil || string(raw) != "alive" {
		t.Errorf("the canary: %q, %v", raw, err)
	}
	for _, text := range tree(t, w.site(id)) {
		if strings.Contains(text, "alive") {
			t.Error("a page has the text of a file outside")
		}
	}
}

// A site that git cannot clone is told apart from a product that it cannot.
func TestASiteThatCannotBeClonedIsNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	objects := filepath.Join(w.root, "site.git", "objects")
	if err := os.RemoveAll(objects); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(objects, 0o755); err != nil {
		t.Fatal(err)
	}
	v := w.rest(w.start(`,"site_repo_url":"site.git"`))
	if v.Failure == nil || v.Failure.Code != string(fault.SiteCloneFailed) {
		t.Errorf("%s %+v", v.State, v.Failure)
	}
}
