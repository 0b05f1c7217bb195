package git

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestRestoreUndoesEverythingAndReadFileSeesTheCommit(t *testing.T) {
	g, err := New(Options{Env: os.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	dir, ctx := t.TempDir(), t.Context()
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("kept.md", "one\n")
	write("gone.md", "two\n")
	c, err := g.CommitAll(ctx, dir, CommitOptions{Message: "m", AuthorName: "a", AuthorEmail: "a@b", When: time.Unix(1, 0)})
	if err != nil {
		t.Fatal(err)
	}
	write("kept.md", "changed\n")
	write("new/deep/file.md", "new\n")
	write(".gitignore", "ignored\n")
	write("ignored", "x\n")
	if err := os.Remove(filepath.Join(dir, "gone.md")); err != nil {
		t.Fatal(err)
	}
	if got, err := g.ReadFile(ctx, dir, c.SHA, "kept.md"); err != nil || string(got) != "one\n" {
		t.Errorf("ReadFile = %q, %v", got, err)
	}
	if _, err := g.ReadFile(ctx, dir, c.SHA, "new/deep/file.md"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("ReadFile of a file that is not in the commit: %v", err)
	}
	if err := g.Restore(ctx, dir, c.SHA); err != nil {
		t.Fatal(err)
	}
	var left []string
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if got, _ := os.ReadFile(filepath.Join(dir, "kept.md")); len(left) != 3 || string(got) != "one\n" {
		t.Errorf("after Restore: %v, kept.md %q", left, got)
	}
}
