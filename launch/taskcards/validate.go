package taskcards

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/validate"
)

// Report says whether a taskcard obeys every check.
type Report struct {
	ID     string // empty if the card states none; at most 64 characters
	Valid  bool
	Errors []Error // by line, check and message; at most MaxErrors
}

// Error is one thing that is wrong with a taskcard.
type Error struct {
	Check   string // name of the check, as checks.go lists them
	Message string // at most 500 characters
	Line    int    // from 1; 0 is the whole file
}

// MaxErrors bounds a report.
const MaxErrors = 200

// Validate checks a taskcard under dir: the one with the id ref (TC-12) in folder,
// or the file at the path ref. What is wrong with the card is in the report. The
// error is TASKCARD_NOT_FOUND, POLICY_PATH_ESCAPE for a path that leads out of dir,
// or INVALID_INPUT for one that cannot be a path.
func Validate(dir, folder, ref string) (Report, error) {
	root, err := openRoot(dir)
	if err != nil {
		return Report{}, err
	}
	defer root.Close()
	name, err := locate(root, folder, ref)
	if err != nil {
		return Report{}, err
	}
	src, err := read(root, name)
	switch {
	case errors.Is(err, errTooLarge):
		return report("", []Error{{checkSize, err.Error(), 0}}), nil
	case err != nil && escapes(err):
		return Report{}, escape(err)
	case err != nil:
		return Report{}, notFound(message(err)).Because(err)
	}
	others, err := sameID(root, folder, name)
	if err != nil {
		return Report{}, err
	}
	return check(name, src, others), nil
}

// locate finds the file that a reference means.
func locate(root *os.Root, folder, ref string) (string, error) {
	if !cardID.MatchString(ref) {
		if !filepath.IsLocal(ref) {
			return "", escape(nil)
		}
		name := path.Clean(ref)
		return name, validate.RelPath(name)
	}
	names, err := cardFiles(root, folder)
	if err != nil {
		return "", err
	}
	for _, name := range names {
		if namedAfter(name, ref) {
			return name, nil
		}
	}
	return "", notFound("no file in the folder of the taskcards is named after the id")
}

// sameID returns the other files in the folder that are named after the card's id.
func sameID(root *os.Root, folder, name string) ([]string, error) {
	names, err := cardFiles(root, folder)
	if err != nil || path.Clean(folder) != path.Dir(name) {
		return nil, err
	}
	return slices.DeleteFunc(names, func(other string) bool { return other == name || !namedAfter(other, idOf(name)) }), nil
}

func notFound(why string) *fault.Fault {
	return fault.New(fault.TaskcardNotFound, "there is no such taskcard: %s", why).
		WithHint("list_taskcards shows the ids and paths")
}

// check runs every check on a card.
func check(name string, src []byte, others []string) Report {
	if why, line := badText(src); why != "" {
		return report("", []Error{{checkEncoding, why, line}})
	}
	c := card{name: name, front: readFront(src), others: others}
	c.sections = sectionsOf(src, c.front.body)
	for _, run := range checks {
		run(&c)
	}
	id, _ := c.front.field("id")
	return report(clip(id.text, 64), c.errors)
}

// card is a taskcard under check.
type card struct {
	name     string
	front    front
	sections map[string]section
	others   []string // files with the same id
	errors   []Error
}

// fail records what is wrong.
func (c *card) fail(check string, line int, format string, args ...any) {
	c.errors = append(c.errors, Error{check, clip(fmt.Sprintf(format, args...), 500), line})
}

func report(id string, errs []Error) Report {
	slices.SortFunc(errs, func(a, b Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Check, b.Check), cmp.Compare(a.Message, b.Message))
	})
	errs = slices.Compact(errs)
	return Report{ID: id, Valid: len(errs) == 0, Errors: errs[:min(len(errs), MaxErrors)]}
}
