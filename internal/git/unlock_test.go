package git

import (
	"os"
	"path/filepath"
	"testing"
)

func TestUnlockLetsGitWorkAfterGitWasKilled(t *testing.T) {
	w := newWorld(t)
	dir := filepath.Join(t.TempDir(), "site")
	write(t, dir+"/page.md", "a")
	if _, err := w.git.CommitAll(t.Context(), dir, commitOptions("one")); err != nil {
		t.Fatal(err)
	}
	if err := Unlock(dir); err != nil {
		t.Errorf("with nothing locked: %v", err)
	}
	for _, name := range []string{"index.lock", "HEAD.lock", "config.lock", "refs/heads/main.lock"} {
		write(t, filepath.Join(dir, ".git", name), "")
	}
	write(t, dir+"/page.md", "b")
	if _, err := w.git.CommitAll(t.Context(), dir, commitOptions("two")); err == nil {
		t.Error("the locks lock nothing")
	}
	if err := Unlock(dir); err != nil {
		t.Error(err)
	}
	if _, err := w.git.CommitAll(t.Context(), dir, commitOptions("two")); err != nil {
		t.Error(err)
	}
	left := filepath.Join(dir, ".git", copyPrefix+"1")
	write(t, left+"/index", "")
	if err := Unlock(dir); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(left); err == nil {
		t.Error("a copy of the index is left")
	}
	if err := Unlock(filepath.Join(dir, "nowhere")); err != nil {
		t.Errorf("without a repository: %v", err)
	}
}
