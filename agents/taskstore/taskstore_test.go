package taskstore

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gantry-run/gantry/internal/fault"
)

// at is when everything happens here.
func at(second int) time.Time { return time.Date(2026, 1, 31, 23, 59, second, 0, time.UTC) }

func put(t *testing.T, s Store, id string, state State, second int) {
	t.Helper()
	if err := s.Write(Task{ID: id, State: state, CreatedAt: at(0), UpdatedAt: at(second)}); err != nil {
		t.Fatal(err)
	}
}

func TestATaskIsReadAsItWasWritten(t *testing.T) {
	s := Open(filepath.Join(t.TempDir(), "a [store]*"))
	want := Task{ID: "t-1", Title: "A <title>", State: Stopped, CreatedAt: at(1), UpdatedAt: at(2), LastResult: "done", InitialPrompt: "do", LastPrompt: "more", ConfigPath: "/c", WorkingDir: "/w"}
	if err := s.Write(want); err != nil {
		t.Fatal(err)
	}
	got, err := s.Find("t-1")
	if diff := cmp.Diff(Found{Task: want, Folder: "t-1"}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if _, err := s.Find("t-2"); !fault.Is(err, fault.SessionNotFound) {
		t.Error(err)
	}
}

func TestATaskRunsAsLongAsItsProcessLives(t *testing.T) {
	s := Open(t.TempDir())
	for _, c := range []struct {
		wrote State
		pid   int
		want  State
	}{
		{Running, os.Getpid(), Running}, {Died, os.Getpid(), Running}, {Stopped, os.Getpid(), Stopped},
		{Running, 0, Died}, {Running, 1 << 30, Died}, {Stopped, 0, Stopped}, {Died, 0, Died},
	} {
		put(t, s, "t", c.wrote, 1)
		if err := s.SetPID("t", c.pid); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Find("t"); err != nil || got.State != c.want {
			t.Errorf("%s with process %d is %s, %v", c.wrote, c.pid, got.State, err)
		}
	}
}

func TestNamesThatAreNoPlainNamesAreNoTasks(t *testing.T) {
	s := Open(t.TempDir())
	for _, id := range []string{"", ".", "..", "a/b", "/a", "../a", ".hidden", "archive", "a\x00", "a b", strings.Repeat("x", 129), "a\n"} {
		if err := s.Write(Task{ID: id}); !fault.Is(err, fault.InvalidInput) {
			t.Errorf("%q is written: %v", id, err)
		}
		if _, err := s.Find(id); !fault.Is(err, fault.SessionNotFound) {
			t.Errorf("%q is found: %v", id, err)
		}
	}
	if entries, err := os.ReadDir(s.root); err != nil || len(entries) != 0 {
		t.Errorf("%v, %v", entries, err)
	}
}

func TestWhatIsNoTaskIsPassedOver(t *testing.T) {
	s := Open(t.TempDir())
	put(t, s, "b", Stopped, 1)
	put(t, s, "a", Stopped, 1)
	put(t, s, "c", Stopped, 2)
	outside := t.TempDir()
	for name, text := range map[string]string{"junk": "{", "liar": `{"id":"somebody"}`, "empty": ""} {
		if err := os.MkdirAll(filepath.Join(s.root, name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(s.root, name, metaName), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, filepath.Join(s.root, "link")); err != nil {
		t.Fatal(err)
	}
	all, err := s.List(true)
	var ids []string
	for _, f := range all {
		ids = append(ids, f.ID)
	}
	if err != nil || !slices.Equal(ids, []string{"c", "a", "b"}) {
		t.Errorf("%v, %v", ids, err)
	}
	if err := s.Write(Task{ID: "link"}); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("a link is written through: %v", err)
	}
}

func TestATaskIsArchivedOnce(t *testing.T) {
	s := Open(t.TempDir())
	put(t, s, "t", Stopped, 1)
	if err := s.SetPID("t", os.Getpid()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		to, err := s.Archive("t", at(5))
		if err != nil || to != "archive/2026/01/31/t" {
			t.Fatalf("%q, %v", to, err)
		}
	}
	f, err := s.Find("t")
	if err != nil || f.State != Archived || f.Folder != "archive/2026/01/31/t" {
		t.Errorf("%+v, %v", f, err)
	}
	if _, err := os.Stat(filepath.Join(s.root, f.Folder, pidName)); err == nil {
		t.Error("the process's number is archived")
	}
	if to, err := s.Archive("nobody", at(5)); to != "" || err != nil {
		t.Errorf("%q, %v", to, err)
	}
	if all, _ := s.List(false); len(all) != 0 {
		t.Errorf("%+v", all)
	}
	if all, _ := s.List(true); len(all) != 1 {
		t.Errorf("%+v", all)
	}
}

func TestALogGoesOnBehindItsLastWholeLine(t *testing.T) {
	s := Open(t.TempDir())
	put(t, s, "t", Running, 1)
	path := filepath.Join(s.root, "t", logName)
	if err := os.WriteFile(path, []byte("one\ntwo\nhal"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := s.OpenLog("t")
	if err != nil {
		t.Fatal(err)
	}
	if n := l.Lines(); n != 2 {
		t.Errorf("%d lines", n)
	}
	if err := l.Append("three", "fo\nur"); err != nil || l.Lines() != 4 {
		t.Error(l.Lines(), err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	f, err := s.Find("t")
	if err != nil {
		t.Fatal(err)
	}
	if n, size, err := s.LogSize(f); n != 4 || size != int64(len("one\ntwo\nthree\nfo ur\n")) || err != nil {
		t.Errorf("%d lines, %d bytes, %v", n, size, err)
	}
	for from, want := range map[int64][]string{0: {"one", "two"}, 2: {"three", "fo ur"}, 3: {"fo ur"}, 4: nil} {
		if got, err := s.Lines(f, from, 2); !slices.Equal(got, want) || err != nil {
			t.Errorf("from %d: %q, %v", from, got, err)
		}
	}
}
