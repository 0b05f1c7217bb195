package gates

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/gantry-run/gantry/launch/page"
)

// maxSearches is for how many broken links of a site the nearest page is looked for.
const maxSearches = 200

// nearest returns the destination that a broken link was most likely meant for:
// the page whose address needs the fewest edits, counted within path segments,
// and at most a third of the address; of equals the first. It is written as an
// address from the root, or for a ref as a path. Images have none.
func (x *siteIndex) nearest(p *page.Page, l page.Link, t target) string {
	if l.Image || x.searches >= maxSearches {
		return ""
	}
	x.searches++
	wanted := t.path
	if t.relative && !l.IsRef {
		wanted = path.Join(path.Dir(x.urlOf(p.Path)), strings.TrimSuffix(t.path, path.Ext(t.path)))
	}
	if l.IsRef {
		wanted = strings.TrimSuffix(wanted, ".md")
	}
	segments := split(wanted)
	if len(segments) == 0 {
		return ""
	}
	best, limit := "", len(strings.Join(segments, ""))/3+1
	if x.addresses == nil { // complete by now: front matter was read before a link was found broken
		x.addresses = slices.Sorted(maps.Keys(x.byURL))
	}
	for _, address := range x.addresses {
		file := x.byURL[address]
		if !isMarkdown(file) || file == p.Path || path.Base(address) == "index.xml" {
			continue
		}
		if d := segmentDistance(segments, split(address), limit); d < limit {
			best, limit = address, d
		}
	}
	if best == "" {
		return ""
	}
	if l.IsRef {
		return "/" + strings.TrimPrefix(x.byURL[best], x.in.contentRoot()+"/")
	}
	return best + "/"
}

func split(address string) []string {
	return strings.FieldsFunc(strings.ToLower(address), func(r rune) bool { return r == '/' })
}

// segmentDistance aligns two lists of path segments: a segment costs its edits,
// one that is missing on a side its length. It gives up above the limit.
func segmentDistance(a, b []string, limit int) int {
	if len(a) > 32 || len(b) > 32 {
		return limit
	}
	row := make([]int, len(b)+1)
	for j := range b {
		row[j+1] = row[j] + len(b[j])
	}
	for _, s := range a {
		diagonal := row[0]
		row[0] += len(s)
		least := row[0]
		for j, other := range b {
			change := diagonal + distance(s, other)
			diagonal = row[j+1]
			row[j+1] = min(change, row[j+1]+len(s), row[j]+len(other))
			least = min(least, row[j+1])
		}
		if least >= limit {
			return limit
		}
	}
	return row[len(b)]
}

// distance is the number of bytes to insert, delete or replace to turn a into b,
// at most 256 bytes of each.
func distance(a, b string) int {
	a, b = a[:min(len(a), 256)], b[:min(len(b), 256)]
	if a == b {
		return 0
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
