package board

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/runs"
)

// after is a place in a list that is ordered by time, the newest first, then by id.
type after struct {
	at int64
	id string
}

// where returns the condition of what comes after the place, empty for the beginning.
func (p after) where(id string) (string, []any) {
	if p.id == "" {
		return "", nil
	}
	return ` AND created_at <= ? AND (created_at < ? OR ` + id + ` > ?)`, []any{p.at, p.at, p.id}
}

// cursor writes the place down for the list that the parts name, so that it cannot be
// carried to another.
func (p after) cursor(list ...string) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%s.%d.%s", fingerprint(list), p.at, p.id))
}

// place reads a cursor; the empty one is the beginning.
func place(cursor string, list ...string) (after, error) {
	if cursor == "" {
		return after{}, nil
	}
	plain, err := base64.RawURLEncoding.DecodeString(cursor)
	parts := strings.SplitN(string(plain), ".", 3)
	if err == nil && len(parts) == 3 && parts[0] == fingerprint(list) && runs.IsUUID(parts[2]) {
		if at, err := strconv.ParseInt(parts[1], 10, 64); err == nil {
			return after{at, parts[2]}, nil
		}
	}
	return after{}, fault.New(fault.InvalidCursor, "the cursor does not belong to this list")
}

func fingerprint(list []string) string {
	sum := sha256.Sum256([]byte(strings.Join(list, "\x00")))
	return hex.EncodeToString(sum[:6])
}
