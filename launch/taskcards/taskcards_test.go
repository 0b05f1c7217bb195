package taskcards

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/gantry-run/gantry/internal/fault"
)

const folder = "plans/taskcards"

// project makes a project with the files, by their paths.
func project(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func good(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile("testdata/TC-12_export.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func cardNamed(id, title string) string {
	return "---\nid: " + id + "\ntitle: " + title + "\nstatus: Ready\n---\n"
}

func TestListIsByNumberAndSaysWhatItCouldNotRead(t *testing.T) {
	dir := project(t, map[string]string{
		folder + "/TC-100_far.md":                  cardNamed("TC-100", "Far"),
		folder + "/TC-9.md":                        cardNamed("TC-9", "Near"),
		folder + "/TC-10_b.md":                     cardNamed("TC-10", "Second"),
		folder + "/TC-10_a.md":                     cardNamed("TC-10", "First"),
		folder + "/TC-20_none.md":                  "no front matter\n",
		folder + "/TC-21_id.md":                    "---\ntitle: x\n---\n",
		folder + "/TC-22_other.md":                 cardNamed("TC-23", "x"),
		folder + "/TC-24_digits.md":                cardNamed("TC-2", "x"),
		folder + "/TC-25_word.md":                  cardNamed("twelve", "x"),
		folder + "/TC-26_large.md":                 strings.Repeat("x", MaxSize+1),
		folder + "/TC-27_nul.md":                   "---\nid: TC-27\x00\n---\n",
		folder + "/TC-28_dir.md/x":                 "",
		folder + "/TC-99999999999999999999_big.md": cardNamed("TC-99999999999999999999", "x"),
		folder + "/TC-30.txt":                      cardNamed("TC-30", "x"),
		folder + "/README.md":                      "no card",
		"outside.md":                               cardNamed("TC-31", "x"),
	})
	if err := os.Symlink(filepath.Join(t.TempDir(), "secret"), filepath.Join(dir, folder, "TC-31_out.md")); err != nil {
		t.Fatal(err)
	}
	cards, bad, err := List(dir, folder)
	if err != nil {
		t.Fatal(err)
	}
	want := []Card{
		{"TC-9", "Near", "Ready", folder + "/TC-9.md"},
		{"TC-10", "First", "Ready", folder + "/TC-10_a.md"},
		{"TC-10", "Second", "Ready", folder + "/TC-10_b.md"},
		{"TC-100", "Far", "Ready", folder + "/TC-100_far.md"},
	}
	if !reflect.DeepEqual(cards, want) {
		t.Errorf("got %v, want %v", cards, want)
	}
	for i, want := range []FileError{
		{"TC-20_none.md", "No valid YAML frontmatter found"},
		{"TC-21_id.md", "Missing required field: id"},
		{"TC-22_other.md", "the id is TC-23"},
		{"TC-24_digits.md", "the id is TC-2,"},
		{"TC-25_word.md", "the id is not TC-"},
		{"TC-26_large.md", "larger than 1048576 bytes"},
		{"TC-27_nul.md", "NUL"},
		{"TC-28_dir.md", "not a regular file"},
		{"TC-31_out.md", "leads out of the project's root"},
		{"TC-99999999999999999999_big.md", "the id is not TC-"},
	} {
		if i >= len(bad) || bad[i].Path != folder+"/"+want.Path || !strings.Contains(bad[i].Message, want.Message) {
			t.Errorf("error %d of %q, want %q", i, bad, want)
		}
	}
	if len(bad) != 10 {
		t.Errorf("%d errors: %q", len(bad), bad)
	}
}

func TestFolderThatDoesNotExistHasNoCards(t *testing.T) {
	cards, bad, err := List(t.TempDir(), folder)
	if len(cards)+len(bad) != 0 || err != nil {
		t.Errorf("%v, %v, %v", cards, bad, err)
	}
}

func TestFolderOutsideTheRootIsAnEscape(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink(t.TempDir(), filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{"../x", "/etc", "out", "a/../../x"} {
		if _, _, err := List(dir, f); !fault.Is(err, fault.PathEscape) {
			t.Errorf("%s: %v", f, err)
		}
	}
}

func TestIDMeansExactlyOneCard(t *testing.T) {
	dir := project(t, map[string]string{
		folder + "/TC-100_far.md":   strings.ReplaceAll(good(t), "id: TC-12", "id: TC-100"),
		folder + "/TC-12_export.md": good(t),
	})
	for ref, want := range map[string]string{
		"TC-12": "TC-12", "TC-100": "TC-100", folder + "/TC-12_export.md": "TC-12", "./" + folder + "//TC-12_export.md": "TC-12",
	} {
		if r, err := Validate(dir, folder, ref); err != nil || r.ID != want || !r.Valid || len(r.Errors) != 0 {
			t.Errorf("%s: %+v, %v", ref, r, err)
		}
	}
	for _, ref := range []string{"TC-10", "TC-1", "TC-012", "tc-12", "TC-12_export", "TC-", folder, ".", "plans/none.md", "nowhere/TC-12_export.md", folder + "/TC-12_export.md/x", "%2e%2e%2fetc", strings.Repeat("n", 300)} {
		if r, err := Validate(dir, folder, ref); !fault.Is(err, fault.TaskcardNotFound) {
			t.Errorf("%.50s: %+v, %v", ref, r, err)
		}
	}
}

func TestPathsThatLeadOutAreEscapes(t *testing.T) {
	dir := project(t, map[string]string{"a/TC-1.md": good(t)})
	secret := filepath.Join(t.TempDir(), "TC-1.md")
	if err := os.WriteFile(secret, []byte(good(t)), 0o644); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"abs.md": secret, "etc": "/etc", "up.md": "../x", "inside.md": filepath.Join(dir, "a/TC-1.md")} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("loop.md", filepath.Join(dir, "loop.md")); err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{"../x.md", "a/../../x.md", secret, "/proc/self/environ", "abs.md", "etc/passwd", "up.md", "inside.md", ""} {
		if r, err := Validate(dir, folder, ref); !fault.Is(err, fault.PathEscape) || !reflect.ValueOf(r).IsZero() {
			t.Errorf("%s: %+v, %v", ref, r, err)
		}
	}
	for _, ref := range []string{"a\x00.md", `a\TC-1.md`, "a/\x1b.md", "a/\xff.md"} {
		if _, err := Validate(dir, folder, ref); !fault.Is(err, fault.InvalidInput) {
			t.Errorf("%q: %v", ref, err)
		}
	}
	if _, err := Validate(dir, folder, "loop.md"); !fault.Is(err, fault.TaskcardNotFound) {
		t.Errorf("a loop of links: %v", err)
	}
	if r, err := Validate(dir, folder, "a/../a/TC-1.md"); err != nil || r.ID != "TC-12" {
		t.Errorf("a path that comes back: %+v, %v", r, err)
	}
}
