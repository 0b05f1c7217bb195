package quickstart

import (
	"net/url"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

const (
	maxSlug = 64  // bytes, of product_slug and family
	maxName = 128 // bytes, of product_name
)

// Slug makes a product_slug of a name: accents are taken off (NFKD), ASCII letters
// and digits are kept in lower case, and anything between becomes one hyphen.
// It has at most 64 bytes, and is empty if the name has nothing to keep.
func Slug(name string) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(name) {
		switch {
		case r <= unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			b.WriteRune(unicode.ToLower(r))
		case unicode.Is(unicode.Mn, r):
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() > maxSlug {
			break
		}
	}
	slug := b.String()
	return strings.Trim(slug[:min(len(slug), maxSlug)], "-")
}

// NameFromURL makes a product_name of a repository's address: the last part of
// the path, without .git. It understands URLs, the user@host:path form of git, and
// paths of either slash. The name has at most 128 bytes, and is empty if the
// address has no such part.
func NameFromURL(raw string) string {
	p := strings.TrimSpace(raw)
	if _, rest, isURL := strings.Cut(p, "://"); isURL {
		rest, _, _ = strings.Cut(rest, "#")
		rest, _, _ = strings.Cut(rest, "?")
		_, p, _ = strings.Cut(rest, "/")
		if plain, err := url.PathUnescape(p); err == nil {
			p = plain
		}
	} else if host, rest, scp := strings.Cut(p, ":"); scp && !strings.ContainsAny(host, `/\`) {
		p = rest
	}
	name := path.Base(strings.ReplaceAll("/"+p, `\`, "/"))
	name = strings.TrimSuffix(name, ".git")
	if name == "/" || name == "." || name == ".." {
		return ""
	}
	return clip(printable(name), maxName)
}

// printable replaces what cannot be shown by spaces, of which it keeps one in a row.
func printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == utf8.RuneError {
			return ' '
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

// clip cuts a string to at most n bytes, at a character.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return strings.TrimSpace(s[:n])
}
