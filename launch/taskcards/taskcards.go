// Package taskcards lists and checks the taskcards of a project.
//
// A taskcard is a Markdown file plans/taskcards/TC-<number>….md that says what one
// piece of work may touch and how one sees that it is done. Its front matter is for
// programs, its sections are for whoever does the work. List reads the first,
// Validate checks both: each rule is one check with a name, a sentence and a line.
//
// Files are opened through os.Root, so that no link or ".." leads out of the
// project, and at most MaxSize bytes of each are read. Nothing is written.
package taskcards

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/lazyregexp"
)

// MaxSize is the largest taskcard that is read, in bytes.
const MaxSize = 1 << 20

// Card is what a list shows of a taskcard.
type Card struct {
	ID     string
	Title  string // at most 300 characters; empty if the card has none
	Status string // as the card says, at most 64 characters
	Path   string // relative to the root, with forward slashes
}

// FileError is a file that is called like a taskcard and cannot be read as one.
type FileError struct {
	Path    string // relative to the root, with forward slashes
	Message string
}

var (
	cardID   = lazyregexp.New(`^TC-[0-9]{1,9}$`)
	cardFile = lazyregexp.New(`^(TC-[0-9]+).*\.md$`)
)

// List returns the taskcards in a folder under dir, by number, and the files that
// are none though their names say so, by number too. A folder that does not exist
// has no cards. The error is POLICY_PATH_ESCAPE if the folder leads out of dir.
func List(dir, folder string) ([]Card, []FileError, error) {
	root, err := openRoot(dir)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	names, err := cardFiles(root, folder)
	if err != nil {
		return nil, nil, err
	}
	var cards []Card
	var bad []FileError
	for _, name := range names {
		c, why := readCard(root, name)
		if why != "" {
			bad = append(bad, FileError{strings.ToValidUTF8(name, "?"), why})
			continue
		}
		cards = append(cards, c)
	}
	return cards, bad, nil
}

// readCard reads what a list shows, or says why it cannot.
func readCard(root *os.Root, name string) (Card, string) {
	src, err := read(root, name)
	if err != nil {
		return Card{}, message(err)
	}
	if why, _ := badText(src); why != "" {
		return Card{}, why
	}
	f := readFront(src)
	if f.why != "" {
		return Card{}, "No valid YAML frontmatter found: " + f.why
	}
	id, ok := f.field("id")
	switch {
	case !ok:
		return Card{}, "Missing required field: id"
	case !cardID.MatchString(id.text):
		return Card{}, "the id is not TC- and up to nine digits"
	case !namedAfter(name, id.text):
		return Card{}, "the id is " + id.text + ", and the file is named after another"
	}
	title, _ := f.field("title")
	status, _ := f.field("status")
	return Card{ID: id.text, Title: clip(title.text, 300), Status: clip(status.text, 64), Path: strings.ToValidUTF8(name, "?")}, ""
}

// cardFiles returns the paths of the files that are called like taskcards, by
// number and then by name.
func cardFiles(root *os.Root, folder string) ([]string, error) {
	folder = path.Clean(folder)
	if !fs.ValidPath(folder) {
		return nil, escape(nil)
	}
	entries, err := fs.ReadDir(root.FS(), folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil && escapes(err):
		return nil, escape(err)
	case err != nil:
		return nil, fault.New(fault.Internal, "the folder of the taskcards cannot be read").Because(err)
	}
	var names []string
	for _, e := range entries {
		if cardFile.MatchString(e.Name()) {
			names = append(names, path.Join(folder, e.Name()))
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(compareNumbers(idOf(a), idOf(b)), cmp.Compare(a, b))
	})
	return names, nil
}

// idOf returns the id that a file is named after, or "".
func idOf(name string) string {
	if m := cardFile.FindStringSubmatch(path.Base(name)); m != nil {
		return m[1]
	}
	return ""
}

// namedAfter reports whether a file is named after the card: TC-100_x.md is not
// named after TC-10.
func namedAfter(name, id string) bool { return id != "" && idOf(name) == id }

// compareNumbers compares ids as numbers of any length.
func compareNumbers(a, b string) int {
	a, b = strings.TrimLeft(strings.TrimPrefix(a, "TC-"), "0"), strings.TrimLeft(strings.TrimPrefix(b, "TC-"), "0")
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}

// clip cuts a text to at most n characters, all of which print on one line.
func clip(text string, n int) string {
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
	runes := []rune(strings.Join(strings.Fields(text), " "))
	return string(runes[:min(len(runes), n)])
}
