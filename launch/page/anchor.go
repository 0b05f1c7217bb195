package page

import (
	"bytes"
	"strconv"
	"unicode"

	"github.com/yuin/goldmark/ast"
)

// anchorIDs makes ids as Hugo does with its default, GitHub's style: letters,
// digits and underscores in lower case, a hyphen for each space and hyphen, the
// rest dropped; a number is appended to an id that is taken.
type anchorIDs struct {
	taken map[string]bool
	next  map[string]int // base → the first number to try
}

func newAnchorIDs() *anchorIDs {
	return &anchorIDs{taken: map[string]bool{}, next: map[string]int{}}
}

// Generate implements the Markdown parser's parser.IDs.
func (a *anchorIDs) Generate(value []byte, kind ast.NodeKind) []byte {
	id := anchorText(value)
	if id == "" {
		id = "heading"
		if kind != ast.KindHeading {
			id = "id"
		}
	}
	if a.taken[id] {
		base := id
		for n := max(a.next[base], 1); a.taken[id]; n++ {
			id = base + "-" + strconv.Itoa(n)
			a.next[base] = n + 1
		}
	}
	a.taken[id] = true
	return []byte(id)
}

// Put implements the Markdown parser's parser.IDs.
func (a *anchorIDs) Put(value []byte) { a.taken[string(value)] = true }

func anchorText(value []byte) string {
	var out bytes.Buffer
	for _, r := range string(bytes.TrimSpace(value)) {
		switch {
		case r == '-' || r == ' ':
			out.WriteRune('-')
		case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			out.WriteRune(unicode.ToLower(r))
		}
	}
	return out.String()
}
