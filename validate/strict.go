package validate

import "fmt"

// DefaultDepth is how deep arrays and objects may nest unless [Limits] say otherwise.
const DefaultDepth = 64

// Limits bound what [Strict] accepts.
type Limits struct {
	// Depth is the number of arrays and objects that may be open at once; a
	// scalar has depth 0 and [] has depth 1. Zero means [DefaultDepth].
	Depth int
}

// StrictKind says which rule of [Strict] a text breaks.
type StrictKind string

// The kinds of [StrictError].
const (
	StrictSyntax       StrictKind = "syntax"        // not JSON as RFC 8259 defines it
	StrictUTF8         StrictKind = "utf8"          // not UTF-8, or a \u escape of half a surrogate pair
	StrictDuplicateKey StrictKind = "duplicate_key" // one object names a member twice
	StrictDepth        StrictKind = "depth"         // deeper than Limits.Depth
)

// StrictError is the first rule that a text breaks.
type StrictError struct {
	Kind   StrictKind
	Offset int    // the byte at which the fault was seen, from 0
	Key    string // the decoded key, at most 64 bytes of it, when Kind is StrictDuplicateKey
}

// Error says what is wrong and where; of the text it repeats no more than a duplicate key.
func (e *StrictError) Error() string {
	switch e.Kind {
	case StrictUTF8:
		return fmt.Sprintf("invalid UTF-8 at byte %d", e.Offset)
	case StrictDuplicateKey:
		return fmt.Sprintf("duplicate key %q at byte %d", e.Key, e.Offset)
	case StrictDepth:
		return fmt.Sprintf("nested too deep at byte %d", e.Offset)
	}
	return fmt.Sprintf("invalid JSON at byte %d", e.Offset)
}

// Strict reports whether raw is exactly one JSON text that every parser reads
// alike: valid by RFC 8259, valid UTF-8 without lone surrogates, no key twice in
// one object (keys are compared decoded, so "a" equals "\u0061"), and no deeper
// than the limit. White space around the text is allowed, a byte order mark is not.
//
// It returns nil or a [*StrictError] for the first fault. It reads raw once,
// without recursion, in time linear in its length, and allocates once for the
// text, not for its values; only an object of many keys costs more.
func Strict(raw []byte, limits Limits) error {
	s := scanner{raw: raw, depth: limits.Depth}
	if s.depth <= 0 {
		s.depth = DefaultDepth
	}
	s.open, s.keys = s.openBuf[:0], s.keysBuf[:0]
	if kind := s.text(); kind != "" {
		err := &StrictError{Kind: kind, Offset: s.at}
		if kind == StrictDuplicateKey {
			err.Key = decoded(s.keys[len(s.keys)-1].in(raw), maxKey)
		}
		return err
	}
	return nil
}
