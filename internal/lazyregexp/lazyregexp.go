// Package lazyregexp holds regular expressions that are compiled at their first use.
//
// A pattern in a package variable is compiled each time that the program starts, whether
// it is wanted or not: some hundred of them cost more than all else that happens before
// main, and this program is started anew by each client and for each process that it
// supervises. Here a pattern costs nothing until it is used. Under test it is compiled at
// once, so that a bad pattern fails every test of its package and not one user's run.
//
// [Regexp] has the methods of [regexp.Regexp] that are used in this module, and means the
// same by them.
package lazyregexp

import (
	"os"
	"regexp"
	"strings"
	"sync"
)

// Regexp is a regular expression that is compiled at its first use. It may be used by
// several goroutines at once.
type Regexp struct {
	pattern string
	once    sync.Once
	made    *regexp.Regexp
}

// New returns the expression of a pattern in the syntax of package regexp. A pattern that
// is not right panics: at once under test, else at the first use.
func New(pattern string) *Regexp {
	r := &Regexp{pattern: pattern}
	if underTest() {
		r.re()
	}
	return r
}

func (r *Regexp) re() *regexp.Regexp {
	r.once.Do(func() { r.made = regexp.MustCompile(r.pattern) })
	return r.made
}

// underTest reports whether the program is a test binary. Package testing knows it too, and
// would bring its flags into the program.
func underTest() bool {
	return len(os.Args) > 0 && strings.HasSuffix(strings.TrimSuffix(os.Args[0], ".exe"), ".test")
}
