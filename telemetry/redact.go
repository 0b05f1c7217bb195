package telemetry

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// minSecret is the shortest value, in bytes, that is masked by value. Masking a
// shorter one would eat ordinary words and so tell what it is.
const minSecret = 8

// A Redactor masks secrets in what leaves the process: results' echoes, logs,
// spans, records and errors. It knows two kinds: the values of secrets that the
// process holds, in the forms in which text carries them (plain, JSON-escaped,
// URL-encoded, base64), and the shapes of well-known secrets (see shapes.go).
// Each becomes [REDACTED:<type>], which does not tell the length.
//
// Text is scanned by a three-byte literal prefilter, so ordinary text costs one
// table look-up a byte. Masks are not masked again. A nil *Redactor masks
// shapes only. The methods may be called from several goroutines.
type Redactor struct {
	values *scanner // known values and roots; nil when there are none
	shapes *scanner
}

// NewRedactor returns a Redactor that masks the given values besides the shapes.
// Values shorter than 8 bytes are ignored.
func NewRedactor(secretValues []string) *Redactor {
	r := &Redactor{shapes: newScanner(shapes())}
	var known []literal
	for _, v := range secretValues {
		if len(v) >= minSecret {
			known = append(known, valueLiterals(v)...)
		}
	}
	if len(known) > 0 {
		r.values = newScanner(known)
	}
	return r
}

// WithRoots returns a Redactor that also makes absolute paths under the roots
// relative to them ("/srv/site/a.md" under "/srv/site" becomes "a.md", the root
// itself "."). Roots must be absolute and clean; "/" and relative ones are ignored.
func (r *Redactor) WithRoots(roots ...string) *Redactor {
	var lits []literal
	if r.values != nil {
		lits = slices.Clone(r.values.all)
	}
	for _, root := range roots {
		root = strings.TrimRight(root, "/")
		if strings.HasPrefix(root, "/") && len(root) >= gram {
			lits = append(lits, literal{text: root, match: matchRoot})
		}
	}
	if len(lits) == 0 {
		return r
	}
	return &Redactor{values: newScanner(lits), shapes: r.shapes}
}

// String returns s with its secrets masked; s itself when it has none.
func (r *Redactor) String(s string) string {
	if r == nil {
		return newScanner(shapes()).replace(s)
	}
	if r.values != nil {
		s = r.values.replace(s)
	}
	return r.shapes.replace(s)
}

// Bytes is [Redactor.String] for bytes. It may return b itself and never changes it.
func (r *Redactor) Bytes(b []byte) []byte {
	s := string(b)
	if out := r.String(s); out != s {
		return []byte(out)
	}
	return b
}

// JSON masks the secrets in the strings of a JSON text, member names included,
// and the whole scalar value of a member whose name says that it is a secret
// ("password", "api_key", …). Order, numbers and spacing are kept, and the result
// is valid JSON: a text that is not becomes one redacted JSON string. An empty
// text stays empty.
func (r *Redactor) JSON(raw json.RawMessage) json.RawMessage {
	return walkJSON(raw, r.String)
}

// Clean prepares text from outside for a log, a span or a record: terminal
// escapes are stripped ([CleanLog]) and then secrets are masked. The order
// matters: a token that an escape sequence cuts in two is whole afterwards.
func (r *Redactor) Clean(s string) string { return r.String(CleanLog(s)) }

// CleanJSON is [Redactor.Clean] on every string of a JSON text, otherwise as
// [Redactor.JSON].
func (r *Redactor) CleanJSON(raw json.RawMessage) json.RawMessage {
	return walkJSON(raw, r.Clean)
}

// SecretsFromEnv returns, sorted and without duplicates, the values that an
// environment ("NAME=value" entries) holds under names that end in _KEY, _TOKEN,
// _SECRET, _PASSWORD, _CREDENTIAL or _CREDENTIALS, or are one of these words, in
// any case, if they are at least 8 bytes long.
func SecretsFromEnv(environ []string) []string {
	var values []string
	for _, entry := range environ {
		name, value, ok := strings.Cut(entry, "=")
		if ok && len(value) >= minSecret && secretName(name) {
			values = append(values, value)
		}
	}
	slices.Sort(values)
	return slices.Compact(values)
}

func secretName(name string) bool {
	name = strings.ToUpper(name)
	last := name[strings.LastIndexByte(name, '_')+1:]
	switch last {
	case "KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL", "CREDENTIALS":
		return true
	}
	return false
}

// valueLiterals returns a literal for each form in which text may carry v.
func valueLiterals(v string) []literal {
	forms := []string{v, url.QueryEscape(v), url.PathEscape(v)}
	for _, escaped := range [][]byte{quoteJSON(v), mustJSON(v)} {
		forms = append(forms, string(escaped[1:len(escaped)-1]))
	}
	for shift := range 3 {
		std := base64Inner(v, shift)
		forms = append(forms, std, strings.NewReplacer("+", "-", "/", "_").Replace(std))
	}
	slices.SortFunc(forms, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
	})
	var lits []literal
	for _, f := range slices.Compact(forms) {
		lits = append(lits, literal{text: f, match: whole("secret")})
	}
	return lits
}

// base64Inner returns the characters that v is sure to contribute to the base64
// of a text that has v at an offset of shift modulo 3.
func base64Inner(v string, shift int) string {
	enc := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("\x00", shift) + v))
	if whole := (shift + len(v)) * 8 / 6; whole < len(enc) {
		enc = enc[:whole]
	}
	return enc[(shift*8+5)/6:]
}
