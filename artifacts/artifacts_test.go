package artifacts_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gantry-run/gantry/artifacts"
	"github.com/gantry-run/gantry/internal/fault"
)

func open(t *testing.T) (*artifacts.Folder, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := artifacts.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f, dir
}

func TestNothingIsWrittenOrReadOutsideTheFolder(t *testing.T) {
	f, dir := open(t)
	outside := filepath.Join(filepath.Dir(dir), "canary")
	if err := os.WriteFile(outside, []byte("untouched"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Dir(dir), filepath.Join(dir, "up")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"../canary", outside, "a/../../canary", "up/canary", "up/new/x"} {
		if _, err := f.Write(name, []byte("changed")); !fault.Is(err, fault.PathEscape) {
			t.Errorf("Write(%q) = %v", name, err)
		}
	}
	for _, name := range []string{"../canary", outside, "link", "up/canary"} {
		if data, _, err := f.Slice(name, 0, 100); !fault.Is(err, fault.PathEscape) || data != nil {
			t.Errorf("Slice(%q) = %q, %v", name, data, err)
		}
	}
	if _, err := f.Write("link", []byte("changed")); err != nil {
		t.Errorf("writing over a link: %v", err) // replaces the link itself
	}
	if got, _ := os.ReadFile(outside); string(got) != "untouched" {
		t.Errorf("the canary is %q", got)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(dir), "*")); len(left) != 2 {
		t.Errorf("beside the folder: %v", left)
	}
}

func TestWriteReplacesWholeAndLeavesNothingBehind(t *testing.T) {
	f, dir := open(t)
	for _, text := range []string{"one", "two", "two"} {
		info, err := f.Write("a/b.json", []byte(text))
		if err != nil || info.Size != int64(len(text)) || len(info.SHA256) != 64 {
			t.Fatalf("%+v, %v", info, err)
		}
		if got, _ := f.Read("a/b.json"); string(got) != text {
			t.Errorf("read %q, want %q", got, text)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "a", "*")); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

func TestFoldersAndMissingFilesAreNoArtifacts(t *testing.T) {
	f, _ := open(t)
	if _, err := f.Write("a/b", nil); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "c"} {
		if _, _, err := f.Slice(name, 0, 1); !fault.Is(err, fault.ArtifactNotFound) {
			t.Errorf("Slice(%q): %v", name, err)
		}
	}
}

func TestSlicesPutTogetherAreTheFile(t *testing.T) {
	f, dir := open(t)
	for _, size := range []int{0, 1, 1000, artifacts.CacheMax, artifacts.CacheMax + 1, 3*artifacts.CacheMax + 7} {
		want := bytes.Repeat([]byte("0123456789abcdef"), size/16+1)[:size]
		info, err := f.Write("big", want)
		if err != nil {
			t.Fatal(err)
		}
		r := artifacts.NewReader(time.Now)
		var got []byte
		for {
			part, err := r.Slice(dir, info, int64(len(got)), 300_000)
			if err != nil {
				t.Fatal(err)
			}
			if len(part) == 0 {
				break
			}
			got = append(got, part...)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%d bytes come back as %d", size, len(got))
		}
	}
}

func TestCacheIsKeyedByHashAndForgets(t *testing.T) {
	f, dir := open(t)
	now := time.Unix(0, 0)
	r := artifacts.NewReader(func() time.Time { return now })
	one, _ := f.Write("x", []byte("one"))
	read := func(a artifacts.Info) string {
		data, err := r.Slice(dir, a, 0, 10)
		if err != nil {
			return err.Error()
		}
		return string(data)
	}
	read(one)
	two, _ := f.Write("x", []byte("two"))
	if got := read(two); got != "two" {
		t.Errorf("the new hash gives %q", got)
	}
	os.Remove(filepath.Join(dir, "x"))
	if got := read(two); got != "two" {
		t.Errorf("within its life the cache gives %q", got)
	}
	now = now.Add(artifacts.CacheLife)
	if got := read(two); got == "two" {
		t.Error("the cache outlives its life")
	}
}

// A worker writes a file before its event is in the journal: whoever asks in between,
// for the old hash, must not make the new content pass for the old one.
func TestWhatDoesNotFitItsHashIsNotKept(t *testing.T) {
	f, dir := open(t)
	one, _ := f.Write("x", []byte("one"))
	r := artifacts.NewReader(time.Now)
	if _, err := f.Write("x", []byte("two")); err != nil {
		t.Fatal(err)
	}
	if data, err := r.Slice(dir, one, 0, 10); err != nil || string(data) != "two" {
		t.Fatalf("%q, %v", data, err)
	}
	if _, err := f.Write("x", []byte("one")); err != nil {
		t.Fatal(err)
	}
	if data, err := r.Slice(dir, one, 0, 10); err != nil || string(data) != "one" {
		t.Errorf("under its own hash the file is %q, %v", data, err)
	}
}

func TestFoldersAreMadeAtAnyDepthAndOnlyInside(t *testing.T) {
	f, dir := open(t)
	outside := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time they are there
		if _, err := f.Write("a/b/c/d", []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.Write("a/b/c/d/e", []byte("x")); err == nil {
		t.Error("a file became a folder")
	}
	if _, err := f.Write("out/a/b", []byte("x")); !fault.Is(err, fault.PathEscape) {
		t.Errorf("through a link: %v", err)
	}
	if entries, _ := os.ReadDir(outside); len(entries) != 0 {
		t.Errorf("written outside: %v", entries)
	}
}
