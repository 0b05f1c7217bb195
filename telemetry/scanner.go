package telemetry

import "strings"

// gram is how many bytes the prefilter looks at together.
const gram = 3

// A literal is a text whose presence may mean a secret.
type literal struct {
	text string // at least gram bytes
	at   int    // offset in text of the three bytes that the prefilter looks for
	fold bool   // whether ASCII case is ignored

	// match decides, given that the literal stands at s[start:end]. It returns the
	// range to replace, with from >= start, and the replacement.
	match func(s string, start, end int) (from, to int, with string, ok bool)
}

// A scanner finds literals in text in one pass: a bitmap says for every three
// bytes whether a literal's three bytes hash there.
type scanner struct {
	bits   [1 << 16 / 64]uint64
	byGram map[uint32][]literal
	all    []literal
}

func newScanner(lits []literal) *scanner {
	s := &scanner{byGram: make(map[uint32][]literal), all: lits}
	for _, l := range lits {
		g := gramAt(l.text, l.at)
		h := hashGram(g)
		s.bits[h>>6] |= 1 << (h & 63)
		s.byGram[g] = append(s.byGram[g], l)
	}
	return s
}

// replace returns text with every match replaced, leftmost first, the longest
// where several start together.
func (s *scanner) replace(text string) string {
	var out strings.Builder
	done, i := 0, 0
	for {
		hit := s.next(text, i)
		if hit < 0 {
			break
		}
		from, to, with, ok := s.match(text, hit, done)
		if !ok {
			i = hit + 1
			continue
		}
		to = s.extend(text, from, to)
		out.WriteString(text[done:from])
		out.WriteString(with)
		done, i = to, to
	}
	if done == 0 {
		return text
	}
	out.WriteString(text[done:])
	return out.String()
}

// extend returns the end of a match after taking in the matches that begin inside
// it and end after it: a value that ends at a blank may be the head of a key block.
func (s *scanner) extend(text string, from, to int) int {
	for i := from; ; {
		hit := s.next(text[:min(len(text), to+gram-1)], i)
		if hit < 0 {
			return to
		}
		if _, end, _, ok := s.match(text, hit, from); ok {
			i, to = end, max(to, end)
		} else {
			i = hit + 1
		}
	}
}

// next returns the first position at or after i whose three bytes may begin a
// literal's, or -1. This loop is all that ordinary text costs.
func (s *scanner) next(text string, i int) int {
	if len(text)-i < gram {
		return -1
	}
	w := uint32(fold[text[i]])<<8 | uint32(fold[text[i+1]])
	for j := i + 2; j < len(text); j++ {
		w = (w<<8 | uint32(fold[text[j]])) & 0xffffff
		if h := hashGram(w); s.bits[h>>6]&(1<<(h&63)) != 0 {
			return j - 2
		}
	}
	return -1
}

// match tries the literals whose three bytes stand at hit; nothing before done
// may be touched.
func (s *scanner) match(text string, hit, done int) (from, to int, with string, ok bool) {
	for _, l := range s.byGram[gramAt(text, hit)] {
		start := hit - l.at
		end := start + len(l.text)
		if start < done || end > len(text) || !l.equal(text[start:end]) {
			continue
		}
		f, t, w, found := l.match(text, start, end)
		if found && t > to {
			from, to, with, ok = f, t, w, true
		}
	}
	return from, to, with, ok
}

func (l literal) equal(s string) bool {
	if !l.fold {
		return s == l.text
	}
	for i := range len(s) {
		if fold[s[i]] != fold[l.text[i]] {
			return false
		}
	}
	return true
}

func gramAt(s string, i int) uint32 {
	return uint32(fold[s[i]])<<16 | uint32(fold[s[i+1]])<<8 | uint32(fold[s[i+2]])
}

func hashGram(g uint32) uint32 { return g * 0x9e3779b1 >> 16 }

// fold maps ASCII upper case to lower case and every other byte to itself.
var fold = func() (t [256]byte) {
	for i := range t {
		t[i] = byte(i)
		if 'A' <= i && i <= 'Z' {
			t[i] = byte(i) + 'a' - 'A'
		}
	}
	return t
}()
