package inventory_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/launch/inventory"
)

// write makes a tree of files; a name that ends in a slash is a folder.
func write(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func scan(t testing.TB, dir string) dossier.RepoInventory {
	t.Helper()
	inv, err := inventory.Scan(context.Background(), dir, inventory.Options{RepoURL: "https://example.org/acme/widget.git", RepoSHA: strings.Repeat("a", 40)})
	if err != nil {
		t.Fatal(err)
	}
	return inv
}

func file(t testing.TB, inv dossier.RepoInventory, path string) dossier.RepoFile {
	t.Helper()
	for _, f := range inv.Paths {
		if f.Path == path {
			return f
		}
	}
	t.Fatalf("%s is not in the inventory", path)
	return dossier.RepoFile{}
}

func TestFilesGetLanguageAndRole(t *testing.T) {
	inv := scan(t, write(t, map[string]string{
		"README.md": "# W", "LICENSE": "MIT", "go.mod": "module example.org/w\n", "w.go": "package w\n", "w_test.go": "package w\n",
		"cmd/w/main.go": "package main\n", "docs/guide.md": "x", "examples/hello/main.go": "package main\n", "examples/README.md": "x",
		"src/app.ts": "export const a = 1", "src/app.test.ts": "x", "tests/unit.py": "x", "logo.png": "\x89PNG\x00", "config.yaml": "a: 1",
		".editorconfig": "x", "tool": "#!/usr/bin/env python3\nprint()", "run": "#!/bin/bash\n", "vendor/x/y.go": "package y", "weird.zzz": "x",
		"lib/Makefile": "all:\n", "style.css": "a{}", "examples/hello/package.json": "{}",
	}))
	for path, want := range map[string][2]string{
		"README.md": {"Markdown", "doc"}, "LICENSE": {"Text", "doc"}, "go.mod": {"Go Module", "manifest"}, "w.go": {"Go", "source"},
		"w_test.go": {"Go", "test"}, "cmd/w/main.go": {"Go", "source"}, "docs/guide.md": {"Markdown", "doc"},
		"examples/hello/main.go": {"Go", "example"}, "examples/README.md": {"Markdown", "doc"}, "src/app.ts": {"TypeScript", "source"},
		"src/app.test.ts": {"TypeScript", "test"}, "tests/unit.py": {"Python", "test"}, "logo.png": {"", "asset"}, "config.yaml": {"YAML", "config"},
		"tool": {"Python", "source"}, "run": {"Shell", "source"}, "vendor/x/y.go": {"Go", "other"}, "weird.zzz": {"", "other"},
		"lib/Makefile": {"Makefile", "source"}, "style.css": {"CSS", "source"}, "examples/hello/package.json": {"JSON", "example"},
	} {
		if f := file(t, inv, path); f.Language != want[0] || f.Role != want[1] {
			t.Errorf("%s is %q with role %q, want %q with role %q", path, f.Language, f.Role, want[0], want[1])
		}
	}
	if !file(t, inv, "logo.png").Binary || file(t, inv, "w.go").Binary {
		t.Error("binary is told by a zero byte")
	}
	if got := file(t, inv, "w.go").SHA256; got != "3b1df6442f52a3ba27bd6e5b3a8ffaa8dd56ca195917844ebf0ffcb890722e64" {
		t.Errorf("sha256 = %q", got)
	}
}

func TestRootsAndEntryPoints(t *testing.T) {
	inv := scan(t, write(t, map[string]string{
		"README.rst": "x", "README.md": "x", "CHANGELOG.md": "x", "CONTRIBUTING.md": "x", "README_zh-CN.md": "x", "GUIDE.md": "x",
		"docs/b.md": "x", "docs/a.md": "x", "docs/zh/a.md": "x", "pkg/docs.go": "package pkg", "src/x.py": "x", "samples/s.py": "x", "tests/t.py": "x", "tests/docs/d.md": "x",
	}))
	for _, c := range []struct {
		name      string
		got, want []string
	}{
		{"entry points", inv.DocEntrypoints, []string{"README.md", "README.rst", "GUIDE.md", "docs/a.md", "docs/b.md"}},
		{"source roots", inv.SourceRoots, []string{"pkg", "src"}},
		{"test roots", inv.TestRoots, []string{"tests"}},
		{"doc roots", inv.DocRoots, []string{"docs"}},
		{"example roots", inv.ExampleRoots, []string{"samples"}},
		{"examples", inv.ExamplePaths, []string{"samples/s.py"}},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestPreferredRootsAndCommandsComeFirst(t *testing.T) {
	dir := write(t, map[string]string{"go.mod": "module example.org/w\n", "a/a.go": "package a", "z/z.go": "package z", "manual/m.md": "x", "docs/d.md": "x"})
	inv, err := inventory.Scan(context.Background(), dir, inventory.Options{
		PreferredSourceRoots: []string{"z", "../outside", "absent"}, PreferredDocRoots: []string{"manual/"}, PreferredTestCommands: []string{"mage test"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"z", "a"}, inv.SourceRoots); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"manual", "docs"}, inv.DocRoots); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"mage test", "go test ./..."}, inv.Profile.TestCommands); diff != "" {
		t.Error(diff)
	}
}

func TestPhantomPathsAreThoseThatTheTreeLacks(t *testing.T) {
	inv := scan(t, write(t, map[string]string{
		"README.md": "See [docs](docs/there.md) and\n`examples/gone/main.go`, https://x.org/docs/online.md\nand docs/there.md again, ./samples/nope.\n", "docs/there.md": "x",
	}))
	want := []dossier.PhantomPath{
		{ClaimedPath: "examples/gone/main.go", SourceFile: "README.md", Line: 2},
		{ClaimedPath: "samples/nope", SourceFile: "README.md", Line: 3},
	}
	if diff := cmp.Diff(want, inv.PhantomPaths); diff != "" {
		t.Error(diff)
	}
}

func TestHostileEntriesAreSkippedWithTheReason(t *testing.T) {
	dir := write(t, map[string]string{
		".git/config": "secret", "ok.txt": "x", "sub/module/.git": "gitdir: ../x", "sub/module/f.go": "package f", "locked.txt": "x",
		".gitmodules": "[submodule \"e\"]\n\tpath = ext/empty\n", "ext/empty/placeholder": "x", "deep/.gitignore": "**/**",
		"logo.md": "version https://git-lfs.github.com/spec/v1\noid sha256:" + strings.Repeat("a", 64) + "\nsize 12345\n",
	})
	links := map[string]string{"passwd": "/etc/passwd", "loop": "loop", "up": "..", "deep/self": "../deep", "inside": filepath.Join(dir, "ok.txt"), "dangling": "nowhere"}
	for name, target := range links {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	want := []dossier.SkippedPath{
		{Path: "dangling", Reason: "symlink"}, {Path: "deep/self", Reason: "symlink"}, {Path: "ext/empty", Reason: "submodule"},
		{Path: "inside", Reason: "symlink"}, {Path: "logo.md", Reason: "lfs_pointer"}, {Path: "loop", Reason: "symlink"}, {Path: "passwd", Reason: "symlink"},
		{Path: "pipe", Reason: "special_file"}, {Path: "sub/module", Reason: "submodule"}, {Path: "up", Reason: "symlink"},
	}
	if runtime.GOOS == "linux" { // other file systems refuse such a name
		if err := os.WriteFile(filepath.Join(dir, "bad\xffname"), []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
		want = append([]dossier.SkippedPath{{Path: `bad\xffname`, Reason: "name_not_utf8"}}, want...)
	}
	inv := scan(t, dir)
	if diff := cmp.Diff(want, inv.Skipped); diff != "" {
		t.Error(diff)
	}
	for _, f := range inv.Paths {
		if strings.HasPrefix(f.Path, ".git/") {
			t.Errorf("%s belongs to git", f.Path)
		}
	}
}

func TestResultDoesNotDependOnTimesOrThePlace(t *testing.T) {
	files := map[string]string{"README.md": "# W", "go.mod": "module example.org/w\ngo 1.25\n", "b.go": "package w", "a/a.go": "package a"}
	one, two := write(t, files), write(t, files)
	old := time.Unix(1, 0)
	if err := os.Chtimes(filepath.Join(two, "b.go"), old, old); err != nil {
		t.Fatal(err)
	}
	a, err := dossier.Encode(scan(t, one))
	if err != nil {
		t.Fatal(err)
	}
	b, _ := dossier.Encode(scan(t, two))
	if diff := cmp.Diff(string(a), string(b)); diff != "" {
		t.Error(diff)
	}
	if err := os.Rename(filepath.Join(two, "b.go"), filepath.Join(two, "c.go")); err != nil {
		t.Fatal(err)
	}
	if scan(t, two).Fingerprint == scan(t, one).Fingerprint {
		t.Error("a renamed file must change the fingerprint")
	}
}

func TestFingerprintIsOverTheSortedHashesOfPathAndContent(t *testing.T) {
	files := map[string]string{"a": "1", "b": "2", "c/d": "3", "e": "4", "f": "5"}
	var hashes []string
	for name, content := range files {
		hashes = append(hashes, fmt.Sprintf("%x", sha256.Sum256([]byte(name+"|"+content))))
	}
	slices.Sort(hashes)
	want := fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(hashes, ""))))
	if got := scan(t, write(t, files)).Fingerprint; got != want {
		t.Errorf("fingerprint = %s, want %s", got, want)
	}
}

func TestEmptyTreeIsAnEmptyInventoryWithoutNulls(t *testing.T) {
	encoded, err := dossier.Encode(scan(t, t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(encoded), "null") {
		t.Errorf("a list is null:\n%s", encoded)
	}
}

func TestMissingTreeAndEndedContextAreFaults(t *testing.T) {
	if _, err := inventory.Scan(context.Background(), filepath.Join(t.TempDir(), "absent"), inventory.Options{}); !fault.Is(err, fault.RepoNotFound) {
		t.Errorf("err = %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := inventory.Scan(ctx, write(t, map[string]string{"a": "x"}), inventory.Options{}); !fault.Is(err, fault.Cancelled) {
		t.Errorf("err = %v", err)
	}
}

func TestLargeFileIsStreamed(t *testing.T) {
	dir := write(t, map[string]string{"package.json": ""})
	if err := os.Truncate(filepath.Join(dir, "package.json"), 300<<20); err != nil { // sparse
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	inv := scan(t, dir)
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 32<<20 {
		t.Errorf("scanning allocated %d MiB", grown>>20)
	}
	if f := inv.Paths[0]; f.Size != 300<<20 || !f.Binary {
		t.Errorf("%+v", f)
	}
}

func TestRepoURLIsPublic(t *testing.T) {
	for in, want := range map[string]string{
		"https://user:token@example.org/a/b.git": "https://example.org/a/b.git",
		"/home/someone/src/widget":               "widget",
		"file:///home/someone/src/widget":        "widget",
		"git@example.org:a/b.git":                "example.org:a/b.git",
		"../widget/":                             "widget",
		"":                                       "",
	} {
		inv, err := inventory.Scan(context.Background(), t.TempDir(), inventory.Options{RepoURL: in})
		if err != nil || inv.RepoURL != want {
			t.Errorf("%q becomes %q (%v), want %q", in, inv.RepoURL, err, want)
		}
	}
}

func TestProductTypeAndPlatform(t *testing.T) {
	for _, c := range []struct {
		name, kind, platform string
		files                map[string]string
	}{
		{"go command", "cli", "go", map[string]string{"go.mod": "module example.org/w\n", "main.go": "package main\n"}},
		{"go library with a helper", "library", "go", map[string]string{"go.mod": "module example.org/w\n", "w.go": "package w\n", "cmd/gen/main.go": "package main\n"}},
		{"go sdk", "sdk", "go", map[string]string{"go.mod": "module example.org/go-sdk\n", "w.go": "package w\n"}},
		{"npm bin", "cli", "javascript", map[string]string{"package.json": `{"name":"w","bin":{"w":"w.js"}}`, "w.js": "1"}},
		{"typescript plugin", "plugin", "typescript", map[string]string{"package.json": `{"name":"w","description":"A plugin for x"}`, "src/a.ts": "1"}},
		{"service", "service", "python", map[string]string{"pyproject.toml": "[project]\nname='w'\n", "w.py": "1", "Dockerfile": "FROM x\nEXPOSE 80\n"}},
		{"library", "library", "rust", map[string]string{"Cargo.toml": "[package]\nname='w'\n", "src/lib.rs": "1"}},
		{"scripts", "tool", "other", map[string]string{"run.sh": "1"}},
		{"kotlin", "library", "kotlin", map[string]string{"build.gradle.kts": "group = \"a.b\"\n", "settings.gradle.kts": "rootProject.name = \"w\"\n", "src/A.kt": "fun a() {}"}},
		{"nothing", "other", "other", map[string]string{"notes.txt": "x"}},
	} {
		inv := scan(t, write(t, c.files))
		if p := inv.Profile; p.ProductType != c.kind || p.PlatformFamily != c.platform {
			t.Errorf("%s: %s for %s, want %s for %s", c.name, p.ProductType, p.PlatformFamily, c.kind, c.platform)
		}
	}
}

func TestBuildSystemsAndTestCommands(t *testing.T) {
	inv := scan(t, write(t, map[string]string{
		"Makefile": "test:\n\tgo test\n", "go.mod": "module example.org/w\n", "package.json": `{"scripts":{"test":"jest"}}`, "pnpm-lock.yaml": "",
		"pom.xml": "<project/>", "mvnw": "", "composer.json": `{"scripts":{"test":["phpunit"]}}`, "sub/App.csproj": "<Project/>",
	}))
	if diff := cmp.Diff([]string{"composer", "dotnet", "go", "make", "maven", "npm", "pnpm"}, inv.Profile.BuildSystems); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"make test", "composer test", "go test ./...", "pnpm test", "./mvnw test"}, inv.Profile.TestCommands); diff != "" {
		t.Error(diff)
	}
}

func BenchmarkScan(b *testing.B) {
	files := map[string]string{"go.mod": "module example.org/w\n"}
	for i := range 10_000 {
		files[fmt.Sprintf("pkg%03d/file%05d.go", i%200, i)] = fmt.Sprintf("package p\n\n// F%d does it.\nfunc F%d() {}\n", i, i)
	}
	dir := write(b, files)
	for b.Loop() {
		scan(b, dir)
	}
}
