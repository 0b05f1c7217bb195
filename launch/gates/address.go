package gates

import (
	"net/url"
	"strings"
)

// repoBase returns the address of a repository's home, without .git. It reports
// false for one that no browser can open.
func repoBase(repoURL string) (string, bool) {
	u, err := url.Parse(repoURL)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return "", false
	}
	return strings.TrimSuffix(strings.TrimRight(repoURL, "/"), ".git"), true
}

// plainSegments returns host and path of an address in the form in which two that
// mean the same are equal: lower case, without scheme, www, query and anchor.
func plainSegments(address string) []string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return nil
	}
	host := strings.TrimPrefix(strings.ToLower(u.Host), "www.")
	return append([]string{host}, strings.FieldsFunc(strings.ToLower(u.Path), func(r rune) bool { return r == '/' })...)
}

// rebase returns the address with its first segments as base writes them, if they
// mean the same as base, which has n, and are written differently; else "".
func rebase(address, base string, n int) string {
	mine, theirs := plainSegments(base), plainSegments(address)
	if n == 0 || len(mine) != n || len(theirs) < n || address == base || strings.HasPrefix(address, base+"/") ||
		strings.HasPrefix(address, base+"#") || strings.HasPrefix(address, base+"?") || strings.HasPrefix(address, base+".git") {
		return ""
	}
	last := strings.TrimSuffix(theirs[n-1], ".git")
	for i, s := range mine {
		if s != theirs[i] && (i != n-1 || s != last) {
			return ""
		}
	}
	u, _ := url.Parse(address) // plainSegments has parsed it
	rest := strings.FieldsFunc(u.EscapedPath(), func(r rune) bool { return r == '/' })[n-1:]
	out := base
	if len(rest) > 0 {
		out += "/" + strings.Join(rest, "/")
	}
	if strings.HasSuffix(u.Path, "/") {
		out += "/"
	}
	if u.RawQuery != "" {
		out += "?" + u.RawQuery
	}
	if u.Fragment != "" {
		out += "#" + u.EscapedFragment()
	}
	return out
}
