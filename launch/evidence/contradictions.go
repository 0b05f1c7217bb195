package evidence

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gantry-run/gantry/internal/lazyregexp"
	"github.com/gantry-run/gantry/launch/dossier"
)

// statement is a value that more than one source may state.
type statement struct {
	subject    string // "license", "version .", "runtime Python"
	value      string
	claim      string
	sourceType string
}

func (g *gatherer) record(subject, value, claim, sourceType string) {
	g.statements = append(g.statements, statement{subject, value, claim, sourceType})
}

// compare records the statements about one subject that cannot both hold. The
// source of higher authority wins; between equals nothing does.
func (g *gatherer) compare(context.Context) {
	g.readmeRuntimes()
	for i, a := range g.statements {
		for _, b := range g.statements[i+1:] {
			if a.subject == b.subject && a.claim != b.claim && !agree(a, b) {
				g.contradict(a, b)
			}
		}
	}
	slices.SortFunc(g.conflicts, func(a, b dossier.Contradiction) int {
		return cmp.Or(cmp.Compare(a.ClaimA, b.ClaimA), cmp.Compare(a.ClaimB, b.ClaimB))
	})
	g.conflicts = slices.Compact(g.conflicts)
}

func (g *gatherer) contradict(a, b statement) {
	c := dossier.Contradiction{ClaimA: a.claim, ClaimB: b.claim, Resolution: "unresolved"}
	switch rank := authority(a.sourceType) - authority(b.sourceType); {
	case rank < 0:
		c.Resolution, c.Winner = "prefer_higher_priority", a.claim
	case rank > 0:
		c.Resolution, c.Winner = "prefer_higher_priority", b.claim
	}
	if c.ClaimA > c.ClaimB {
		c.ClaimA, c.ClaimB = c.ClaimB, c.ClaimA
	}
	g.conflicts = append(g.conflicts, c)
}

// agree reports whether two values say the same. A GPL text does not say
// "only" or "or later", so it agrees with both.
func agree(a, b statement) bool {
	x, y := strings.ToLower(a.value), strings.ToLower(b.value)
	switch {
	case x == y:
		return true
	case a.subject == "license":
		suffix := func(s string) string { return strings.TrimSuffix(strings.TrimSuffix(s, "-only"), "-or-later") }
		for _, other := range []string{" or ", " and ", "see license", "/", "file:"} {
			if strings.Contains(x, other) || strings.Contains(y, other) {
				return true // an expression of several: one file holds one of them
			}
		}
		return suffix(x) == suffix(y)
	case strings.HasPrefix(a.subject, "runtime"):
		return sameVersion(x, y)
	}
	return strings.TrimPrefix(x, "v") == strings.TrimPrefix(y, "v")
}

// sameVersion compares two dotted numbers, missing parts being zero.
func sameVersion(a, b string) bool {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	for i := range max(len(x), len(y)) {
		var m, n int
		if i < len(x) {
			m, _ = strconv.Atoi(x[i])
		}
		if i < len(y) {
			n, _ = strconv.Atoi(y[i])
		}
		if m != n {
			return false
		}
	}
	return true
}

var minimumVersion = lazyregexp.New(`(?i)\b(Python|Node(?:\.?js)?|Go|Java|PHP|Ruby|Rust) (?:version )?v?(\d+(?:\.\d+)*)(?:\+|,? (?:or|and) (?:higher|later|newer|above|up|greater))`)

// runtimeVersion reads "Python 3.9 or later".
func runtimeVersion(value string) (name, version string) {
	if m := minimumVersion.FindStringSubmatch(value); m != nil {
		name = m[1]
		if strings.HasPrefix(strings.ToLower(name), "node") {
			name = "Node.js"
		}
		return strings.ToLower(name), m[2]
	}
	return "", ""
}

// readmeRuntimes records the minimum versions that claims of the README name.
func (g *gatherer) readmeRuntimes() {
	for _, claim := range g.claims.order {
		source := claim.Citations[0].SourceType
		if claim.Kind != kindCompatibility || source == fromManifest || source == fromDoc || source == fromAPIDoc {
			continue
		}
		if name, version := runtimeVersion(plainText(claim.Text)); version != "" {
			g.confirmRuntime("runtime "+name, version, claim)
			g.record("runtime "+name, version, claim.ID, source)
		}
	}
}

const maxRepeat = 60 // characters of a sentence that says no more than its version

// confirmRuntime adds the README's lines to the claim of a manifest that states the
// same minimum version, so that it is told once.
func (g *gatherer) confirmRuntime(subject, version string, claim *dossier.Claim) {
	for _, s := range g.statements {
		if s.subject == subject && s.sourceType == fromManifest && sameVersion(s.value, version) && utf8.RuneCountInString(plainText(claim.Text)) <= maxRepeat {
			g.claims.cite(s.claim, claim.Citations[0])
			g.repeats[claim.ID] = true
		}
	}
}
