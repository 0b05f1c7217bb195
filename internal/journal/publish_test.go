package journal

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestPublishDirRefusesToReplaceAndKeepsTheJournalOpen(t *testing.T) {
	root := t.TempDir()
	for _, durable := range []bool{true, false} {
		for _, name := range []string{"a", "b"} {
			if err := os.Mkdir(filepath.Join(root, name), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		a, b, final := filepath.Join(root, "a"), filepath.Join(root, "b"), filepath.Join(root, "final")
		j, err := Create(Disk{}, filepath.Join(a, "j"))
		if err != nil {
			t.Fatal(err)
		}
		if err := PublishDir(Disk{}, a, final, durable); err != nil {
			t.Fatal(err)
		}
		if err := PublishDir(Disk{}, b, final, durable); !errors.Is(err, fs.ErrExist) {
			t.Errorf("second publish: %v", err)
		}
		if _, err := os.Stat(b); err != nil {
			t.Errorf("the refused folder: %v", err)
		}
		if _, _, err := j.Append(true, body(1)); err != nil {
			t.Error(err)
		}
		j.Close()
		if got := readAll(t, filepath.Join(final, "j")); len(got) != 1 {
			t.Errorf("%d lines in the published journal", len(got))
		}
		os.RemoveAll(final)
		os.RemoveAll(b)
	}
}

func TestPublishDirRefusesToReplaceAnEmptyFolder(t *testing.T) {
	a, b := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	for _, dir := range []string{a, b} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := PublishDir(Disk{}, a, b, true); !errors.Is(err, fs.ErrExist) {
		t.Errorf("%v", err)
	}
}

func TestReplaceFileReplacesAndLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	for _, want := range []string{"one", "two, which is longer", ""} {
		if err := ReplaceFile(Disk{}, path, []byte(want)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
	}
	if err := ReplaceFile(Disk{}, dir, nil); err == nil {
		t.Error("a folder was replaced")
	}
	if entries, err := os.ReadDir(filepath.Dir(dir)); err != nil || len(entries) != 1 {
		t.Errorf("%v %v", entries, err)
	}
}

func TestWriteFileAtomicReplacesAndLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "snapshot.json")
	for _, want := range []string{"one", "two"} {
		if err := WriteFileAtomic(Disk{}, path, []byte(want)); err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(path); string(got) != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	disk := newCountingDisk()
	for _, fails := range []string{"write", "sync"} {
		disk.fail(fails)
		if err := WriteFileAtomic(disk, path, []byte("three")); !errors.Is(err, errDisk) {
			t.Errorf("failing %s: %v", fails, err)
		}
	}
	if err := WriteFileAtomic(Disk{}, filepath.Join(dir, "none", "x"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no such folder: %v", err)
	}
	entries, _ := os.ReadDir(dir)
	if got, _ := os.ReadFile(path); len(entries) != 1 || string(got) != "two" {
		t.Errorf("%v, content %q", entries, got)
	}
}
