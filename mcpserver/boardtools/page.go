package boardtools

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"github.com/gantry-run/gantry/board"
	"github.com/gantry-run/gantry/internal/fault"
)

// What results hold at most, in bytes of JSON.
const (
	listBytes    = 8_000  // a list, when the caller does not say
	historyBytes = 60_000 // a page of a history, or of changed files
)

// fitting returns how many of the items, from the first on, weigh at most so much; one
// always does.
func fitting[T any](items []T, bytes int) int {
	for i, item := range items {
		raw, err := json.Marshal(item)
		if bytes -= len(raw) + 1; err != nil || bytes < 0 {
			return max(i, 1)
		}
	}
	return len(items)
}

// paged returns the page of a list that follows the item whose name made the cursor, and
// the cursor of the next page. Without a limit the page weighs at most so many bytes.
func paged[T any](all []T, name func(T) string, limit int, cursor string, bytes int) ([]T, *string, error) {
	if cursor != "" {
		at := slices.IndexFunc(all, func(item T) bool { return mark(name(item)) == cursor })
		if at < 0 {
			return nil, nil, fault.New(fault.InvalidCursor, "the cursor does not belong to this list, or the list has changed")
		}
		all = all[at+1:]
	}
	if limit == 0 {
		limit = min(board.MaxPage, fitting(all, bytes))
	}
	if len(all) <= limit {
		return all, nil, nil
	}
	next := mark(name(all[limit-1]))
	return all[:limit], &next, nil
}

// mark is a short word for a name, of whatever length.
func mark(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:8])
}

// converted returns what items are on the wire; never nil, which would be null.
func converted[T, W any](items []T, wire func(T) W) []W {
	out := make([]W, len(items))
	for i, item := range items {
		out[i] = wire(item)
	}
	return out
}

// orNull returns null for an empty text.
func orNull[T ~string](text T) *T {
	if text == "" {
		return nil
	}
	return &text
}

// timeOrNull returns null for no time.
func timeOrNull(at *time.Time) *time.Time {
	if at == nil || at.IsZero() {
		return nil
	}
	utc := at.UTC()
	return &utc
}
