package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"

	"github.com/gantry-run/gantry/internal/fault"
)

// Line is one event as it stands in the file.
type Line struct {
	Seq      int64
	PrevHash string // the hash of the line before, empty for the first
	Hash     string
	Raw      []byte // the line's bytes without the newline; the caller's to keep, not to change
	Offset   int64  // where the line starts in the file
	End      int64  // where the next line starts
}

// Head returns the point after the line.
func (l Line) Head() Head { return Head{Seq: l.Seq, Hash: l.Hash, Size: l.End} }

const (
	seqKey  = `{"seq":`
	prevKey = `,"prev_hash":"`
	hashKey = `,"event_hash":"`
	closing = `"}`
	hashLen = 2 * sha256.Size
	// frame bounds what the journal adds to a body.
	frame = len(seqKey) + 20 + len(prevKey) + hashLen + 1 + len(hashKey) + hashLen + len(closing) + 1
)

// reserved are the member names that the journal writes itself.
var reserved = []string{"seq", "prev_hash", "event_hash"}

// checkBody refuses what would not become exactly one sound line.
func checkBody(body []byte) error {
	refuse := func(why string) error {
		return fault.New(fault.InvalidInput, "the event cannot be written: %s", why)
	}
	switch {
	case len(body)+frame > MaxLine:
		return refuse("it is longer than " + strconv.Itoa(MaxLine) + " bytes")
	case len(body) < len(`{"a":0}`) || body[0] != '{' || body[1] != '"' || body[len(body)-1] != '}':
		return refuse("it is not a compact JSON object with members")
	case bytes.IndexByte(body, '\n') >= 0:
		return refuse("it holds a newline")
	case !json.Valid(body):
		return refuse("it is not valid JSON")
	}
	if name := reservedMember(body); name != "" {
		return refuse("its member " + name + " is the journal's own")
	}
	return nil
}

// reservedMember returns the first reserved name among the object's own members.
// Decoding is spared for bodies that do not hold such a name at any depth.
func reservedMember(body []byte) string {
	for _, name := range reserved {
		if !bytes.Contains(body, []byte(`"`+name+`":`)) {
			continue
		}
		var members map[string]json.RawMessage
		if json.Unmarshal(body, &members) != nil {
			return name
		}
		if _, ok := members[name]; ok {
			return name
		}
	}
	return ""
}

// seal makes lines of bodies, chained onto head. It returns the head after them,
// the lines, and all their bytes.
func seal(head Head, bodies [][]byte) (Head, []Line, []byte) {
	size := 0
	for _, body := range bodies {
		size += len(body) + frame
	}
	buf := make([]byte, 0, size)
	lines := make([]Line, 0, len(bodies))
	for _, body := range bodies {
		start := len(buf)
		buf = append(buf, seqKey...)
		buf = strconv.AppendInt(buf, head.Seq+1, 10)
		buf = append(buf, ',')
		buf = append(buf, body[1:len(body)-1]...)
		buf = append(buf, prevKey...)
		buf = append(buf, head.Hash...)
		buf = append(buf, '"')
		hash := digest(buf[start:])
		buf = append(buf, hashKey...)
		buf = append(buf, hash...)
		buf = append(buf, closing...)
		raw := buf[start:len(buf):len(buf)]
		buf = append(buf, '\n')
		line := Line{
			Seq: head.Seq + 1, PrevHash: head.Hash, Hash: hash, Raw: raw,
			Offset: head.Size, End: head.Size + int64(len(raw)) + 1,
		}
		lines = append(lines, line)
		head = line.Head()
	}
	return head, lines, buf
}

// follow reads raw, a line without its newline, as the one that follows head. The
// second result says what is wrong with it, empty when nothing is.
func follow(head Head, raw []byte) (Line, string) {
	body, hash, ok := cutHash(raw)
	if !ok {
		return Line{}, "the line does not end in an event_hash"
	}
	if digest(body) != hash {
		return Line{}, "the event_hash is not that of the line"
	}
	prefix := seqKey + strconv.FormatInt(head.Seq+1, 10) + ","
	if !bytes.HasPrefix(body, []byte(prefix)) {
		return Line{}, "the sequence number does not follow the line before"
	}
	if !bytes.HasSuffix(body, []byte(prevKey+head.Hash+`"`)) {
		return Line{}, "the prev_hash is not the hash of the line before"
	}
	return Line{
		Seq: head.Seq + 1, PrevHash: head.Hash, Hash: hash, Raw: raw,
		Offset: head.Size, End: head.Size + int64(len(raw)) + 1,
	}, ""
}

// cutHash splits a line into what its hash covers and the hash.
func cutHash(raw []byte) (covered []byte, hash string, ok bool) {
	at := len(raw) - len(hashKey) - hashLen - len(closing)
	if at < 0 || !bytes.HasPrefix(raw[at:], []byte(hashKey)) || !bytes.HasSuffix(raw, []byte(closing)) {
		return nil, "", false
	}
	from := at + len(hashKey)
	return raw[:at], string(raw[from : from+hashLen]), true
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
