package changes

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gantry-run/gantry/internal/fault"
)

func TestAPatchAppliesAtTheTopOfTheAttempt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `seq 50 >name; seq 5 >edit; mkdir d; seq 5 >d/gone`, "web", "api")
	w.in("api", "mv name 'mo\nved'; seq 6 >edit; rm -r d; mkdir n; echo x >n/new")
	w.in("web", "chmod +x edit; echo y >>README")
	p := w.patch(PatchRequest{Paths: []string{"web/.", "api/.", "api/edit"}})
	if p.Blocked || p.Truncated || p.Bytes != len(p.Text) || !strings.Contains(p.Text, "rename from api/name\nrename to \"api/mo\\nved\"\n") || strings.Index(p.Text, "b/api/") > strings.Index(p.Text, "b/web/") {
		t.Fatalf("%+v", p)
	}
	w.sh(w.dir, "mkdir -p copy/api copy/web; git -C origin-api archive main | tar -x -C copy/api; git -C origin-web archive main | tar -x -C copy/web")
	if err := os.WriteFile(filepath.Join(w.dir, "p"), []byte(p.Text), 0o600); err != nil {
		t.Fatal(err)
	}
	w.sh(w.dir+"/copy", "git apply ../p")
	if got := w.sh(w.dir, "diff -r -x .git copy tree && test -x copy/web/edit && echo same"); got != "same" {
		t.Error(got)
	}
}

func TestAPatchHoldsThePathsThatAreAskedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `seq 50 >name; mkdir d; seq 5 >d/x; seq 5 >dx`, "api")
	w.in("api", "mv name moved; echo 6 >>d/x; echo 6 >>dx; echo n >'*'")
	for path, want := range map[string][]string{
		"api/d": {"api/d/x"}, "api/d/": {"api/d/x"}, "api/./d/x": {"api/d/x"}, "api/dx": {"api/dx"}, "api/*": {"api/*"}, "api/none": nil,
		"api/moved": {"api/moved"}, "api/name": {"api/moved"}, "api/README": nil, "api/:(top)dx": nil,
	} {
		var got []string
		p := w.patch(PatchRequest{Paths: []string{path}})
		for line := range strings.Lines(p.Text) {
			if rest, ok := strings.CutPrefix(line, "diff --git "); ok {
				_, b, _ := strings.Cut(rest, " b/")
				got = append(got, strings.TrimSpace(b))
			}
		}
		if p.Blocked || !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v\n%s", path, got, want, p.Text)
		}
	}
	if p := w.patch(PatchRequest{Paths: []string{"api/moved"}}); !strings.Contains(p.Text, "similarity index 100%\n") {
		t.Errorf("a rename asked for by its new name:\n%s", p.Text)
	}
}

func TestAPatchIsCutAtTheEndOfACharacter(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "true", "api", "web")
	w.in("api", "echo 'é日' >README")
	w.in("web", "printf 'latin1 \\351\\n' >README")
	all := w.patch(PatchRequest{Paths: []string{"api/README", "web/README"}})
	if all.Truncated || !strings.Contains(all.Text, "latin1 \uFFFD") || !utf8.ValidString(all.Text) {
		t.Fatalf("%+v", all)
	}
	bounds := []int{1, len(all.Text) - 1, len(all.Text)}
	for i := range len(all.Text) {
		if all.Text[i] >= utf8.RuneSelf {
			bounds = append(bounds, i, i+1)
		}
	}
	slices.Sort(bounds)
	for _, n := range slices.Compact(bounds) {
		p := w.patch(PatchRequest{Paths: []string{"api/README", "web/README"}, MaxBytes: n})
		if !utf8.ValidString(p.Text) || p.Bytes > n || p.Bytes != len(p.Text) || n-p.Bytes > 3 || !strings.HasPrefix(all.Text, p.Text) || p.Truncated != (n < len(all.Text)) {
			t.Errorf("%d bytes: %q truncated %v", n, p.Text, p.Truncated)
		}
	}
}

func TestAPatchOfTooMuchIsBlocked(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "true", "api")
	w.in("api", "seq 600000 >README")
	many := make([]string, MaxPaths+1)
	for i := range many {
		many[i] = "api/README"
	}
	for what, c := range map[string]struct {
		q      PatchRequest
		reason Reason
	}{
		"bytes":      {PatchRequest{Paths: []string{"api/README"}, MaxBytes: MaxPatch + 1}, SizeExceeded},
		"paths":      {PatchRequest{Paths: many, Force: true}, TooManyPaths},
		"the guard":  {PatchRequest{Paths: []string{"api/README"}}, ThresholdExceeded},
		"no repo":    {PatchRequest{Paths: []string{"README"}, Force: true}, PathOutsideWorkspace},
		"up":         {PatchRequest{Paths: []string{"api/README", "api/../../origin-api/README"}, Force: true}, PathOutsideWorkspace},
		"absolute":   {PatchRequest{Paths: []string{"/etc/passwd"}, Force: true}, PathOutsideWorkspace},
		"other repo": {PatchRequest{Paths: []string{"web/README"}, Force: true}, PathOutsideWorkspace},
	} {
		if p := w.patch(c.q); !p.Blocked || p.Reason != c.reason || p.Text != "" {
			t.Errorf("%s: %v %s", what, p.Blocked, p.Reason)
		}
	}
	if p := w.patch(PatchRequest{Paths: []string{"api/README"}, Force: true}); p.Blocked || p.Bytes != DefaultPatch || !p.Truncated {
		t.Errorf("by default: %v %d", p.Blocked, p.Bytes)
	}
	if p := w.patch(PatchRequest{Paths: []string{"api/README"}, Force: true, MaxBytes: MaxPatch}); p.Blocked || p.Bytes != MaxPatch || !p.Truncated {
		t.Errorf("at most: %v %d", p.Blocked, p.Bytes)
	}
	if _, err := w.r.Patch(t.Context(), w.trees, PatchRequest{}); !fault.Is(err, fault.MissingRequired) {
		t.Errorf("no path: %v", err)
	}
}
