package git

import (
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/lazyregexp"
)

// CheckURL refuses with URL_NOT_ALLOWED whatever a client must not make git open:
//
//   - a scheme that is not allowed, and the <transport>::<address> form;
//   - a host or user that ssh would read as an option;
//   - a user name or password in an http URL, a password in any: secrets belong in
//     a credential helper, not in a run's configuration;
//   - unless local, file URLs and paths, and hosts that are this machine or the
//     link-local network, where clouds serve their credentials.
//
// The person's insteadOf rules apply to an allowed URL afterwards, and may lead anywhere.
func (g *Git) CheckURL(raw string, local bool) error {
	if why := g.refusal(raw, local); why != "" {
		return fault.New(fault.URLNotAllowed, "the repository URL is not allowed: %s", why).
			WithHint("use a URL such as https://host/owner/name, without credentials in it")
	}
	return nil
}

// scpLike is user@host:path, which git takes for ssh. A slash before the colon makes
// it a path.
var scpLike = lazyregexp.New(`^(?:([^@/:]+)@)?(\[[^\]/]*\]|[^:/@\[]+):(.*)$`)

// transport is <transport>::<address>, which runs git-remote-<transport>.
var transport = lazyregexp.New(`^[A-Za-z0-9+._-]*::`)

func (g *Git) refusal(raw string, local bool) string {
	switch {
	case raw == "":
		return "it is empty"
	case len(raw) > 2048:
		return "it is too long"
	case strings.HasPrefix(raw, "-"):
		return "it starts with a dash"
	case strings.ContainsFunc(raw, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return "it holds control characters"
	case strings.Contains(raw, "://"):
		return g.refusalOfURL(raw, local)
	case transport.MatchString(raw):
		return "transports that are commands are off"
	}
	if m := scpLike.FindStringSubmatch(raw); m != nil {
		return g.refusalOfSSH(m[1], m[2], m[3], local)
	}
	if host, _, colon := strings.Cut(raw, ":"); colon && !strings.Contains(host, "/") {
		return "its host is not a valid name"
	}
	if !local {
		return "a path on the server is not a remote repository"
	}
	return ""
}

func (g *Git) refusalOfURL(raw string, local bool) string {
	u, err := url.Parse(raw)
	if err != nil || strings.ContainsAny(raw, " \\") {
		return "it is not a valid URL"
	}
	if u.Scheme == "file" {
		if !local || (u.Host != "" && u.Host != "localhost") {
			return "a path on the server is not a remote repository"
		}
		return ""
	}
	if !slices.Contains(g.schemes, u.Scheme) {
		return "its scheme is not one of " + strings.Join(g.schemes, ", ")
	}
	if _, secret := u.User.Password(); secret || u.User != nil && u.Scheme != "ssh" {
		return "it holds credentials"
	}
	if u.RawQuery != "" || u.Fragment != "" {
		return "it has a query or a fragment"
	}
	if u.Scheme == "ssh" {
		return g.refusalOfSSH(u.User.Username(), u.Hostname(), u.Path, local)
	}
	return refusalOfHost(u.Hostname(), local)
}

func (g *Git) refusalOfSSH(user, host, path string, local bool) string {
	switch {
	case !slices.Contains(g.schemes, "ssh"):
		return "ssh is not allowed"
	case !userName.MatchString(user):
		return "its user name is not a plain one"
	case strings.HasPrefix(strings.TrimLeft(path, "/"), "-"):
		return "its path starts with a dash"
	}
	return refusalOfHost(strings.Trim(host, "[]"), local)
}

var (
	userName = lazyregexp.New(`^([A-Za-z0-9_][A-Za-z0-9_.-]*)?$`)
	hostName = lazyregexp.New(`^[A-Za-z0-9_]([A-Za-z0-9._-]*[A-Za-z0-9_])?\.?$`)
	numeric  = lazyregexp.New(`(?i)^(0x[0-9a-f]*|[0-9]+)(\.(0x[0-9a-f]*|[0-9]+))*\.?$`)
)

func refusalOfHost(host string, local bool) string {
	addr, err := netip.ParseAddr(host)
	switch {
	case err != nil && !hostName.MatchString(host):
		return "its host is not a valid name"
	case local:
		return ""
	case err != nil && numeric.MatchString(host):
		return "its host is a disguised address"
	case err == nil:
		addr = addr.Unmap()
		if addr.IsLoopback() || addr.IsLinkLocalUnicast() || addr.IsUnspecified() || addr.IsMulticast() {
			return "its host is this machine or the link-local network"
		}
	default:
		name := strings.ToLower(strings.TrimSuffix(host, "."))
		if name == "localhost" || strings.HasSuffix(name, ".localhost") {
			return "its host is this machine"
		}
	}
	return ""
}

// Redact returns the URL without user name and password, for people to read. Of a
// path on the server only the last element is left.
func Redact(raw string) string {
	if !strings.Contains(raw, "://") {
		if scpLike.MatchString(raw) {
			return raw[strings.IndexByte(raw, '@')+1:]
		}
		return filepath.Base(raw)
	}
	if rest, ok := strings.CutPrefix(raw, "file://"); ok {
		return filepath.Base(rest)
	}
	return userinfo.ReplaceAllString(raw, "$1")
}
