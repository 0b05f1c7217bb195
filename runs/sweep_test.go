package runs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gantry-run/gantry/runs"
)

// left lists what is unfinished below a folder.
func left(t *testing.T, dir string) (out []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if strings.HasPrefix(d.Name(), ".tmp-") || strings.HasPrefix(d.Name(), ".new-") {
			rel, _ := filepath.Rel(dir, path)
			out = append(out, rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestADriverRemovesWhatTheOneThatDiedWasWriting(t *testing.T) {
	s := open(t, t.TempDir(), runs.StoreOptions{})
	id := create(t, s, request(""))
	if err := os.Mkdir(filepath.Join(s.Dir(id), "work", "site"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".tmp-snapshot.json-A", "artifacts/.tmp-B", "reports/.tmp-C", "work/.tmp-D", "work/site/.tmp-mine"} {
		if err := os.WriteFile(filepath.Join(s.Dir(id), name), []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	drive(t, s, id, 1)
	if got := left(t, s.Dir(id)); len(got) != 1 || got[0] != "work/site/.tmp-mine" {
		t.Errorf("left: %v", got)
	}
}

// A driver that dies while it writes leaves an unfinished file, which the next driver
// knows of only by a snapshot that is behind.
func TestADriverWithNothingToDoWritesNothing(t *testing.T) {
	s := open(t, t.TempDir(), runs.StoreOptions{})
	id := create(t, s, request(""))
	drive(t, s, id, -1)
	path := filepath.Join(s.Dir(id), "snapshot.json")
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	drive(t, s, id, -1)
	if after, err := os.Stat(path); err != nil || !os.SameFile(before, after) {
		t.Errorf("the snapshot was written again (%v)", err)
	}
	if err := os.WriteFile(path, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	drive(t, s, id, -1)
	if raw, err := os.ReadFile(path); err != nil || len(raw) < 100 {
		t.Errorf("a snapshot that is wrong stays: %s (%v)", raw, err)
	}
}

func TestWhatIsBegunBesideTheRunsGoesAnHourAfterItsMakerDied(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, runs.StoreOptions{})
	id := create(t, s, request(""))
	old, err := s.Scratch()
	if err != nil {
		t.Fatal(err)
	}
	fresh, err := s.Scratch()
	if err != nil {
		t.Fatal(err)
	}
	command := filepath.Join(dir, "runs", ".new-command")
	if err := os.WriteFile(command, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	past := time.Now().Add(-2 * time.Hour)
	for _, path := range []string{old, command} {
		if err := os.Chtimes(path, past, past); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Post(t.Context(), id, runs.Command{ID: "c1", Type: runs.Cancel}); err != nil {
		t.Fatal(err)
	}
	s.Close()
	s = open(t, dir, runs.StoreOptions{})
	list(t, s, runs.Filter{Limit: 9})
	if got := left(t, dir); len(got) != 1 || got[0] != filepath.Join("runs", filepath.Base(fresh)) {
		t.Errorf("left: %v, not only %s", got, fresh)
	}
}
