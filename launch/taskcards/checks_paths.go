package taskcards

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/gantry-run/gantry/internal/lazyregexp"
)

// sharedLibraries are folders that one card alone may change.
var sharedLibraries = []struct{ folder, owner string }{
	{"src/launch/io", "TC-200"},
	{"src/launch/util", "TC-200"},
	{"src/launch/models", "TC-250"},
	{"src/launch/clients", "TC-500"},
}

// broadPaths allow so much that they say nothing.
var broadPaths = []string{
	"*", "**", "**/*", "src/**", "src/launch/**", "tests/**", "scripts/**", ".github/**",
}

// platforms are those that the addresses of products name.
var platforms = []string{
	"android", "cpp", "dotnet", "go", "java", "javascript", "kotlin", "net", "nodejs", "php", "python", "ruby", "rust", "swift", "typescript",
}

// checkPaths checks each of allowed_paths.
func (c *card) checkPaths() {
	id, _ := c.front.field("id")
	allowed, _ := c.front.field("allowed_paths")
	for _, item := range allowed.items {
		p := strings.TrimPrefix(strings.TrimSpace(item.text), "./")
		if item.kind != kindString || p == "" {
			continue // checkLists says so
		}
		if !filepath.IsLocal(p) || strings.Contains(p, `\`) {
			c.fail(checkAllowed, item.line, "%.80q does not stay in the repository", p)
		}
		if slices.Contains(broadPaths, p) {
			c.fail(checkBroad, item.line, "%.80q allows too much: name the folders and files", p)
		}
		for _, library := range sharedLibraries {
			if (p == library.folder || strings.HasPrefix(p, library.folder+"/")) && id.text != library.owner {
				c.fail(checkShared, item.line, "%.80q is in a library that only %s may change", p, library.owner)
			}
		}
		if !goodProductsPath(p) {
			c.fail(checkProducts, item.line, "%.80q is a products path without /<two-letter locale>/<platform>/", p)
		}
	}
}

// goodProductsPath reports whether a path is in no products section, or names a
// locale and a platform there.
func goodProductsPath(p string) bool {
	parts := strings.Split(p, "/")
	start := slices.IndexFunc(parts, func(part string) bool { return strings.HasPrefix(part, "products.") })
	if start < 0 && len(parts) > 1 && parts[0] == "content" && parts[1] == "products" {
		start = 1
	}
	if start < 0 || start == len(parts)-1 && strings.Contains(parts[start], ".md") {
		return true
	}
	for i := start + 1; i+2 < len(parts); i++ {
		if locale.MatchString(parts[i]) && slices.Contains(platforms, parts[i+1]) {
			return true
		}
	}
	return false
}

var (
	locale      = lazyregexp.New(`^[a-z]{2}$`)
	bullet      = lazyregexp.New(`^\s*[-*+]\s+(\S.*)$`)
	quotedPath  = lazyregexp.New("^`([^`]+)`")
	parentheses = lazyregexp.New(`\s*\([^()]*\)`)
)

// checkBodyPaths compares the bullets of "## Allowed paths" with allowed_paths.
func (c *card) checkBodyPaths() {
	allowed, ok := c.front.field("allowed_paths")
	s, there := c.sections["Allowed paths"]
	if !ok || !there || allowed.kind != kindList {
		return // other checks say so
	}
	body := map[string]bool{}
	for _, line := range s.prose() {
		m := bullet.FindStringSubmatch(line.text)
		if m == nil {
			continue
		}
		p := bulletPath(m[1])
		body[p] = true
		if !slices.ContainsFunc(allowed.items, func(item value) bool { return strings.TrimSpace(item.text) == p }) {
			c.fail(checkBodyPaths, line.number, "%.80q is not in the front matter's allowed_paths", p)
		}
	}
	for _, item := range allowed.items {
		if p := strings.TrimSpace(item.text); item.kind == kindString && p != "" && !body[p] {
			c.fail(checkBodyPaths, item.line, "%.80q is not a bullet of ## Allowed paths", p)
		}
	}
}

// bulletPath takes the path out of a bullet: what stands in backquotes, or else
// all but notes in parentheses.
func bulletPath(text string) string {
	if m := quotedPath.FindStringSubmatch(text); m != nil {
		return strings.TrimSpace(m[1])
	}
	return strings.TrimSpace(parentheses.ReplaceAllString(text, ""))
}
