package inventory

import (
	"path"
	"strings"

	"github.com/gantry-run/gantry/internal/lazyregexp"
	"github.com/gantry-run/gantry/launch/dossier"
)

const maxPhantoms = 200

// claimedPath matches a path into an example or document folder that a text
// names. What stands before it must not make it part of a URL or a longer path.
var claimedPath = lazyregexp.New("(?:^|[\\s\"'`(\\[<])(?:\\./|/)?((?:examples?|samples?|demos?|docs?|documentation)/[A-Za-z0-9_.\\-/]+)")

// phantomPaths lists the paths that documents name and the tree lacks.
func (t *tree) phantomPaths() []dossier.PhantomPath {
	phantoms := []dossier.PhantomPath{}
	for _, file := range t.files {
		if file.Role != roleDoc || file.Size > readLimit {
			continue
		}
		data, err := t.read(file.Path)
		if err != nil {
			continue
		}
		phantoms = append(phantoms, t.phantomsIn(file.Path, string(data))...)
		if len(phantoms) >= maxPhantoms {
			return phantoms[:maxPhantoms]
		}
	}
	return phantoms
}

// phantomsIn names each missing path of one text once, at its first line.
func (t *tree) phantomsIn(source, text string) []dossier.PhantomPath {
	var phantoms []dossier.PhantomPath
	seen := map[string]bool{}
	line := 0
	for raw := range strings.Lines(text) {
		line++
		for _, match := range claimedPath.FindAllStringSubmatch(raw, 20) {
			claimed := strings.TrimRight(match[1], "./-")
			if seen[claimed] || t.exists(claimed) || t.exists(path.Join(parent(source), claimed)) {
				continue
			}
			seen[claimed] = true
			phantoms = append(phantoms, dossier.PhantomPath{ClaimedPath: claimed, SourceFile: source, Line: line})
		}
	}
	return phantoms
}

// exists reports whether the tree has a file or a folder of that path.
func (t *tree) exists(name string) bool {
	name = path.Clean(name)
	_, file := t.byPath[name]
	return file || t.dirs[name]
}
