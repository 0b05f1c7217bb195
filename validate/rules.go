package validate

import (
	"io/fs"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/lazyregexp"
)

var (
	runIDForm        = lazyregexp.New(`^[a-zA-Z0-9_-]{8,64}$`)
	artifactNameForm = lazyregexp.New(`^\.?[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$`)
	keyForm          = lazyregexp.New(`^[A-Za-z0-9._:-]{1,128}$`)
)

// Bounds, in bytes.
const (
	maxArtifactName = 128
	maxRelPath      = 1024
)

// RunID checks the form of a run id; whether there is such a run is another
// question. The error is INVALID_INPUT.
func RunID(id string) error {
	if !runIDForm.MatchString(id) {
		return fault.New(fault.InvalidInput, "a run_id is 8 to 64 letters, digits, _ and -")
	}
	return nil
}

// ArtifactName checks the name of an artifact: one path segment, without ".." and
// at most 128 bytes. The error is INVALID_INPUT.
func ArtifactName(name string) error {
	if len(name) > maxArtifactName || !artifactNameForm.MatchString(name) {
		return fault.New(fault.InvalidInput, "an artifact_name is at most 128 letters, digits, _, - and single dots, without a folder").
			WithHint("use a name from launch_get_status")
	}
	return nil
}

// Key checks an idempotency key (idempotency_key, request_id). The error is INVALID_INPUT.
func Key(key string) error {
	if !keyForm.MatchString(key) {
		return fault.New(fault.InvalidInput, "an idempotency key is 1 to 128 letters, digits, dots, _, : and -")
	}
	return nil
}

// RelPath checks a relative path with forward slashes that stays where it starts:
// no "..", no empty segment, no backslash, no drive, nothing unprintable, at most
// 1,024 bytes of UTF-8. A link may still lead out, so whoever opens the path does
// so through os.Root. The error is INVALID_INPUT.
func RelPath(p string) error {
	drive := len(p) >= 2 && p[1] == ':'
	switch {
	case len(p) > maxRelPath || !utf8.ValidString(p),
		!fs.ValidPath(p), drive,
		strings.ContainsRune(p, '\\'),
		strings.ContainsFunc(p, func(r rune) bool { return !unicode.IsPrint(r) }):
		return fault.New(fault.InvalidInput, "a path is relative, with forward slashes and without ..")
	}
	return nil
}
