package inventory

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/gantry-run/gantry/internal/lazyregexp"
)

// findRoots finds the topmost folders for tests, documents and examples.
// Preferred ones that exist come first.
func (t *tree) findRoots(opts Options) {
	t.testRoots = t.topmost(testDirs, nil)
	t.docRoots = t.topmost(docDirs, slices.Concat(opts.PreferredDocRoots, contentDirs))
	t.exampleRoots = t.topmost(exampleDirs, opts.PreferredExampleRoots)
}

// contentDirs are where sites that live beside the product keep their pages.
var contentDirs = []string{"site/content", "website/content", "www/content"}

// topmost returns the folders with one of the names that lie in no other such
// folder, nor in a vendored or a test folder.
func (t *tree) topmost(names, preferred []string) []string {
	found := t.existing(preferred)
	all := make([]string, 0, len(t.dirs))
	for dir := range t.dirs {
		all = append(all, dir)
	}
	slices.Sort(all)
	outside := slices.Concat(names, vendorDirs, testDirs, []string{"internal"})
	for _, dir := range all {
		named := slices.Contains(names, strings.ToLower(path.Base(dir)))
		if named && !inNamedDir(dir, outside) && !slices.Contains(found, dir) {
			found = append(found, dir)
		}
	}
	return found
}

// existing returns the preferred folders that are in the tree, cleaned, in their order.
func (t *tree) existing(preferred []string) []string {
	found := []string{}
	for _, dir := range preferred {
		dir = path.Clean(strings.ReplaceAll(dir, `\`, "/"))
		if (t.dirs[dir] || dir == "." && len(t.files) > 0) && !slices.Contains(found, dir) {
			found = append(found, dir)
		}
	}
	return found
}

// sourceRoots returns the preferred roots that exist, then the top-level folders
// that hold sources; "." where the top level itself does.
func (t *tree) sourceRoots(preferred []string) []string {
	roots := t.existing(preferred)
	seen := map[string]bool{}
	for _, file := range t.files {
		if file.Role != roleSource {
			continue
		}
		top := "."
		if dir, _, nested := strings.Cut(file.Path, "/"); nested {
			top = dir
		}
		if !strings.HasPrefix(top, ".") || top == "." {
			seen[top] = true
		}
	}
	for _, root := range sortedKeys(seen) {
		if !slices.Contains(roots, root) {
			roots = append(roots, root)
		}
	}
	return roots
}

// notEntry matches documents that do not say what the product does: process,
// legal and history texts, translations, and instructions to coding agents.
var notEntry = lazyregexp.New(`(?i)^(changelog|changes|history|contribut|(code[_-]of[_-])?conduct|security|licen[sc]e|copying|authors|maintainers|notice|governance|release|roadmap|todo|news|upgrad|migrat|agents|claude|gemini|copilot|pull_request|issue_template|support|sponsors|backers|credits|thanks|third.?party|patents|trademark|triag|design)|[._-](zh|ja|ko|ru|fr|de|es|pt|it|tr|vi|pl|fa|ar|id|uk|cs|nl)([_-][a-z]{2,4})?\.[a-z]+$`)

var localeDir = lazyregexp.New(`(?i)(^|/)(zh|ja|ko|ru|fr|de|es|pt|it|tr|vi|pl|fa|ar|uk|cs|nl|translations|i18n|locale)([_-][a-z]{2,4})?/`)

// docEntrypoints lists the documents that tell what the product is: the
// top-level README, then the other top-level documents and those in doc roots.
func (t *tree) docEntrypoints() []string {
	type entry struct {
		rank int
		path string
	}
	var entries []entry
	for _, file := range t.files {
		base := path.Base(file.Path)
		if file.Role != roleDoc || file.Binary || !isText(base) || notEntry.MatchString(base) || localeDir.MatchString(file.Path) || strings.HasPrefix(file.Path, ".") {
			continue
		}
		top, readme := parent(file.Path) == ".", isReadme(base)
		switch {
		case top && readme:
			entries = append(entries, entry{readmeRank(base), file.Path})
		case top:
			entries = append(entries, entry{10, file.Path})
		case underAny(file.Path, t.docRoots):
			entries = append(entries, entry{11, file.Path})
		}
	}
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.path, b.path))
	})
	paths := make([]string, len(entries))
	for i, e := range entries {
		paths[i] = e.path
	}
	return paths
}

func isReadme(base string) bool {
	stem, _, _ := strings.Cut(strings.ToLower(base), ".")
	return stem == "readme"
}

// readmeRank prefers Markdown, then reStructuredText, then the rest.
func readmeRank(base string) int {
	switch strings.ToLower(path.Ext(base)) {
	case ".md", ".markdown", ".mdx":
		return 0
	case ".rst":
		return 1
	}
	return 2
}

// isText reports whether the name is of a document whose prose can be read.
func isText(base string) bool {
	switch strings.ToLower(path.Ext(base)) {
	case ".md", ".markdown", ".mdx", ".rst", ".txt", "":
		return true
	}
	return false
}

func (t *tree) pathsWithRole(role string) []string {
	paths := []string{}
	for _, file := range t.files {
		if file.Role == role {
			paths = append(paths, file.Path)
		}
	}
	return paths
}

func (t *tree) binaries() []string {
	paths := []string{}
	for _, file := range t.files {
		if file.Binary {
			paths = append(paths, file.Path)
		}
	}
	return paths
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
