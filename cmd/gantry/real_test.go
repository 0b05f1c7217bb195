package main

import (
	"encoding/json"
	"go/build"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gantry-run/gantry/launch/dossier"
)

// moduleCopy copies a module that this program is built from out of the module
// cache, where it is a plain folder, to a folder of the root.
func (w *world) moduleCopy(path, name string) string {
	w.t.Helper()
	cache := os.Getenv("GOMODCACHE")
	if cache == "" {
		cache = filepath.Join(filepath.SplitList(build.Default.GOPATH)[0], "pkg", "mod")
	}
	found, _ := filepath.Glob(filepath.Join(cache, filepath.FromSlash(path)+"@*"))
	if len(found) == 0 {
		w.t.Skipf("%s is not in the module cache", path)
	}
	dir := filepath.Join(w.root, name)
	if err := os.CopyFS(dir, os.DirFS(slices.Max(found))); err != nil {
		w.t.Fatal(err)
	}
	return dir
}

// launched runs gantry launch on a folder to the end and returns the run's folder.
func (w *world) launched(name string) string {
	w.t.Helper()
	code, out, errOut := w.gantry("launch", filepath.Join(w.root, name), "--profile", "prod")
	if code != 0 {
		w.t.Fatalf("exit code %d\n%s%s", code, out, errOut)
	}
	dirs, _ := filepath.Glob(filepath.Join(w.state, "runs", "r_*"))
	if len(dirs) != 1 {
		w.t.Fatalf("runs: %v", dirs)
	}
	return dirs[0]
}

func document[T any](t *testing.T, dir, name string) (doc T) {
	t.Helper()
	if err := json.Unmarshal([]byte(read(t, filepath.Join(dir, "artifacts", name))), &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// The MCP Go SDK as its maintainers would look at it.
func TestARealRepositoryGivesPagesThatItsMaintainersKnow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	repo := w.moduleCopy("github.com/modelcontextprotocol/go-sdk", "sdk")
	dir := w.launched("sdk")
	facts := document[dossier.ProductFacts](t, dir, dossier.ProductFactsName)
	evidence := document[dossier.EvidenceMap](t, dir, dossier.EvidenceMapName)
	if facts.ProductName != "MCP Go SDK" || facts.ProductSlug != "go-sdk" {
		t.Errorf("the product is %q at %q", facts.ProductName, facts.ProductSlug)
	}
	if len(evidence.Claims) < 400 || facts.APISurface.Symbols < 400 {
		t.Errorf("%d claims, %d symbols", len(evidence.Claims), facts.APISurface.Symbols)
	}
	site := filepath.Join(dir, "work", "site", "content")
	for page, wants := range map[string][]string{
		"docs/go-sdk/_index.md": {
			"official Go software development kit (SDK) for the Model Context Protocol (MCP).",
			"package defines the primary APIs for constructing and using MCP clients and servers.",
		},
		"docs/go-sdk/getting-started.md":    {"`go get github.com/modelcontextprotocol/go-sdk@latest`", "server.Run(context.Background(), &mcp.StdioTransport{})"},
		"reference/go-sdk/mcp.md":           {"`func NewServer(impl *Implementation, options *ServerOptions) *Server`", "### ClientSession\n"},
		"reference/go-sdk/mcp-types-2.md":   {"`type StdioTransport struct`", "`type Tool struct`"},
		"blog/go-sdk/introducing-go-sdk.md": {"title: \"Introducing MCP Go SDK\""},
	} {
		text := read(t, filepath.Join(site, filepath.FromSlash(page)))
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not say %q", page, want)
			}
		}
		for _, shame := range []string{"internal/", "&lt;!--", "Code generated", "{{"} {
			if strings.Contains(text, shame) {
				t.Errorf("%s has %q", page, shame)
			}
		}
	}
	files := map[string][]string{}
	for _, claim := range evidence.Claims {
		for _, at := range claim.Citations {
			if files[at.Path] == nil {
				files[at.Path] = strings.Split(read(t, filepath.Join(repo, filepath.FromSlash(at.Path))), "\n")
			}
			holds(t, files[at.Path], claim, at)
		}
	}
	cited(t, repo, evidence, "README.md", "MCP Go SDK contains an implementation of the official Go software development kit (SDK)")
	cited(t, repo, evidence, "go.mod", "MCP Go SDK requires Go ")
	cited(t, repo, evidence, "mcp/server.go", "`mcp.NewServer` creates a new MCP server")
}

// cited checks that a claim with the beginning is there and leads to the file.
func cited(t *testing.T, repo string, evidence dossier.EvidenceMap, file, begins string) {
	t.Helper()
	i := slices.IndexFunc(evidence.Claims, func(c dossier.Claim) bool { return strings.HasPrefix(c.Text, begins) })
	if i < 0 {
		t.Errorf("nothing states %q", begins)
		return
	}
	if at := evidence.Claims[i].Citations; !slices.ContainsFunc(at, func(c dossier.Citation) bool { return c.Path == file }) {
		t.Errorf("%q is cited to %v", begins, at)
	}
}

// holds checks that cited lines exist and have the claim's rarest word: the last
// of its longest words, for a name in front may be ours.
func holds(t *testing.T, lines []string, claim dossier.Claim, at dossier.Citation) {
	t.Helper()
	if at.StartLine < 1 || at.EndLine > len(lines) {
		t.Errorf("%s cites %s:%d-%d, which has %d lines", claim.ID, at.Path, at.StartLine, at.EndLine, len(lines))
		return
	}
	text := strings.ToLower(strings.Join(lines[at.StartLine-1:at.EndLine], " "))
	if claim.Kind == "api" && at.SourceType == "source_code" {
		// `pkg.Type.Name` …: the line declares the name.
		name, _, _ := strings.Cut(strings.TrimPrefix(claim.Text, "`"), "`")
		name = name[strings.LastIndexByte(name, '.')+1:]
		if strings.HasPrefix(claim.Text, "`") && !strings.Contains(text, strings.ToLower(name)) {
			t.Errorf("%s:%d does not declare %q: %s", at.Path, at.StartLine, name, claim.Text)
		}
		return
	}
	if claim.Kind == "metadata" || claim.Kind == "install" || at.SourceType == "manifest" {
		return // sentences of ours about a value
	}
	words := strings.FieldsFunc(strings.ToLower(claim.Text), func(r rune) bool { return r < 'a' || r > 'z' })
	longest := slices.MaxFunc(words, func(a, b string) int { return len(a) - len(b) })
	if !strings.Contains(text, longest) {
		t.Errorf("%s:%d-%d does not have %q of: %s", at.Path, at.StartLine, at.EndLine, longest, claim.Text)
	}
}

// A repository without README tells what its manifest and source tell, and says
// what is missing.
func TestARepositoryWithoutReadmeGivesHonestPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	write(t, filepath.Join(w.root, "bare", "go.mod"), "module example.com/acme/bare\n\ngo 1.22\n")
	write(t, filepath.Join(w.root, "bare", "bare.go"), "// Package bare counts words.\npackage bare\n\n// Count returns the number of words.\nfunc Count(s string) int { return 0 }\n")
	dir := w.launched("bare")
	facts := document[dossier.ProductFacts](t, dir, dossier.ProductFactsName)
	if !slices.Contains(facts.Missing, "The repository has no README that can be read.") {
		t.Errorf("missing: %v", facts.Missing)
	}
	site := filepath.Join(dir, "work", "site", "content")
	for page, want := range map[string]string{
		"docs/bare/_index.md":    "The package `example.com/acme/bare` counts words.",
		"reference/bare/bare.md": "`func Count(s string) int`: Count returns the number of words.",
	} {
		if text := read(t, filepath.Join(site, filepath.FromSlash(page))); !strings.Contains(text, want) {
			t.Errorf("%s does not say %q:\n%s", page, want, text)
		}
	}
}

// What cannot be documented ends in a failure that says what is missing, to a
// person and to a client alike.
func TestARepositoryThatSaysNothingFailsAndSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mkdir(t, filepath.Join(w.root, "nothing"))
	write(t, filepath.Join(w.root, "text", "a.txt"), "x\n")
	w.git("blank", "init", "-q", "-b", "main")
	w.git("blank", "commit", "-q", "--allow-empty", "-m", "nothing")
	p := w.serve(stateless)
	for name, want := range map[string]struct{ code, hint string }{
		"nothing": {"REPO_EMPTY", "Put a README"},
		"empty":   {"REPO_EMPTY", "Commit a README"},
		"blank":   {"REPO_EMPTY", "Commit a README"},
		"text":    {"PAGE_PLANNER_INSUFFICIENT_EVIDENCE", "Missing: "},
	} {
		code, out, errOut := w.gantry("launch", filepath.Join(w.root, name))
		if code == 0 || !strings.Contains(out, "failed: "+want.code) || !strings.Contains(out, want.hint) {
			t.Errorf("%s: exit code %d\n%s%s", name, code, out, errOut)
		}
		id := p.start(args{"github_repo_url": name})
		w.rest(id)
		if reason := field(t, p.inState(id, "FAILED"), "next.reason"); !strings.HasPrefix(reason, want.code) || !strings.Contains(reason, want.hint) {
			t.Errorf("%s: a client is told %q", name, reason)
		}
	}
}

// gypCopy copies gyp-next, a Python project that comes with npm's node-gyp, from where
// CI or npm itself put it.
func (w *world) gypCopy(name string) string {
	w.t.Helper()
	places := []string{filepath.Join(os.Getenv("GANTRY_CONFORMANCE"), "node-gyp", "gyp")}
	if npm, err := exec.LookPath("npm"); err == nil {
		if npm, err = filepath.EvalSymlinks(npm); err == nil {
			places = append(places, filepath.Join(npm, "..", "..", "node_modules", "node-gyp", "gyp"))
		}
	}
	i := slices.IndexFunc(places, func(dir string) bool {
		_, err := os.Stat(filepath.Join(dir, "pyproject.toml"))
		return err == nil
	})
	if i < 0 {
		w.t.Skip("gyp-next is not here: it comes with npm, and with npm install node-gyp")
	}
	dir := filepath.Join(w.root, name)
	if err := os.CopyFS(dir, os.DirFS(places[i])); err != nil {
		w.t.Fatal(err)
	}
	return dir
}

// A Python project whose packages are not where its files are: the modules have the
// names by which they are imported, and what it only carries along is no part of it.
func TestARealPythonRepositoryIsDocumentedAsItIsImported(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.gypCopy("gyp")
	dir := w.launched("gyp")
	facts := document[dossier.ProductFacts](t, dir, dossier.ProductFactsName)
	if facts.ProductName != "gyp-next" || facts.APISurface.Symbols < 200 {
		t.Errorf("%q with %d symbols", facts.ProductName, facts.APISurface.Symbols)
	}
	for _, m := range facts.APISurface.Modules {
		if m.Name != "gyp" && !strings.HasPrefix(m.Name, "gyp.") {
			t.Errorf("%s is no module of it", m.Name)
		}
	}
	report := document[dossier.ValidationReport](t, dir, dossier.ValidationReportName)
	for _, g := range report.Gates {
		_, absent := exec.LookPath("hugo")
		must := slices.Contains([]string{"truth_lock", "internal_links", "snippets"}, g.Name) || g.Name == "hugo_build" && absent == nil
		if !g.OK || must && g.Skipped != "" {
			t.Errorf("gate %s: %+v", g.Name, g)
		}
	}
	site := filepath.Join(dir, "work", "site", "content")
	for page, want := range map[string]string{
		"docs/gyp-next/getting-started.md": "`pip install gyp-next`",
		"docs/gyp-next/_index.md":          "gyp-next is a fork of the GYP build system",
		"reference/gyp-next/gyp-common.md": "`def TopologicallySorted(graph, get_edges)`",
	} {
		if text := read(t, filepath.Join(site, filepath.FromSlash(page))); !strings.Contains(text, want) {
			t.Errorf("%s does not say %q", page, want)
		}
	}
}
