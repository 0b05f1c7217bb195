package runs

import (
	"crypto/rand"
	"encoding/hex"
	"time"

	"github.com/gantry-run/gantry/internal/lazyregexp"
)

// NewUUID returns a fresh UUID of version 7: ids made in different milliseconds sort by
// time. It has the form of an [ID].
func NewUUID(now time.Time) string {
	var b [16]byte
	rand.Read(b[:]) // never fails: the runtime ends the program instead
	ms := uint64(now.UnixMilli())
	for i := range 6 {
		b[i] = byte(ms >> (40 - 8*i))
	}
	b[6] = b[6]&0x0f | 0x70
	b[8] = b[8]&0x3f | 0x80
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// IsUUID reports whether the text has the form of a UUID in lower case.
func IsUUID(text string) bool { return uuidForm.MatchString(text) }

var uuidForm = lazyregexp.New(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
