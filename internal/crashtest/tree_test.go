package crashtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// tree is the content of files by their path.
type tree map[string]string

// outcome is what a launch leaves that must not depend on anything but its inputs.
// pr.json is left out, which names the run.
func (l *lab) outcome(id string) tree {
	l.t.Helper()
	out := tree{}
	for _, part := range []string{"artifacts", "drafts", "reports", "run_config.yaml"} {
		dir := filepath.Join(l.folder(id), part)
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || d.Name() == "pr.json" || strings.HasPrefix(d.Name(), ".tmp-") {
				return err
			}
			raw, err := os.ReadFile(path)
			rel, _ := filepath.Rel(l.folder(id), path)
			out[filepath.ToSlash(rel)] = string(raw)
			return err
		})
		if err != nil {
			l.t.Fatal(err)
		}
	}
	out["the site's commit"] = l.git(filepath.Join(l.folder(id), "work", "site"), "rev-parse", "HEAD")
	out["the site's files"] = l.git(filepath.Join(l.folder(id), "work", "site"), "status", "--porcelain", "--untracked-files=all")
	return out
}

// compare reports how two outcomes differ.
func compare(t *testing.T, what string, want, got tree) {
	t.Helper()
	for _, name := range names(want, got) {
		a, inA := want[name]
		b, inB := got[name]
		switch {
		case !inA:
			t.Errorf("%s: %s is there now", what, name)
		case !inB:
			t.Errorf("%s: %s is missing", what, name)
		case a != b:
			t.Errorf("%s: %s differs:\n%s", what, name, firstDifference(a, b))
		}
	}
}

func names(trees ...tree) []string {
	var out []string
	for _, t := range trees {
		for name := range t {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range max(len(x), len(y)) {
		line := func(l []string) string {
			if i < len(l) {
				return l[i]
			}
			return "(nothing)"
		}
		if line(x) != line(y) {
			return "- " + line(x) + "\n+ " + line(y)
		}
	}
	return ""
}
