package launch

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/launch/taskcards"
)

// Cards is a page of the project's taskcards, with the files that cannot be read
// as one.
type Cards struct {
	Cards  []taskcards.Card
	Errors []taskcards.FileError
	Next   string // cursor of the next page; empty at the end
}

// Taskcards lists the taskcards under the root by number. The errors come with the
// first page.
func (s *Service) Taskcards(limit int, cursor string) (Cards, error) {
	cards, errors, err := taskcards.List(s.o.Root, s.o.Taskcards)
	if err != nil {
		return Cards{}, err
	}
	if cursor != "" {
		from, found := slices.BinarySearchFunc(cards, cursor, func(c taskcards.Card, id string) int {
			return cmp.Compare(number(c.ID), number(id))
		})
		if !found {
			return Cards{}, fault.New(fault.InvalidCursor, "the cursor does not belong to this list")
		}
		cards, errors = cards[from+1:], nil
	}
	out := Cards{Cards: cards, Errors: errors}
	if len(cards) > limit {
		out.Cards, out.Next = cards[:limit], cards[limit-1].ID
	}
	return out, nil
}

// number is that of a taskcard id; ids of the wrong form come first.
func number(id string) int {
	n, err := strconv.Atoi(id[min(len(id), len("TC-")):])
	if err != nil {
		return -1
	}
	return n
}

// CheckTaskcard runs every check on a taskcard, named by its id or by a path under
// the root.
func (s *Service) CheckTaskcard(ref string) (taskcards.Report, error) {
	return taskcards.Validate(s.o.Root, s.o.Taskcards, ref)
}
