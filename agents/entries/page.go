package entries

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/gantry-run/gantry/internal/fault"
)

// Query says which entries are wanted. At most one of Before and After is set: with
// both it is an INVALID_INPUT fault.
type Query struct {
	Limit    int    // the most entries, at least 1
	MaxBytes int    // stop before the page is larger, but not before its first entry; 4 MiB when 0
	Before   *int64 // the newest entries with a lower index
	After    *int64 // the oldest entries with a higher index
}

// Page is a piece of a history, its entries in ascending order. Entries are never in two
// pages, and none is left out, when a reader follows NextCursor to the oldest or NextAfter
// to the newest.
type Page struct {
	Entries    []Item
	NextCursor *int64 // Before of the page that is older; nil when nothing older exists, or After was asked
	NextAfter  *int64 // After of what is newer, now or later; nil while there is no entry
	HasMore    bool   // in the direction that was asked: older, or newer with After
	Total      int64  // entries in the history
}

const defaultBytes = 4 << 20

// Page returns the newest entries, those before an index, or those after one. A turn that
// has no entries gives an empty page.
func (s *Store) Page(session, turn string, ch Channel, q Query) (Page, error) {
	if q.Before != nil && q.After != nil {
		return Page{}, fault.New(fault.InvalidInput, "give a cursor or an index to read after, not both")
	}
	base, err := s.base(session, turn, ch)
	if err != nil {
		return Page{}, err
	}
	if q.MaxBytes <= 0 {
		q.MaxBytes = defaultBytes
	}
	index, err := os.Open(base + indexName)
	if errors.Is(err, fs.ErrNotExist) {
		return Page{NextAfter: q.After}, nil
	}
	if err != nil {
		return Page{}, err
	}
	defer index.Close()
	data, err := os.Open(base + dataName)
	if err != nil {
		return Page{}, err
	}
	defer data.Close()
	return read(index, data, q)
}

func read(index, data *os.File, q Query) (Page, error) {
	total, err := whole(index, data)
	if err != nil {
		return Page{}, err
	}
	from, to := q.window(total)
	p := Page{Total: total, NextAfter: q.After}
	if from >= to {
		return p, nil
	}
	at, err := ends(index, from-1, to)
	if err != nil {
		return Page{}, err
	}
	skip := 0
	if q.After != nil {
		for n := len(at) - 1; n > 1 && at[n]-at[0] > int64(q.MaxBytes); n-- {
			at, to = at[:n], to-1
		}
	} else {
		for skip < len(at)-2 && at[len(at)-1]-at[skip] > int64(q.MaxBytes) {
			skip++
		}
	}
	at, from = at[skip:], from+int64(skip)
	if p.Entries, err = load(data, at, from); err != nil {
		return Page{}, err
	}
	last := to - 1
	p.NextAfter = &last
	if q.After != nil {
		p.HasMore = to < total
	} else if from > 0 {
		p.HasMore, p.NextCursor = true, &from
	}
	return p, nil
}

// window returns which entries are asked for, of so many.
func (q Query) window(total int64) (from, to int64) {
	limit := int64(max(q.Limit, 1))
	if q.After != nil {
		from = min(max(*q.After, -1), total) + 1
		return from, min(from+limit, total)
	}
	to = total
	if q.Before != nil {
		to = min(max(*q.Before, 0), total)
	}
	return max(0, to-limit), to
}

// load returns the entries between the offsets, the first of which has the index from.
func load(data io.ReaderAt, at []int64, from int64) ([]Item, error) {
	if !slices.IsSorted(at) {
		return nil, fault.New(fault.Internal, "the index of a turn's entries is broken")
	}
	b := make([]byte, at[len(at)-1]-at[0])
	if _, err := data.ReadAt(b, at[0]); err != nil {
		return nil, err
	}
	items := make([]Item, len(at)-1)
	for i := range items {
		line := b[at[i]-at[0] : at[i+1]-at[0]]
		items[i] = Item{from + int64(i), bytes.TrimSuffix(line, []byte{'\n'})}
	}
	return items, nil
}

// whole returns how many entries can be read. After a power cut the end of the index may
// speak of data that is not there, or be zeros, until somebody appends.
func whole(index, data *os.File) (int64, error) {
	i, err := index.Stat()
	if err != nil {
		return 0, err
	}
	d, err := data.Stat()
	if err != nil {
		return 0, err
	}
	total := i.Size() / offsetSize
	for total > 0 {
		at, err := ends(index, total-2, total)
		if err != nil {
			return 0, err
		}
		if at[0] < at[1] && at[1] <= d.Size() {
			break
		}
		total--
	}
	return total, nil
}
