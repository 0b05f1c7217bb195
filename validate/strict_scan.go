package validate

import (
	"bytes"
	"hash/maphash"
)

// maxKey is how much of a key an error repeats, in bytes.
const maxKey = 64

// fewKeys is how many keys of an object are compared one by one; beyond, they are hashed.
const fewKeys = 16

// A scanner walks one text. Its methods return the broken rule, or "" and s.at
// behind what they read.
type scanner struct {
	raw     []byte
	at      int
	depth   int
	escaped bool // the string just read has an escape

	open []frame // arrays and objects around s.at
	keys []key   // keys of all open objects, innermost last

	openBuf [16]frame
	keysBuf [32]key

	seed   maphash.Seed         // set with byHash
	byHash map[objectHash]int32 // keys of the objects that have more than fewKeys: last index in keys
	serial int32                // objects hashed so far
}

// frame is one open array or object.
type frame struct {
	object bool
	keys   int   // where its keys begin in scanner.keys
	serial int32 // its number in byHash; 0 while it has few keys
}

// key is a key's place in the text, without its quotes.
type key struct {
	from, to int
	escaped  bool
	previous int32 // index of the key with the same hash in the same object, or -1
}

type objectHash struct {
	serial int32
	hash   uint64
}

func (k key) in(raw []byte) []byte { return raw[k.from:k.to] }

// text reads the whole text: a value, then as many closings and commas as follow it.
func (s *scanner) text() StrictKind {
	for {
		if kind := s.value(); kind != "" {
			return kind
		}
		for s.after() {
			if len(s.open) == 0 {
				if s.at == len(s.raw) {
					return ""
				}
				return StrictSyntax
			}
		}
		if len(s.open) == 0 || s.peek() != ',' {
			return StrictSyntax
		}
		s.at++
		if s.open[len(s.open)-1].object {
			s.space()
			if kind := s.member(); kind != "" {
				return kind
			}
		}
	}
}

// after reads what closes the innermost array or object, and reports whether
// the text or another such closing may follow.
func (s *scanner) after() bool {
	s.space()
	if len(s.open) == 0 {
		return true
	}
	top := s.open[len(s.open)-1]
	if c := s.peek(); c != ']' && c != '}' || (c == '}') != top.object {
		return false
	}
	s.at++
	s.open, s.keys = s.open[:len(s.open)-1], s.keys[:top.keys]
	s.space()
	return true
}

// value reads a scalar, or opens arrays and objects up to the first scalar or empty one.
func (s *scanner) value() StrictKind {
	for {
		s.space()
		switch c := s.peek(); c {
		case '"':
			return s.str()
		case '{', '[':
			if len(s.open) == s.depth {
				return StrictDepth
			}
			s.at++
			s.open = append(s.open, frame{object: c == '{', keys: len(s.keys)})
			s.space()
			if next := s.peek(); next == c+2 { // '{'+2 is '}', '['+2 is ']'
				return ""
			}
			if c == '{' {
				if kind := s.member(); kind != "" {
					return kind
				}
			}
		case 't':
			return s.literal("true")
		case 'f':
			return s.literal("false")
		case 'n':
			return s.literal("null")
		default:
			return s.number()
		}
	}
}

// member reads a key and its colon.
func (s *scanner) member() StrictKind {
	start := s.at
	if s.peek() != '"' {
		return StrictSyntax
	}
	if kind := s.str(); kind != "" {
		return kind
	}
	s.keys = append(s.keys, key{from: start + 1, to: s.at - 1, escaped: s.escaped, previous: -1})
	if s.repeated() {
		s.at = start
		return StrictDuplicateKey
	}
	s.space()
	if s.peek() != ':' {
		return StrictSyntax
	}
	s.at++
	return ""
}

// repeated reports whether the last key is already in the innermost object.
func (s *scanner) repeated() bool {
	top := &s.open[len(s.open)-1]
	last := len(s.keys) - 1
	if last-top.keys < fewKeys {
		for i := top.keys; i < last; i++ {
			if s.same(s.keys[i], s.keys[last]) {
				return true
			}
		}
		return false
	}
	if top.serial == 0 {
		s.serial++
		top.serial = s.serial
		for i := top.keys; i < last; i++ {
			s.hash(i, top.serial)
		}
	}
	return s.hash(last, top.serial)
}

// hash files key i of an object and reports whether an equal one was there.
func (s *scanner) hash(i int, serial int32) bool {
	if s.byHash == nil {
		s.seed, s.byHash = maphash.MakeSeed(), map[objectHash]int32{}
	}
	k := &s.keys[i]
	at := objectHash{serial: serial}
	if k.escaped {
		at.hash = maphash.String(s.seed, decoded(k.in(s.raw), len(s.raw)))
	} else {
		at.hash = maphash.Bytes(s.seed, k.in(s.raw))
	}
	if head, ok := s.byHash[at]; ok {
		k.previous = head
	}
	for p := k.previous; p >= 0; p = s.keys[p].previous {
		if s.same(s.keys[p], *k) {
			return true
		}
	}
	s.byHash[at] = int32(i)
	return false
}

// same reports whether two keys are equal once decoded.
func (s *scanner) same(a, b key) bool {
	if !a.escaped && !b.escaped {
		return bytes.Equal(a.in(s.raw), b.in(s.raw))
	}
	x, y := a.in(s.raw), b.in(s.raw)
	for len(x) > 0 && len(y) > 0 {
		r, n := firstRune(x)
		q, m := firstRune(y)
		if r != q {
			return false
		}
		x, y = x[n:], y[m:]
	}
	return len(x) == len(y)
}

// number reads a number.
func (s *scanner) number() StrictKind {
	if s.peek() == '-' {
		s.at++
	}
	if s.peek() == '0' {
		s.at++
	} else if !s.digits() {
		return StrictSyntax
	}
	if s.peek() == '.' {
		s.at++
		if !s.digits() {
			return StrictSyntax
		}
	}
	if c := s.peek(); c == 'e' || c == 'E' {
		s.at++
		if c := s.peek(); c == '+' || c == '-' {
			s.at++
		}
		if !s.digits() {
			return StrictSyntax
		}
	}
	return ""
}

// digits reads one digit or more.
func (s *scanner) digits() bool {
	start := s.at
	for s.at < len(s.raw) && '0' <= s.raw[s.at] && s.raw[s.at] <= '9' {
		s.at++
	}
	return s.at > start
}

// literal reads true, false or null.
func (s *scanner) literal(word string) StrictKind {
	if len(s.raw)-s.at < len(word) || string(s.raw[s.at:s.at+len(word)]) != word {
		return StrictSyntax
	}
	s.at += len(word)
	return ""
}

// space skips white space.
func (s *scanner) space() {
	for s.at < len(s.raw) {
		switch s.raw[s.at] {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return
		}
	}
}

// peek returns the byte at s.at, or 0 at the end, which no rule accepts.
func (s *scanner) peek() byte {
	if s.at < len(s.raw) {
		return s.raw[s.at]
	}
	return 0
}
