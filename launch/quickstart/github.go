package quickstart

import (
	"net/url"
	"strings"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/lazyregexp"
)

const maxURL = 2048 // bytes

var (
	githubOwner = lazyregexp.New(`^[A-Za-z0-9](?:[A-Za-z0-9-]{0,37}[A-Za-z0-9])?$`)
	githubRepo  = lazyregexp.New(`^[A-Za-z0-9._-]{1,100}$`)
)

// ParseGitHubURL reads the address of a GitHub repository,
// https://github.com/<owner>/<repo>, and returns it without .git and without a
// slash at the end. White space around it does not count. The error is
// INVALID_URL: for another scheme or host, a port, userinfo, query, fragment,
// escape or "..", and for an address of anything else than a repository.
func ParseGitHubURL(raw string) (owner, repo, normalised string, err error) {
	u, err := parseHTTPS(raw)
	if err != nil {
		return "", "", "", err
	}
	switch {
	case !strings.EqualFold(u.Host, "github.com"):
		return "", "", "", notGitHub("its host is not github.com")
	case u.ForceQuery || u.RawQuery != "" || strings.Contains(raw, "#"):
		return "", "", "", notGitHub("it has a query or a fragment")
	case strings.Contains(u.EscapedPath(), "%") || strings.Contains(u.Path, ".."):
		return "", "", "", notGitHub("its path has an escape or two dots")
	}
	parts := strings.Split(strings.TrimSuffix(strings.TrimPrefix(u.Path, "/"), "/"), "/")
	if len(parts) != 2 {
		return "", "", "", notGitHub("its path is not an owner and a repository")
	}
	owner, repo = parts[0], strings.TrimSuffix(parts[1], ".git")
	if !githubOwner.MatchString(owner) || !githubRepo.MatchString(repo) || repo == "." {
		return "", "", "", notGitHub("its owner or repository is no name that GitHub gives")
	}
	return owner, repo, "https://github.com/" + owner + "/" + repo, nil
}

func notGitHub(why string) error {
	return fault.New(fault.InvalidURL, "the URL is not that of a GitHub repository: %s", why).
		WithHint("give https://github.com/<owner>/<repository>")
}

// parseHTTPS parses an https URL with a host and without port and userinfo. The
// error is INVALID_URL.
func parseHTTPS(raw string) (*url.URL, error) {
	raw = strings.TrimSpace(raw)
	if len(raw) > maxURL {
		return nil, fault.New(fault.InvalidURL, "the URL is longer than %d bytes", maxURL)
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil: // the parser's error repeats the URL
		return nil, fault.New(fault.InvalidURL, "the URL cannot be parsed")
	case u.Scheme != "https":
		return nil, fault.New(fault.InvalidURL, "the URL does not begin with https://")
	case u.User != nil:
		return nil, fault.New(fault.InvalidURL, "the URL names a user or holds a token")
	case u.Hostname() == "" || strings.Contains(u.Host, ":"):
		return nil, fault.New(fault.InvalidURL, "the URL has no host, a port or an address in place of a name")
	case strings.Contains(raw, `\`):
		return nil, fault.New(fault.InvalidURL, "the URL holds a backslash")
	}
	return u, nil
}
