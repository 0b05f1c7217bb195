package archtest

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/gantry-run/gantry/launch/fixes"
	"github.com/gantry-run/gantry/launch/gates"
)

// small is a tree in memory, from file names and texts in turn.
func small(t *testing.T, namesAndTexts ...string) *tree {
	t.Helper()
	src, err := load(folder(namesAndTexts...))
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func folder(namesAndTexts ...string) fstest.MapFS {
	m := fstest.MapFS{}
	for i := 0; i+1 < len(namesAndTexts); i += 2 {
		m[namesAndTexts[i]] = &fstest.MapFile{Data: []byte(namesAndTexts[i+1])}
	}
	return m
}

// finds fails the test unless there is one problem for each of the texts, which it
// holds, in order.
func finds(t *testing.T, problems []string, want ...string) {
	t.Helper()
	if len(problems) != len(want) {
		t.Fatalf("%d problems, want %d:\n%s", len(problems), len(want), strings.Join(problems, "\n"))
	}
	for i, p := range problems {
		if !strings.Contains(p, want[i]) {
			t.Errorf("%q does not say %q", p, want[i])
		}
	}
}

func TestAnImportThatTheTableLacksIsFound(t *testing.T) {
	table := []layer{{"a", ""}, {"b", "a"}, {"c", "a b"}, {"c/ctest", "c"}}
	in := func(pkg string) string { return `import "` + modulePath + "/" + pkg + `"` }
	tests := []struct {
		name, file, text string
		want             []string
	}{
		{"allowed", "b/b.go", "package b\n" + in("a"), nil},
		{"skips a row that it does not name", "b/b.go", "package b\n" + in("c"), []string{"does not allow"}},
		{"downward from a test", "a/a_test.go", "package a\n" + in("b"), []string{"below a"}},
		{"upward from a test, not in the row", "c/ctest/x_test.go", "package ctest\n" + in("a"), nil},
		{"itself from a test", "b/b_test.go", "package b_test\n" + in("b"), nil},
		{"its test package from a test", "c/c_test.go", "package c_test\n" + in("c/ctest"), nil},
		{"its test package", "c/c.go", "package c\n" + in("c/ctest"), []string{"does not allow"}},
		{"a package without a row", "d/d.go", "package d", []string{"no row"}},
		{"importing a package without a row", "b/b.go", "package b\n" + in("d"), []string{"has no row"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { finds(t, checkLayers(table, small(t, test.file, test.text)), test.want...) })
	}
}

func TestATableThatPointsDownwardIsFound(t *testing.T) {
	finds(t, checkTable([]layer{{"a", "b"}, {"b", "a"}, {"b", "c"}}), "row of a names b", "b has two rows", "row of b names c")
}

func TestALibraryInTheWrongHandsIsFound(t *testing.T) {
	table := []owner{{"example.com/lib", "a"}, {"example.com/cmp", "tests"}, {"os/exec", "a tests"}, {"C", ""}}
	src := small(t,
		"a/a.go", `package a; import ("example.com/lib/sub"; "os/exec"; "strings")`,
		"b/b.go", `package b; import "example.com/lib"`,
		"b/b_test.go", `package b; import ("example.com/cmp"; "os/exec")`,
		"b/btest/x.go", `package btest; import "example.com/cmp"`,
		"c/c.go", `package c; import ("os/exec"; "example.com/cmp"; "example.com/libother"; "C")`,
	)
	finds(t, checkOwners(table, src), "b/b.go imports example.com/lib", "c/c.go imports os/exec",
		"c/c.go imports example.com/cmp", "example.com/libother, which no row", "only nobody may")
}

func TestALibraryThatNobodyDecidedOnIsFound(t *testing.T) {
	doc := "\n| a/b/v3 | x |\n| example.com/c, with d | x |\n"
	table := []owner{{"github.com/a/b/v3", ""}, {"example.com/c/unix", ""}, {"os/exec", ""}, {"github.com/a/gone", ""}, {"example.com/cc", ""}}
	finds(t, checkDecided(table, doc), "github.com/a/gone", "example.com/cc")
}

func TestWhatTheTablesAllowInVainIsFound(t *testing.T) {
	src := small(t, "a/a.go", `package a; import "example.com/lib"`, "b/b.go", `package b; import "`+modulePath+`/a"`)
	finds(t, unusedRows([]layer{{"a", ""}, {"b", "a"}, {"c", "a b"}, {"d", ""}}, []owner{{"example.com/lib", "a b"}}, src),
		"c: no such package", "d: no such package", "b does not import example.com/lib")
}

func TestForeignFoldersAreNotTheModule(t *testing.T) {
	src := small(t, "a/a.go", "package a", "a/testdata/x.go", "not Go", ".gantry/work/x.go", "not Go", "_old/x.go", "not Go",
		"tool/go.mod", "module tool", "tool/x.go", "not Go", "node_modules/x.go", "not Go")
	if len(src.files) != 1 {
		t.Errorf("loaded %d files, want 1", len(src.files))
	}
}

func TestABannedNameIsFound(t *testing.T) {
	src := small(t,
		"a/a.go", "package a\nimport (\"context\"; . \"os\"; f \"fmt\")\nfunc A() { f.Println(1); context.WithValue(nil, 1, 2); println(1) }",
		"a/a_test.go", "package a\nimport (\"os\"; \"time\")\nfunc b() { os.Getenv(\"x\"); time.Sleep(1) }",
		"a/fake_test.go", "package a\nimport (\"testing/synctest\"; \"time\")\nfunc c() { synctest.Wait(); time.Sleep(1) }",
		"a/local.go", "package a\nfunc d(os struct{ Stdout int }) int { return os.Stdout }",
		"cmd/gantry/main.go", "package main\nimport (\"fmt\"; \"os\")\nfunc main() { fmt.Fprintln(os.Stdout, os.Getenv(\"x\")) }",
	)
	list := []banned{{"context", "WithValue", "", false, "x"}, {"os", "Getenv", "cmd/gantry", true, "x"}, {"os", "Stdout", "cmd/gantry", true, "x"},
		{"fmt", "Println", "cmd/gantry", true, "x"}, {"time", "Sleep", "", false, "x"}}
	finds(t, checkBans(list, nil, src), "a.go:2 uses os.Getenv", "a.go:2 uses os.Stdout", "a.go:3 uses fmt.Println", "a.go:3 uses context.WithValue", "builtin.println",
		"a_test.go:3 uses time.Sleep")
	finds(t, checkBans(list[4:], []exception{{"a/a_test.go", "time.Sleep", "x"}, {"a/a.go", "time.Sleep", "x"}}, src),
		"builtin.println", "the exception of time.Sleep for a/a.go is not needed")
}

func TestAnInitFunctionIsFound(t *testing.T) {
	finds(t, checkInit(small(t, "a/a.go", "package a\ntype T int\nfunc (T) init() {}\nfunc init() {}")), "a.go:4")
}

func TestAPackageNameThatSaysNothingIsFound(t *testing.T) {
	finds(t, checkPackageNames(small(t, "a/util/u.go", "package util", "a/b/b.go", "package c", "a/d/d_test.go", "package d_test",
		"cmd/x/main.go", "package main")), "not named like its folder", "named util")
}

func TestAMissingPackageCommentIsFound(t *testing.T) {
	src := small(t, "a/a.go", "package a", "b/b.go", "// Package b is.\npackage b", "b/c.go", "// Package b is too.\npackage b",
		"c/c.go", "// This is c.\npackage c", "d/main.go", "// D does.\npackage main", "e/main.go", "// This does.\npackage main")
	finds(t, checkPackageComments(src), "c/c.go", "e/main.go", "a has 0", "b has 2")
}

func TestAnExportedNameWithoutACommentIsFound(t *testing.T) {
	src := small(t, "a/a.go", `package a

// Documented is.
type Documented struct{}
func (Documented) Bare() {}
func (d *Documented) bare() {}
type Generic[T any] struct{}
func (*Generic[T]) AlsoBare() {}
type hidden struct{}
func (hidden) String() string { return "" }
func Bare() {}
// Grouped speaks for all.
const (
	One = 1
	Two = 2
)
var (
	Three = 3
	Four = 4 // is four
)
// Wide has two.
type Wide interface {
	// Told is.
	Told()
	Untold()
}
// Narrow does one thing.
type Narrow interface { Do() }
`)
	finds(t, checkExportedComments(src), "function Bare", "type Generic", "function AlsoBare", "function Bare", "var Three", "method Wide Untold")
}

func TestTwoGatesInAFileAreFound(t *testing.T) {
	src := small(t, "launch/gates/gates.go", "package gates\nfunc All() []Gate { return []Gate{one(), two(), three(), Gate{}} }",
		"launch/gates/one.go", "package gates\nfunc one() Gate { return Gate{} }\nfunc two() Gate { return Gate{} }")
	finds(t, checkGateFiles(src), "holds two gates: one and two", "names three, which is not there", "is not a call")
	finds(t, checkGateFiles(small(t, "a/a.go", "package a")), "no list")
}

func TestAFixWithoutAGateIsFound(t *testing.T) {
	plan := fixes.All()[0].Plan
	all := []fixes.Fix{{Code: "A", Title: "a", Plan: plan}, {Code: "A", Title: "a", Plan: plan}, {Code: "B", Title: "b", Plan: plan}, {Code: "C", Plan: plan}}
	finds(t, checkFixes(all, []gates.Gate{{Codes: []string{"A"}}, {Codes: []string{"C"}}}), "A has two fixes", "no gate finds B", "the fix of C has no title")
}

func TestAToolWithoutAHandlerIsFound(t *testing.T) {
	fsys := folder("specs/tools/launch/x.json", "{}", "specs/tools/launch/y.json", "{}", "specs/tools/launch/z.json", `{"same_as": "x"}`)
	src := small(t, "mcpserver/launchtools/list.go", `package launchtools
func list(d deps) any { return map[string]any{"x": d.x, "z": d.z, "w": d.w} }`,
		"mcpserver/launchtools/x.go", "package launchtools\nfunc (d deps) x() {}\nfunc (d deps) z() {}\n",
		"mcpserver/launchtools/w.go", "package launchtools\nfunc (d deps) w() {}\n")
	problems, err := checkHandlers(fsys, src)
	if err != nil {
		t.Fatal(err)
	}
	finds(t, problems, "y.json has no handler", "handles w, which has no specification", "handles z, which has no specification", "x.go holds two handlers: x and z")
}

func TestAPathInADocumentThatIsNotThereIsFound(t *testing.T) {
	fsys := folder("runs/runs.go", "", "specs/tools/launch/x.json", "", "docs/a.md", "", "README.md", "")
	tests := []struct {
		name, text string
		want       []string
	}{
		{"paths that are there", "`runs/runs.go`, `./runs/...`, `specs/tools/<toolset>/<tool>.json`, `runs/`", nil},
		{"a file", "see `runs/gone.go`", []string{"runs/gone.go"}},
		{"a package of the command", "`go test ./internal/gone -v`", []string{"internal/gone"}},
		{"a whole top folder", "`telemetry/x.go`", []string{"telemetry/x.go"}},
		{"an import path", "`" + modulePath + "/gone/x` and `" + modulePath + "/runs/x`", []string{"runs/x"}},
		{"braces", "`runs/{runs,gone}.go`", []string{"runs/gone.go"}},
		{"a hole without a match", "`specs/tools/<toolset>/<tool>.toml`", []string{"specs/tools/*/*.toml"}},
		{"other slashes", "`application/json`, `and/or`, runs/gone.go outside of code, `{\"x\": \"runs/gone\"}`", nil},
		{"a code block", "```\ngo run ./cmd/gone x\n```", []string{"cmd/gone"}},
		{"a target", "`make run` and `make gone`\n```\nmake gone\n```\nmake nothing", []string{"make gone", "make gone"}},
		{"a command", "`gantry runs list`, `bin/gantry gone .`, `gantry --help`", []string{"gantry gone"}},
		{"a link", "[a](docs/a.md#x), [b](docs/b.md), [c](https://example.com/x), [d](#d)", []string{"docs/b.md"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			finds(t, checkDocument(fsys, "README.md", test.text, "run: build\n", []string{"runs"}), test.want...)
		})
	}
	finds(t, checkDocument(fsys, "docs/a.md", "[r](../README.md) [s](../GONE.md)", "", nil), "../GONE.md")
}

func TestCommandsAreRead(t *testing.T) {
	src := small(t, "cmd/gantry/main.go", "package main\nvar c = command{Use: \"runs list\", Short: \"x\"}")
	if got := strings.Join(commands(src, "cmd/gantry"), " "); got != "completion help runs" {
		t.Error(got)
	}
}

func TestTheReportFindsWhatItIsFor(t *testing.T) {
	src := small(t, "a/a.go", `package a
import "errors"
var count int
var table = map[string]int{"x": 1}
var changed = map[string]int{}
//go:embed x
var embedded string
var errX = errors.New("x")
type Wide interface { A(); B(); C() }
func f() {
	changed["x"]++
	table := map[string]any{}
	table["x"] = 1
}
`)
	finds(t, longFiles(src, 10), "a/a.go: 1")
	finds(t, longFiles(src, 20))
	finds(t, longFunctions(src, 4), "f, 5")
	finds(t, bigPackages(src, 10), "a: 1")
	finds(t, wideInterfaces(src, 2), "Wide, 3")
	finds(t, mutableVariables(src), "count", "changed")
	finds(t, looseMaps(src, nil), "a/a.go: 1")
	finds(t, looseMaps(src, []string{"a"}))
}
