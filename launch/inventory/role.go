package inventory

import (
	"path"
	"slices"
	"strings"

	"github.com/gantry-run/gantry/internal/lazyregexp"
)

// The roles of a file.
const (
	roleSource   = "source"
	roleTest     = "test"
	roleDoc      = "doc"
	roleExample  = "example"
	roleManifest = "manifest"
	roleAsset    = "asset"
	roleConfig   = "config"
	roleOther    = "other"
)

// Folder names that say what is in them, in lower case.
var (
	testDirs    = []string{"test", "tests", "__tests__", "spec", "specs", "testdata", "_test", "e2e"}
	docDirs     = []string{"doc", "docs", "documentation"}
	exampleDirs = []string{"example", "examples", "sample", "samples", "demo", "demos", "_examples"}
	vendorDirs  = []string{"vendor", "node_modules", "third_party", "third-party", "bower_components", "dist", "__pycache__", ".venv"}
)

var (
	testFile = lazyregexp.New(`(?i)(_test\.(go|py|rb|exs|dart|cc|cpp|c)|^test_.*\.py|^conftest\.py|\.(test|spec)\.[cm]?[jt]sx?|_spec\.rb|[a-z0-9]Tests?\.(java|kt|cs|php|swift))$`)
	// Documents that every project has, by the start of their names.
	docName   = lazyregexp.New(`(?i)^(readme|license|licence|copying|changelog|changes|history|contributing|authors|maintainers|notice|security|code_of_conduct|install|upgrading|migration|governance|roadmap|news|todo)([.\-_]|$)`)
	assetExts = []string{".svg", ".png", ".jpg", ".jpeg", ".gif", ".ico", ".webp", ".pdf", ".woff", ".woff2", ".ttf", ".otf", ".mp3", ".mp4", ".zip", ".gz", ".csv", ".tsv"}
)

// assignRoles gives every file its role.
func (t *tree) assignRoles() {
	for i := range t.files {
		file := &t.files[i]
		file.Role = roleOf(file.Path, file.Language, file.Binary, t)
	}
}

// roleOf decides by the first rule that holds.
func roleOf(name, lang string, binary bool, t *tree) string {
	base, ext := path.Base(name), strings.ToLower(path.Ext(name))
	kind := kindOf(lang)
	prose := kind == "prose" || slices.Contains([]string{".md", ".rst", ".adoc", ".txt"}, ext)
	switch {
	case inNamedDir(name, vendorDirs):
		return roleOther
	case binary || slices.Contains(assetExts, ext):
		return roleAsset
	case testFile.MatchString(base) || inNamedDir(name, testDirs) || underAny(name, t.testRoots):
		return roleTest
	case manifestKind(name) != "" && !inNamedDir(name, exampleDirs):
		return roleManifest
	case docName.MatchString(base) && (prose || ext == "" || kind == "markup"):
		return roleDoc
	case underAny(name, t.exampleRoots) || inNamedDir(name, exampleDirs):
		if prose {
			return roleDoc
		}
		return roleExample
	case prose && ext != ".txt", prose && underAny(name, t.docRoots):
		return roleDoc
	case kind == "programming" || lang == "Vue" || lang == "Svelte" || lang == "Astro":
		return roleSource
	case kind == "data" || strings.HasPrefix(base, "."):
		return roleConfig
	case kind == "markup" && underAny(name, t.docRoots):
		return roleDoc
	case kind == "markup":
		return roleSource
	}
	return roleOther
}

// inNamedDir reports whether a folder on the way to the file has one of the names.
func inNamedDir(name string, names []string) bool {
	for dir := parent(name); dir != "."; dir = parent(dir) {
		if slices.Contains(names, strings.ToLower(path.Base(dir))) {
			return true
		}
	}
	return false
}

// underAny reports whether the path lies in one of the roots.
func underAny(name string, roots []string) bool {
	return slices.ContainsFunc(roots, func(root string) bool {
		return root == "." || strings.HasPrefix(name, root+"/")
	})
}

func parent(name string) string { return path.Dir(name) }
