package pages

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/gantry-run/gantry/internal/lazyregexp"
)

// repoLinks makes addresses of files in the product's repository at its pinned
// commit. The zero value makes none.
type repoLinks struct {
	base  string // up to the path, with a final slash
	line  string // how the host writes one line
	lines string // and a range of them
}

var (
	scpForm = lazyregexp.New(`^(?:[\w.-]+@)?([\w.-]+\.[a-z]+):([^/].*)$`)
	fullSHA = lazyregexp.New(`^[0-9a-f]{40}$`)
)

// newRepoLinks knows the hosts whose addresses it can make; for another it makes none.
func newRepoLinks(repoURL, sha string) repoLinks {
	if m := scpForm.FindStringSubmatch(repoURL); m != nil {
		repoURL = "https://" + m[1] + "/" + m[2]
	}
	u, err := url.Parse(repoURL)
	if err != nil || u.Host == "" || !fullSHA.MatchString(sha) {
		return repoLinks{}
	}
	host := strings.ToLower(u.Hostname())
	base := "https://" + host + "/" + strings.Trim(strings.TrimSuffix(strings.TrimSuffix(u.EscapedPath(), "/"), ".git"), "/")
	switch {
	case host == "github.com":
		return repoLinks{base + "/blob/" + sha + "/", "#L%d", "#L%d-L%d"}
	case host == "gitlab.com" || strings.HasPrefix(host, "gitlab."):
		return repoLinks{base + "/-/blob/" + sha + "/", "#L%d", "#L%d-%d"}
	case host == "bitbucket.org":
		return repoLinks{base + "/src/" + sha + "/", "#lines-%d", "#lines-%d:%d"}
	case host == "codeberg.org" || strings.HasPrefix(host, "gitea."):
		return repoLinks{base + "/src/commit/" + sha + "/", "#L%d", "#L%d-L%d"}
	}
	return repoLinks{}
}

// file returns the address of a file, or of lines of it when start is positive.
// It returns "" when there is none.
func (r repoLinks) file(name string, start, end int) string {
	if r.base == "" || name == "" || strings.HasPrefix(name, "../") || name == ".." {
		return ""
	}
	parts := strings.Split(name, "/")
	for i, part := range parts {
		parts[i] = strings.NewReplacer("(", "%28", ")", "%29").Replace(url.PathEscape(part))
	}
	address := r.base + strings.Join(parts, "/")
	switch {
	case start > 0 && end > start:
		address += fmt.Sprintf(r.lines, start, end)
	case start > 0:
		address += fmt.Sprintf(r.line, start)
	}
	return address
}
