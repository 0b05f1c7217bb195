package evidence_test

import (
	"context"
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
	"github.com/gantry-run/gantry/launch/evidence"
	"github.com/gantry-run/gantry/launch/inventory"
)

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

func gather(t testing.TB, dir string, opts evidence.Options) evidence.Result {
	t.Helper()
	inv, err := inventory.Scan(context.Background(), dir, inventory.Options{RepoURL: "https://example.org/acme/widget", RepoSHA: strings.Repeat("a", 40)})
	if err != nil {
		t.Fatal(err)
	}
	opts.RulesetVersion = "ruleset.v1"
	r, err := evidence.Gather(context.Background(), dir, inv, opts)
	if err != nil {
		t.Fatal(err)
	}
	check(t, r)
	return r
}

// check holds what is true of every result.
func check(t testing.TB, r evidence.Result) {
	t.Helper()
	ids := map[string]bool{}
	for _, c := range r.Evidence.Claims {
		ids[c.ID] = true
		if len(c.ID) != 17 || c.ID[0] != 'c' || len(c.Citations) == 0 {
			t.Errorf("claim %+v", c)
		}
		if !strings.HasSuffix(c.Text, ".") || strings.Contains(c.Text, "{{") || strings.Contains(c.Text, "\n") {
			t.Errorf("claim text %q", c.Text)
		}
		for _, at := range c.Citations {
			if at.Path == "" || at.StartLine < 1 || at.EndLine < at.StartLine {
				t.Errorf("citation %+v of %q", at, c.Text)
			}
		}
	}
	f := r.Facts
	used := slices.Concat(f.Claims, f.ClaimGroups.KeyFeatures, f.ClaimGroups.InstallSteps, f.ClaimGroups.CompatibilityNotes, f.ClaimGroups.WorkflowClaims)
	for _, d := range f.Distribution {
		used = append(used, d.ClaimID)
	}
	for _, m := range f.APISurface.Modules {
		used = append(used, m.ClaimID)
		for _, s := range m.Symbols {
			used = append(used, s.ClaimID)
		}
	}
	for _, id := range used {
		if !ids[id] {
			t.Errorf("facts name the claim %q, which does not exist", id)
		}
	}
	for _, doc := range []any{r.Facts, r.Evidence, r.Snippets, r.TruthLock} {
		encoded, err := dossier.Encode(doc)
		if err != nil || strings.Contains(string(encoded), ": null") && !strings.Contains(string(encoded), `"x"`) {
			t.Errorf("encoded with %v:\n%s", err, encoded)
		}
	}
}

// byKind lists the texts of the claims of a kind, as "path:start-end text", in the order of the tree.
func byKind(r evidence.Result, kind string) []string {
	var texts []string
	for _, c := range r.Evidence.Claims {
		if c.Kind == kind {
			at := c.Citations[0]
			texts = append(texts, at.Path+":"+itoa(at.StartLine)+"-"+itoa(at.EndLine)+" "+c.Text)
		}
	}
	slices.Sort(texts)
	return texts
}

func itoa(n int) string { return string([]byte{byte('0' + n/10%10), byte('0' + n%10)}) }

const readme = `# Widget

[![Build](https://img.shields.io/x.svg)](https://ci.example.org)

This library parses nothing. Widget is a small library for *turning*
cranks, with [no dependencies](https://example.org/deps) and [a guide](docs/guide.md).
It runs on Linux and Windows.

- [Install](#install)
- [Usage](#usage)

## Features

Widget provides:

* Fast cranks
* Cranks in ` + "`O(1)`" + ` time

## Install

Go 1.24 or later is required.

` + "```sh\ngo get example.org/acme/widget@latest\n```" + `

## Usage

Call ` + "`widget.Turn`" + ` as follows:

` + "```go\nw := widget.Turn(1)  \t\n```" + `

The ` + "`widget.Turn`" + ` function turns a crank once.

## Contributing

Widget accepts patches from everyone who asks.

## License

Widget is licensed under the MIT license.
`

var goRepo = map[string]string{
	"README.md":              readme,
	"go.mod":                 "module example.org/acme/widget\n\ngo 1.25\n",
	"LICENSE":                "MIT License\n\nPermission is hereby granted, free of charge, to any person. The above copyright notice and this permission notice shall be included.\n",
	"widget.go":              "// Package widget turns cranks. More.\npackage widget\n\n// Turn turns a crank n times.\nfunc Turn(n int) (done bool, err error) { return true, nil }\n\n// A Crank is what [Turn] turns.\ntype Crank struct{ N int }\n\n// Reset puts it back.\nfunc (c *Crank) Reset() {}\n\n// Max is the most turns.\nconst Max = 3\n\nfunc hidden() {}\n\ntype Bare interface{ M() }\n",
	"internal/x/x.go":        "package x\n\nfunc Secret() {}\n",
	"widget_test.go":         "package widget\n\nfunc TestHelper() {}\n",
	"examples/turn/main.go":  "package main\n\nfunc main() {}\n",
	"docs/guide.md":          "# Guide\n\nWidget keeps one crank for each goroutine. The weather is always nice here.\n",
	"CHANGELOG.md":           "# Changelog\n\nWidget is a thing that has changed a lot.\n",
	"cmd/widget/main.go":     "package main\n\nfunc main() {}\n",
	"testdata/not/source.go": "package broken !!!",
}

func TestGoRepositoryGivesExactClaims(t *testing.T) {
	r := gather(t, write(t, goRepo), evidence.Options{ProductName: "Widget", ProductSlug: "widget"})
	for kind, want := range map[string][]string{
		"feature": {
			"README.md:05-07 Widget is a small library for turning cranks, with [no dependencies](https://example.org/deps) and a guide. It runs on Linux and Windows.",
			"README.md:16-16 Widget provides fast cranks.",
			"README.md:17-17 Widget provides cranks in `O(1)` time.",
		},
		"install": {
			"go.mod:01-01 Add Widget to a Go module with `go get example.org/acme/widget@latest`.",
			"go.mod:01-01 Install the command `widget` with `go install example.org/acme/widget/cmd/widget@latest`.",
		},
		"compatibility": {"README.md:21-21 Go 1.24 or later is required.", "go.mod:03-03 Widget requires Go 1.25 or later."},
		"workflow":      {"README.md:35-35 The `widget.Turn` function turns a crank once.", "docs/guide.md:03-03 Widget keeps one crank for each goroutine."},
		"api": {
			"widget.go:05-05 The package `example.org/acme/widget` turns cranks.",
			"widget.go:05-05 `widget.Turn` turns a crank n times.",
			"widget.go:08-08 `widget.Crank` is what Turn turns.",
			"widget.go:11-11 `widget.Crank.Reset` puts it back.",
			"widget.go:14-14 `widget.Max` is the most turns.",
			"widget.go:18-18 `widget.Bare` is an interface of `example.org/acme/widget`.",
		},
		"metadata": {
			"LICENSE:03-03 Widget is released under the `MIT` license, whose text is in `LICENSE`.",
			"README.md:43-43 Widget is released under the `MIT` license, as `README.md` states.",
			"go.mod:01-01 Installing Widget provides the command `widget`.",
		},
	} {
		if diff := cmp.Diff(want, byKind(r, kind)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", kind, diff)
		}
	}
	f := r.Facts
	if f.APISurface.Status != "extracted" || f.APISurface.Symbols != 5 || f.APISurface.Modules[0].Symbols[4].Signature != "func Turn(n int) (done bool, err error)" {
		t.Errorf("%+v", f.APISurface)
	}
	if f.License == nil || f.License.Value != "MIT" || f.Version != nil {
		t.Errorf("license %+v, version %+v", f.License, f.Version)
	}
	if len(f.SupportedPlatforms) != 2 || f.SupportedPlatforms[0].Value != "Linux" {
		t.Errorf("platforms %+v", f.SupportedPlatforms)
	}
	if diff := cmp.Diff([]string{"No manifest states a version."}, f.Missing); diff != "" {
		t.Error(diff)
	}
	if len(f.Workflows) != 1 || f.Workflows[0].Tag != "usage" || len(f.Workflows[0].ClaimIDs) != 1 || len(f.Workflows[0].SnippetTags) != 1 {
		t.Errorf("workflows %+v", f.Workflows)
	}
	if len(f.Distribution) != 2 {
		t.Errorf("%+v", f.Distribution)
	}
}

func TestSnippetsCarryTheirPlaceAndSyntax(t *testing.T) {
	r := gather(t, write(t, goRepo), evidence.Options{ProductName: "Widget"})
	type row struct {
		place, lang, origin, title, syntax string
		tags                               string
	}
	var got []row
	for _, s := range r.Snippets.Snippets {
		got = append(got, row{s.Path + ":" + itoa(s.StartLine) + "-" + itoa(s.EndLine), s.Language, s.Origin, s.Title, s.Syntax, strings.Join(s.Tags, " ")})
		if strings.Contains(s.Content, " \n") || strings.Contains(s.Content, "\t\n") || !strings.HasSuffix(s.Content, "\n") || strings.HasSuffix(s.Content, "\n\n") || len(s.ID) != 17 {
			t.Errorf("%+v", s)
		}
	}
	want := []row{
		{"README.md:24-24", "sh", "fence", "Install", "unchecked", "README.md#install install widget"},
		{"README.md:32-32", "go", "fence", "Usage", "valid", "README.md#usage usage widget"},
		{"examples/turn/main.go:01-03", "go", "example_file", "Turn", "valid", "example turn"},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(row{})); diff != "" {
		t.Error(diff)
	}
	if len(r.Facts.Examples) != 1 || r.Facts.Examples[0].PrimarySnippet != r.Snippets.Snippets[2].ID {
		t.Errorf("%+v", r.Facts.Examples)
	}
}

func TestJavaScriptRepository(t *testing.T) {
	r := gather(t, write(t, map[string]string{
		"package.json": "{\n\"name\": \"widget\",\n\"version\": \"1.2.3\",\n\"description\": \"A crank for the web\",\n\"license\": \"ISC\",\n\"engines\": {\"node\": \">=18\"},\n\"exports\": {\".\": \"./lib/main.js\", \"./x\": \"./lib/x.js\"},\n\"dependencies\": {\"ms\": \"^2\"}\n}",
		"lib/main.js":  "export * from './turn.js'\nexport { Crank, old as young } from './crank.js'\nexport default 1\n",
		"lib/turn.js":  "/**\n * Turns the crank.\n * @param n times\n */\nexport async function turn (n = {a: 1}) {\n}\nexport const fast = (x) => x\n",
		"lib/crank.js": "/** A crank of iron. */\nexport class Crank extends Base {}\nexport const old = 1\n",
		"lib/x.js":     "export const unseen = 1\n",
		"README.md":    "# widget\n\n> Cranks for humans\n\n## Install\n\n```\nnpm i widget\n```\n",
	}), evidence.Options{ProductName: "Widget"})
	want := []string{
		"lib/crank.js:02-02 `widget.Crank` is a class of `widget`: a crank of iron.", "lib/main.js:02-02 `widget.young` is a variable of `widget`.",
		"lib/turn.js:05-05 The module `widget` exports 4 public names.", "lib/turn.js:05-05 `widget.turn` is a function of `widget`: turns the crank.", "lib/turn.js:07-07 `widget.fast` is a function of `widget`.",
	}
	got := byKind(r, "api")
	want[2] = "lib/crank.js:02-02 The module `widget` exports 4 public names."
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	f := r.Facts
	if f.APISurface.Status != "partial" || f.APISurface.Reason == "" {
		t.Errorf("%+v", f.APISurface)
	}
	if f.Positioning.Tagline.Value != "A crank for the web" || f.Positioning.ShortDescription.Value != "Widget is a crank for the web." {
		t.Errorf("%+v", f.Positioning)
	}
	if f.Version.Value != "1.2.3" || f.License.Value != "ISC" || f.Runtime[0].Value != "Node.js 18 or later" || f.Dependencies[0].Value != "ms ^2" {
		t.Errorf("%+v", f)
	}
	for _, c := range r.Evidence.Claims {
		if c.ID == f.Distribution[0].ClaimID && len(c.Citations) != 2 {
			t.Errorf("the README shows the command: %+v", c)
		}
	}
}

func TestGoNamesAreQualifiedByThePackageNotThePath(t *testing.T) {
	r := gather(t, write(t, map[string]string{
		"go.mod": "module example.org/go-widget/v2\n", "w.go": "package widget\n\n// Describes how to turn.\nfunc Turn() {}\n", "gen.go": "package main\n\nfunc Main() {}\n",
	}), evidence.Options{})
	want := []string{"w.go:04-04 The package `example.org/go-widget/v2` exports one public name.", "w.go:04-04 `widget.Turn` describes how to turn."}
	if diff := cmp.Diff(want, byKind(r, "api")); diff != "" {
		t.Error(diff)
	}
	if r.Facts.ProductName != "go-widget" {
		t.Errorf("the product is called %q", r.Facts.ProductName)
	}
}

func TestOnlyWhatCanBeInstalledHasACommand(t *testing.T) {
	for content, want := range map[string]string{
		`{"name": "w"}`: "npm install w", `{"name": "w", "bin": "w.js"}`: "npm install -g w", `{"name": "@a/w"}`: "npm install @a/w",
		`{"name": "w", "private": true}`: "", `{"name": "w; rm -rf /"}`: "", `{"name": "$(w)"}`: "",
	} {
		got := ""
		for _, d := range gather(t, write(t, map[string]string{"package.json": content}), evidence.Options{ProductName: "W"}).Facts.Distribution {
			got += strings.Join(d.InstallCommands, "\n")
		}
		if got != want {
			t.Errorf("%s is installed by %q, want %q", content, got, want)
		}
	}
}

func TestPythonRepositoryWithRSTReadme(t *testing.T) {
	r := gather(t, write(t, map[string]string{
		"README.rst":         "Click\n=====\n\n.. image:: https://img.shields.io/x.svg\n   :target: https://x\n\nClick is a package for ``shells`` in a `small <https://example.org>`_\nway.  It's configurable.\n\nClick in two points:\n\n- arbitrary nesting of\n  all commands\n- supports lazy loading of subcommands\n\nInstalling\n----------\n\nInstall it::\n\n    $ pip install click\n\nUsage\n-----\n\n.. code-block:: python\n   :linenos:\n\n   import click\n\nClick supports Python 3.8 and newer.\n",
		"pyproject.toml":     "[project]\nname = \"click\"\nversion = \"8.0\"\nrequires-python = \">=3.10\"\nlicense = \"MIT\"\n",
		"LICENSE":            "GNU GENERAL PUBLIC LICENSE\nVersion 3\n",
		"src/click/core.py":  "__all__ = ['echo']\n\ndef echo(message):\n    \"\"\"Print a message. More.\"\"\"\n\ndef other(): pass\n",
		"tests/test_core.py": "def test_x(): pass\n",
	}), evidence.Options{ProductName: "Click"})
	want := []string{
		"README.rst:07-08 Click is a package for `shells` in a [small](https://example.org) way.",
		"README.rst:12-13 Arbitrary nesting of all commands.", "README.rst:14-14 Click supports lazy loading of subcommands.",
	}
	if diff := cmp.Diff(want, byKind(r, "feature")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"src/click/core.py:03-03 The module `click.core` exports one public name.", "src/click/core.py:03-03 `click.core.echo` is a function of `click.core`: print a message."}, byKind(r, "api")); diff != "" {
		t.Error(diff)
	}
	var places []string
	for _, s := range r.Snippets.Snippets {
		places = append(places, s.Path+":"+itoa(s.StartLine)+"-"+itoa(s.EndLine)+" "+s.Language+" "+s.Content)
	}
	if diff := cmp.Diff([]string{"README.rst:21-21 bash $ pip install click\n", "README.rst:29-29 python import click\n"}, places); diff != "" {
		t.Error(diff)
	}
	// MIT in the manifest, GPL in the file; 3.10 in the manifest, 3.8 in the README: the manifest wins.
	if len(r.Evidence.Contradictions) != 2 || !r.TruthLock.OK {
		t.Fatalf("%+v", r.Evidence.Contradictions)
	}
	for _, c := range r.Evidence.Contradictions {
		if c.Resolution != "prefer_higher_priority" || c.Winner == "" {
			t.Errorf("%+v", c)
		}
	}
	if r.Facts.License.Value != "MIT" || len(r.Facts.ClaimGroups.CompatibilityNotes) != 1 {
		t.Errorf("%+v %+v", r.Facts.License, r.Facts.ClaimGroups.CompatibilityNotes)
	}
}

func TestEqualSourcesThatDisagreeStayUnresolved(t *testing.T) {
	r := gather(t, write(t, map[string]string{
		"package.json": `{"name": "w", "version": "1.0.0"}`, "pyproject.toml": "[project]\nname = \"w\"\nversion = \"2.0.0\"\n",
	}), evidence.Options{ProductName: "W"})
	if len(r.Evidence.Contradictions) != 1 || r.Evidence.Contradictions[0].Resolution != "unresolved" || r.TruthLock.OK || len(r.TruthLock.UnresolvedClaimIDs) != 2 {
		t.Errorf("%+v %+v", r.Evidence.Contradictions, r.TruthLock)
	}
}

func TestInferencesOnlyWhereAllowed(t *testing.T) {
	dir := write(t, goRepo)
	if r := gather(t, dir, evidence.Options{ProductName: "Widget"}); len(r.TruthLock.InferredClaimIDs) != 0 {
		t.Errorf("inferred without leave: %v", r.TruthLock.InferredClaimIDs)
	}
	r := gather(t, dir, evidence.Options{ProductName: "Widget", AllowInference: true})
	if len(r.TruthLock.InferredClaimIDs) != 1 || !r.TruthLock.OK {
		t.Errorf("%+v", r.TruthLock)
	}
}

func TestSameStatementTwiceIsOneClaimWithTwoCitations(t *testing.T) {
	r := gather(t, write(t, map[string]string{
		"README.md": "# Widget\n\nWidget turns every crank once.\n", "docs/a.md": "# A\n\nWidget  turns\nevery crank once.\n",
	}), evidence.Options{ProductName: "Widget"})
	if len(r.Evidence.Claims) != 1 || len(r.Evidence.Claims[0].Citations) != 2 {
		t.Errorf("%+v", r.Evidence.Claims)
	}
}

func TestTwoRunsGiveTheSameBytes(t *testing.T) {
	encode := func(dir string) string {
		r := gather(t, dir, evidence.Options{ProductName: "Widget"})
		var all string
		for _, doc := range []any{r.Facts, r.Evidence, r.Snippets, r.TruthLock} {
			encoded, err := dossier.Encode(doc)
			if err != nil {
				t.Fatal(err)
			}
			all += string(encoded)
		}
		return all
	}
	one, two := write(t, goRepo), write(t, goRepo)
	old := time.Unix(1, 0)
	if err := os.Chtimes(filepath.Join(two, "README.md"), old, old); err != nil {
		t.Fatal(err)
	}
	first := encode(one)
	for _, dir := range []string{one, two, two} {
		if diff := cmp.Diff(first, encode(dir)); diff != "" {
			t.Fatal(diff)
		}
	}
}

func TestARepositoryThatSaysNothingSaysSo(t *testing.T) {
	r := gather(t, t.TempDir(), evidence.Options{ProductName: "Widget"})
	if len(r.Evidence.Claims) != 0 || len(r.Facts.Missing) < 5 || r.Facts.Missing[0] == "" {
		t.Errorf("%+v", r.Facts)
	}
	r = gather(t, write(t, map[string]string{"main.rs": "fn main() {}", "Cargo.toml": "[package]\nname = \"w\"\n"}), evidence.Options{ProductName: "W"})
	missing := strings.Join(r.Facts.Missing, "\n")
	for _, part := range []string{"README", "license", "version", "example", "Rust sources"} {
		if !strings.Contains(missing, part) {
			t.Errorf("nothing about %q in:\n%s", part, missing)
		}
	}
}

func TestHostileTreesAreSurvived(t *testing.T) {
	dir := write(t, map[string]string{
		"README.md":     "# W\n\n" + strings.Repeat("> ", 4000) + "x\n\n" + strings.Repeat("[", 4000) + "\n\n" + strings.Repeat("- a\n", 2000) + "\n<script>alert(1)</script>\n\nWidget is a thing for <b>everyone</b> with {{< shortcode >}} in it.\n\nWidget is larger than a <T> but no `<U>` at all.\n",
		"docs/long.md":  strings.Repeat("word ", 60_000),
		"docs/deep.rst": strings.Repeat(" ", 3000) + "x\n" + strings.Repeat("=", 3000) + "\n",
		"docs/bad.md":   "\xff\xfe is no UTF-8",
		"go.mod":        "module example.org/w\n", "deep.go": "package w\nvar X = " + strings.Repeat("(", 100_000), "ok.go": "package w\n\nfunc Ok() {}\n",
		"examples/deep.json": strings.Repeat("[", 100_000), "examples/deep.yaml": strings.Repeat("- ", 3000),
	})
	huge := filepath.Join(dir, "docs/huge.md")
	if err := os.WriteFile(huge, []byte(strings.Repeat("x", 50<<20)), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "docs/secret.md")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "docs/pipe.md"), 0o644); err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS == "linux" {
		if err := os.WriteFile(filepath.Join(dir, "docs/\xff.md"), []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r := gather(t, dir, evidence.Options{ProductName: "Widget"})
	want := []string{"README.md", "`docs/bad.md`", "`docs/huge.md`"}
	missing := strings.Join(r.Facts.Missing, "\n")
	for _, part := range want[1:] {
		if !strings.Contains(missing, part) {
			t.Errorf("%s is not said to be unread:\n%s", part, missing)
		}
	}
	if got := byKind(r, "feature"); len(got) != 1 || !strings.HasSuffix(got[0], "Widget is larger than a &lt;T> but no `<U>` at all.") {
		t.Errorf("%q", got)
	}
	if r.Facts.APISurface.Status != "partial" || r.Facts.APISurface.Symbols != 1 {
		t.Errorf("%+v", r.Facts.APISurface)
	}
}

func TestAnEndedContextAndAMissingTreeAreFaults(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := evidence.Gather(ctx, t.TempDir(), dossier.RepoInventory{}, evidence.Options{}); !fault.Is(err, fault.Cancelled) {
		t.Errorf("err = %v", err)
	}
	if _, err := evidence.Gather(context.Background(), filepath.Join(t.TempDir(), "absent"), dossier.RepoInventory{}, evidence.Options{}); !fault.Is(err, fault.RepoNotFound) {
		t.Errorf("err = %v", err)
	}
}

// What is read of documents is kept, so there is a bound on it, and the facts say so.
func TestDocumentsBeyondTheBoundAreNotReadAndThatIsSaid(t *testing.T) {
	files := map[string]string{"README.md": "# Widget\n\nWidget turns every crank once.\n"}
	for i := range 18 {
		files["docs/"+itoa(i)+".md"] = "# D\n\n```\n" + strings.Repeat("widget "+strings.Repeat("x", 1000)+"\n", 500) + "```\n"
	}
	missing := strings.Join(gather(t, write(t, files), evidence.Options{ProductName: "Widget"}).Facts.Missing, "\n")
	if !strings.Contains(missing, "1 documents are not read") {
		t.Errorf("%s", missing)
	}
}

func TestAProgramIsInstalledBeforeItIsImported(t *testing.T) {
	for cmd, want := range map[string]string{"widget": "go install example.org/widget/cmd/widget@latest", "tool": "go get example.org/widget@latest"} {
		r := gather(t, write(t, map[string]string{
			"go.mod": "module example.org/widget\n", "w.go": "package widget\n\nfunc Turn() {}\n", "cmd/" + cmd + "/main.go": "package main\n\nfunc main() {}\n",
		}), evidence.Options{ProductName: "Widget"})
		if d := r.Facts.Distribution; len(d) != 2 || d[0].InstallCommands[0] != want {
			t.Errorf("%s: %+v", cmd, d)
		}
	}
}
