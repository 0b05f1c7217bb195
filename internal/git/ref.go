package git

import (
	"strings"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/lazyregexp"
)

var fullSHA = lazyregexp.New(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// IsSHA reports whether s is a complete object name.
func IsSHA(s string) bool { return fullSHA.MatchString(s) }

// CheckRef refuses with INVALID_INPUT a name that cannot be that of a branch or tag,
// by the rules of git check-ref-format, and one that starts with a dash. A complete
// object name and a name that starts with refs/ pass.
func CheckRef(name string) error {
	if why := refRefusal(name); why != "" {
		return fault.New(fault.InvalidInput, "the ref is not a valid name: %s", why)
	}
	return nil
}

func refRefusal(name string) string {
	switch {
	case name == "" || name == "@":
		return "it is empty or @"
	case len(name) > 255:
		return "it is longer than 255 bytes"
	case strings.HasPrefix(name, "-"):
		return "it starts with a dash"
	case strings.HasSuffix(name, "."):
		return "it ends with a dot"
	case strings.Contains(name, "..") || strings.Contains(name, "@{"):
		return "it holds .. or @{"
	case strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune(`~^:?*[\`, r) }):
		return `it holds a space, a control character or one of ~^:?*[\`
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part[0] == '.' || strings.HasSuffix(part, ".lock") {
			return "a part is empty, starts with a dot or ends with .lock"
		}
	}
	return ""
}

// checkRevision refuses what is neither a valid ref nor HEAD nor an object name.
func checkRevision(names ...string) error {
	for _, name := range names {
		if err := CheckRef(name); err != nil {
			return err
		}
	}
	return nil
}
