package targets

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

func problems(l Listing) string {
	var lines []string
	for _, p := range l.Problems {
		lines = append(lines, string(p.Severity)+" "+p.FilePath+": "+p.Message)
	}
	return strings.Join(lines, "\n")
}

func TestABrokenFileIsNamedAndHidesNothing(t *testing.T) {
	broken := map[string]string{
		"Makefile": "this is not make\n", "package.json": "{", "pyproject.toml": "[[[", "Taskfile.yml": "tasks: [", "turbo.json": "[]",
		"pom.xml": "<project>", ".github/workflows/ci.yml": "x: y", "docker-compose.yml": "services: 7", ".travis.yml": "a: [",
		"justfile": "a:\n\tx\n    y\n", "Cargo.toml": "=", "magefile.go": "package", "Rakefile": "\xff\xfe", "run.sh": "\x00",
	}
	l := newLab(t, "-- CMakeLists.txt --\nadd_custom_target(docs)\n-- build.gradle --\n")
	for name, text := range broken {
		l.write(name, text)
	}
	got := l.list("")
	for name := range broken {
		if !slices.ContainsFunc(got.Problems, func(p Problem) bool { return p.FilePath == name && p.Severity == Error && p.Message != "" }) {
			t.Errorf("%s is not reported:\n%s", name, problems(got))
		}
	}
	if len(got.Problems) != len(broken) || !strings.Contains(l.names(""), "docs") || !strings.Contains(l.names(""), "distTar") {
		t.Errorf("%s\n%s", l.names(""), problems(got))
	}
}

func TestAllRunnersAreListedWhenNoneIsInstalled(t *testing.T) {
	l := newLab(t, everyKind)
	before := l.names("")
	if !strings.HasPrefix(before, "build-m publish build-n start lint") {
		t.Error(before)
	}
	for _, x := range l.list("").Targets {
		if x.Available != (x.Runner == "sh") {
			t.Errorf("%s: available %v", x.Runner, x.Available)
		}
	}
	l.install("make", "npm", "just", "bun", "test")
	if after := l.names(""); after != before {
		t.Errorf("names depend on what is installed: %s, %s", before, after)
	}
	for _, x := range l.list("").Targets {
		if x.Runner == "make" && !x.Available {
			t.Errorf("%s is not available", x.Runner)
		}
	}
}

func TestThePackageManagerIsThatOfTheProject(t *testing.T) {
	for _, c := range []struct{ files, installed, want string }{
		{"package-lock.json", "bun yarn", "npm"}, {"yarn.lock", "", "yarn"}, {"pnpm-lock.yaml", "", "pnpm"}, {"bun.lockb", "", "bun"},
		{"bun.lock", "", "bun"}, {"npm-shrinkwrap.json", "", "npm"}, {"package-lock.json yarn.lock", "", "npm"},
		{"", "npm yarn pnpm bun", "bun"}, {"", "npm yarn pnpm", "pnpm"}, {"", "npm yarn", "yarn"}, {"", "npm", "npm"}, {"", "", "npm"},
		{"packageManager", "bun", "yarn"}, {"packageManager pnpm-lock.yaml", "", "pnpm"},
	} {
		l := newLab(t, "-- package.json --\n{\"scripts\": {\"build\": \"x\"}}\n-- Makefile --\nbuild:\n")
		for _, f := range strings.Fields(c.files) {
			l.write(f, "")
			if f == "packageManager" {
				l.write("package.json", `{"packageManager": "yarn@4.1.0+sha224.x", "scripts": {"build": "x"}}`)
			}
		}
		l.install(strings.Fields(c.installed)...)
		x := l.list("").Targets[1]
		if x.Runner != c.want || x.Command != c.want+" run build" {
			t.Errorf("%+v: %s, %s", c, x.Runner, x.Command)
		}
		if c.files == "" && x.UniqueName != "build-n" {
			t.Errorf("%+v: %s depends on what is installed", c, x.UniqueName)
		}
	}
}

func TestTheGradleWrapperIsUsedWhenThereIsOne(t *testing.T) {
	l := newLab(t, "-- build.gradle --\n-- gradlew --\n#!/bin/sh\n")
	if x := l.list("").Targets[0]; x.Command != "./gradlew build" || x.Available {
		t.Errorf("%+v", x)
	}
	if err := os.Chmod(l.root+"/gradlew", 0o755); err != nil {
		t.Fatal(err)
	}
	l.allow(entry("ROOT", "Directory", ""))
	if inv, err := l.decide(Request{Name: "build"}); err != nil || inv.Program != l.root+"/gradlew" {
		t.Errorf("%+v, %v", inv, err)
	}
}

func TestComposeSaysWhichFileUnlessItIsTheOneThatDockerTakes(t *testing.T) {
	for files, want := range map[string]string{
		"docker-compose.yml":                        "docker compose up",
		"compose.yaml":                              "docker compose up",
		"docker-compose.yml compose.yaml":           "docker compose -f docker-compose.yml up",
		"docker-compose.b.yml docker-compose.a.yml": "docker compose -f docker-compose.a.yml up",
	} {
		l := newLab(t, "")
		for _, f := range strings.Fields(files) {
			l.write(f, "services: {}\n")
		}
		if got := l.list("").Targets[0].Command; got != want {
			t.Errorf("%s: %s, want %s", files, got, want)
		}
	}
}

func TestTravisJobsAreFoundInEachForm(t *testing.T) {
	for text, want := range map[string]string{
		"":                                      "travis",
		"language: go\n":                        "travis",
		"jobs:\n  unit: {}\n  lint: {}\n":       "unit lint",
		"jobs:\n  include:\n    - name: unit":   "unit",
		"matrix:\n  include:\n    - env: A=1\n": "matrix-job-1",
	} {
		l := newLab(t, "")
		l.write(".travis.yml", text)
		if got := l.names(""); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestOnlyTheFirstOfSeveralNamesCounts(t *testing.T) {
	for files, want := range map[string]string{
		"GNUmakefile makefile Makefile": "GNUmakefile", "makefile Makefile": "makefile",
		"Justfile justfile .justfile": "Justfile", "justfile .justfile": "justfile",
		"Taskfile.yml taskfile.yml Taskfile.dist.yaml": "Taskfile.yml", "taskfile.dist.yaml Taskfile.dist.yaml": "Taskfile.dist.yaml",
		"build.gradle build.gradle.kts": "build.gradle",
	} {
		l := newLab(t, "")
		for _, f := range strings.Fields(files) {
			l.write(f, map[bool]string{true: "tasks: {a: b}\n", false: "a:\n"}[strings.Contains(strings.ToLower(f), "taskfile")])
		}
		for _, x := range l.list("").Targets {
			if x.FilePath != want {
				t.Errorf("%s: %s of %s", files, x.Name, x.FilePath)
			}
		}
		if len(l.list("").Targets) == 0 {
			t.Errorf("%s: nothing", files)
		}
	}
}

// H147, H149 and what else a folder may hold.
func TestHostileFilesDoNoHarm(t *testing.T) {
	l := newLab(t, "-- Taskfile.yml --\ntasks: {fine: x}\n-- loops/Makefile --\ninclude a.mk\nok:\n-- loops/a.mk --\ninclude b.mk\n-- loops/b.mk --\ninclude a.mk Makefile\nlast:\n")
	for _, name := range []string{"Makefile", "justfile", "x.sh", ".travis.yml"} {
		if err := syscall.Mkfifo(filepath.Join(l.root, name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	l.link("/etc/passwd", "pom.xml")
	l.link("build.gradle", "build.gradle")
	l.link("nowhere", "Rakefile")
	l.link("/etc", ".github")
	l.write("package.json", `{"scripts":`+strings.Repeat(`{"a":`, 20000))
	l.write("pyproject.toml", "a = "+strings.Repeat("[", 100_000))
	l.write("docker-compose.yml", strings.Repeat("- ", 100_000))
	if err := os.Truncate(filepath.Join(l.root, "Cargo.toml"), 0); err == nil {
		t.Fatal("Cargo.toml is there")
	}
	l.write("Cargo.toml", "")
	if err := os.Truncate(filepath.Join(l.root, "Cargo.toml"), 200<<20); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	got := l.list("")
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
	for name, want := range map[string]string{
		"Makefile": "regular", "justfile": "regular", "x.sh": "regular", ".travis.yml": "regular", "pom.xml": "leads out", "build.gradle": "circle",
		"Rakefile": "not exist", "package.json": "not valid", "pyproject.toml": "too deeply", "docker-compose.yml": "too deeply", "Cargo.toml": "larger",
		".github": "leads out",
	} {
		if !slices.ContainsFunc(got.Problems, func(p Problem) bool { return p.FilePath == name && strings.Contains(p.Message, want) }) {
			t.Errorf("%s: want %q in\n%s", name, want, problems(got))
		}
	}
	if l.names("") != "fine" {
		t.Error(l.names(""))
	}
	if got := l.names("loops"); got != "ok last" {
		t.Error(got)
	}
}

func TestAFileFullOfTargetsHidesNoOther(t *testing.T) {
	l := newLab(t, "-- justfile --\nfine:\n    true\n")
	var b strings.Builder
	for i := range maxTargets + 10 {
		fmt.Fprintf(&b, "t%d:\n", i)
	}
	l.write("Makefile", b.String()+"a\u200bb:\n\x1b[31m:\n"+strings.Repeat("n", maxName+1)+":\n")
	got := l.list("")
	if n := len(got.Targets); n != maxTargets+1 || got.Targets[n-1].Name != "fine" || len(got.Problems) == 0 {
		t.Errorf("%d targets, %s", n, problems(got))
	}
}

func TestNamesThatDoNotShowAreLeftOut(t *testing.T) {
	l := newLab(t, "")
	l.write("package.json", `{"scripts": {"a\u200bb": "x", "\u001b[31m": "x", "": "x", " a": "x", "--x": "x", "fine": "a\u001b[31m b\nc `+strings.Repeat("x", 500)+`"}}`)
	got := l.list("")
	if l.names("") != "fine" || len(got.Problems) != 5 {
		t.Errorf("%s\n%s", l.names(""), problems(got))
	}
	if d := got.Targets[0].Description; strings.ContainsAny(d, "\x1b\n") || len([]rune(d)) != maxDescription {
		t.Errorf("%q", d)
	}
}

func TestIncludesThatLeadOutAreNotFollowed(t *testing.T) {
	l := newLab(t, "-- Makefile --\ninclude /etc/passwd\ninclude ../x.mk link.mk\nok:\n-- justfile --\nimport '/etc/passwd'\nimport '../x'\nimport '~/x'\nfine:\n    true\n-- Taskfile.yml --\nincludes: {a: ../x, b: /etc/passwd}\ntasks: {good: x}\n")
	l.link("/etc/passwd", "link.mk")
	if got := l.names(""); got != "ok good fine" {
		t.Error(got)
	}
	got := problems(l.list(""))
	if strings.Count(got, "leads out of the project's root") != 6 || strings.Contains(got, "root:") {
		t.Errorf("%s", got)
	}
}

func TestAListingIsKeptUntilAFileChanges(t *testing.T) {
	l := newLab(t, "-- Makefile --\ninclude a.mk\nbuild:\n-- a.mk --\nx:\n-- package.json --\n{\"scripts\": {\"s\": \"x\"}}\n-- apps/web/turbo.json --\n{\"tasks\": {\"dev\": {}}}\n-- turbo.json --\n{}\n")
	old := time.Now().Add(-time.Hour)
	age := func() { // each time to another time, as if hours had passed
		old = old.Add(-time.Minute)
		filepath.WalkDir(l.root, func(p string, _ os.DirEntry, _ error) error { return os.Chtimes(p, old, old) })
	}
	kept := func() bool {
		t.Helper()
		before := l.list("")
		k, ok := l.p.kept["."]
		l.list("")
		again := l.p.kept["."]
		return ok && k.trace == again.trace && len(before.Targets) == len(k.listing.Targets)
	}
	if kept() {
		t.Error("a listing of files that were just written is kept")
	}
	age()
	if !kept() {
		t.Error("nothing changed and the listing is not kept")
	}
	for _, c := range []struct {
		what   string
		change func()
	}{
		{"a size", func() { l.write("Makefile", "include a.mk\nbuild:\nmore:\n") }},
		{"an included file", func() { l.write("a.mk", "y9:\n") }},
		{"a workspace", func() { l.write("apps/new/turbo.json", `{"tasks": {"new": {}}}`) }},
		{"a new file", func() { l.write("justfile", "j:\n    true\n") }},
		{"a new program", func() { l.install("bun") }},
		{"a new lock file", func() { l.write("yarn.lock", "") }},
		{"a removed file", func() { os.Remove(l.root + "/package.json") }},
	} {
		age()
		was := golden(l.list(""))
		if !kept() {
			t.Errorf("before %s the listing is not kept", c.what)
		}
		c.change()
		if now := golden(l.list("")); now == was {
			t.Errorf("%s goes unseen:\n%s", c.what, now)
		}
	}
	age()
	l.list("")
	l.write("a.mk", "z9:\n") // the same size, another time
	if !strings.Contains(l.names(""), "z9") {
		t.Error("a change of the same size goes unseen")
	}
	age()
	b := l.home + "/b.mk" // the same size and time, another inode
	write(t, b, "w9:\n")
	os.Chtimes(b, old, old)
	l.list("")
	info, err := os.Stat(l.root)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(b, l.root+"/a.mk"); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(l.root, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(l.names(""), "w9") {
		t.Error("a replaced file goes unseen")
	}
}

func TestTwoListingsAreTheSame(t *testing.T) {
	l := newLab(t, everyKind)
	first := golden(l.list(""))
	for range 20 {
		l.open(Options{})
		if again := golden(l.list("")); again != first {
			t.Fatalf("%s\n%s", first, again)
		}
	}
}

func TestTheRunnerFilterIsExact(t *testing.T) {
	got := newLab(t, everyKind).list("")
	for runner, want := range map[string]int{"make": 2, "Make": 0, "nosuch": 0, "npm": 2, "": len(got.Targets)} {
		if n := len(got.Only(runner)); n != want {
			t.Errorf("%q: %d, want %d", runner, n, want)
		}
	}
}

// H147: nothing of the project runs while it is looked at.
func TestDiscoveryExecutesNothing(t *testing.T) {
	l := newLab(t, "-- Makefile --\nX := $(shell touch ran)\n$(shell touch ran)\nbuild: ; touch ran\n-- justfile --\nx := `touch ran`\na:\n    touch ran\n"+
		"-- package.json --\n{\"scripts\": {\"preinstall\": \"touch ran\", \"install\": \"x\", \"postinstall\": \"y\"}}\n")
	for _, n := range []string{"make", "npm", "just"} {
		if err := os.WriteFile(l.bin+"/"+n, []byte("#!/bin/sh\n: >"+l.root+"/ran\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	got := l.list("")
	if _, err := os.Stat(l.root + "/ran"); err == nil {
		t.Error("something was executed")
	}
	i := slices.IndexFunc(got.Targets, func(x Target) bool { return x.Name == "install" })
	if want := "npm run install  # also runs preinstall: touch ran; postinstall: y"; got.Targets[i].Command != want {
		t.Error(got.Targets[i].Command)
	}
}

func TestJustIsAskedOnlyWhenItMayBe(t *testing.T) {
	const says = `{"recipes": {"build": {"doc": "From just", "private": false, "parameters": [{"kind": "singular"}]},
		"hid": {"private": true, "doc": null, "parameters": []}, "made": {"doc": null, "private": false, "parameters": [{"kind": "star"}]}},
		"aliases": {"b": {"target": "build", "attributes": []}}, "modules": {"m": {"recipes": {"x": {"doc": null, "private": false, "parameters": []}}, "aliases": {}, "modules": {}}}}`
	l := newLab(t, "-- justfile --\nbuild: # ours\n    cc\nhid:\n    x\n")
	fake := "#!/bin/sh\ntest \"$*\" = '--dump --dump-format json --justfile justfile' || exit 1\ntest -z \"$SECRET\" || exit 1\n/bin/cat <<'E'\n" + says + "\nE\n"
	if err := os.WriteFile(l.bin+"/just", []byte(fake), 0o755); err != nil {
		t.Fatal(err)
	}
	if got := l.names(""); got != "build hid" {
		t.Errorf("asked without leave: %s", got)
	}
	l.open(Options{AskJust: true})
	got := l.list("")
	if l.names("") != "build b m::x made" || got.Targets[0].Description != "From just" || got.Targets[0].takes != 1 || got.Targets[1].takes != 1 || got.Targets[3].takes != anyArguments {
		t.Errorf("%s", golden(got))
	}
	if err := os.WriteFile(l.bin+"/just", []byte("#!/bin/sh\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	l.write("justfile", "build:\n    cc\nnew:\n    x\n")
	if got := l.names(""); got != "build new" {
		t.Errorf("when just fails: %s", got)
	}
}
