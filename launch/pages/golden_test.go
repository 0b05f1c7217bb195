package pages

import (
	"bytes"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gantry-run/gantry/launch/dossier"
)

var update = flag.Bool("update", false, "write the golden files")

// TestTheSameEvidenceGivesTheseBytes holds the plan and every page of the widget
// against testdata/widget; go test -update writes them.
func TestTheSameEvidenceGivesTheseBytes(t *testing.T) {
	plan, drafts := widget(t).drafts(t)
	encoded, err := dossier.Encode(plan)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{"page_plan.json": string(encoded)}
	for _, draft := range drafts {
		got[draft.OutputPath] = string(draft.Content)
	}
	dir := filepath.Join("testdata", "widget")
	if *update {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		for name, text := range got {
			full := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := map[string]string{}
	err = fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		raw, err := os.ReadFile(filepath.Join(dir, name))
		want[name] = string(raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestTwoDraftsOfTheSameEvidenceAreEqual(t *testing.T) {
	_, first := widget(t).drafts(t)
	_, second := widget(t).drafts(t)
	for i := range first {
		if first[i].OutputPath != second[i].OutputPath || !bytes.Equal(first[i].Content, second[i].Content) {
			t.Errorf("%s differs", first[i].OutputPath)
		}
	}
}
