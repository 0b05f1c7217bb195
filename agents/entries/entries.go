// Package entries stores what happened in the turns of a session.
//
// A turn has a channel of normalized entries and one of raw ones. Each is a row of
// entries, numbered from 0 without gaps, that only grows. On disk it is two files
// under <dir>/<session>/<turn>: the entries as lines of JSON, and an index with, for
// each entry, the offset behind it in eight bytes. So the number of entries is the
// size of the index, any entry is found with one seek, and a page costs the same at
// the start and at the end of a million.
//
// One process appends ([Store.Append]), any number read meanwhile, without locks: an
// entry counts when its index is there, and its line is written before. After a crash
// or a power cut the next one that appends repairs the end: lines that are whole are
// indexed, the rest is cut off. What was cut off is not lost to the session, which
// reads the process's output again.
package entries

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gantry-run/gantry/agents"
	"github.com/gantry-run/gantry/internal/fault"
)

// Channel is one of the two histories of a turn.
type Channel string

// The channels.
const (
	Normalized Channel = "normalized" // what happened, in the model that all agents share
	Raw        Channel = "raw"        // the lines that the process wrote
)

// Store keeps the entries of all sessions. It may be used from many goroutines and
// processes.
type Store struct{ dir string }

// New returns the store in a folder, which is made with its first entry.
func New(dir string) *Store { return &Store{dir} }

// Item is an entry in its place.
type Item struct {
	Index int64           `json:"entry_index"` // from 0, in its turn and channel
	Entry json.RawMessage `json:"entry"`       // an [agents.Entry]
}

// Decode returns the entry.
func (i Item) Decode() (e agents.Entry, err error) {
	err = json.Unmarshal(i.Entry, &e)
	return e, err
}

// The widths of the files.
const (
	offsetSize = 8
	dataName   = ".ndjson"
	indexName  = ".index"
)

// base returns the path of a channel's files, without their endings.
func (s *Store) base(session, turn string, ch Channel) (string, error) {
	if !named(session) || !named(turn) || ch != Normalized && ch != Raw {
		return "", fault.New(fault.InvalidInput, "there is no such session, turn or channel")
	}
	return filepath.Join(s.dir, session, turn, string(ch)), nil
}

// named reports whether a name is one folder's.
func named(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-') {
			return false
		}
	}
	return s != "" && len(s) <= 128
}

// Count returns how many entries there are, 0 for a turn that has none.
func (s *Store) Count(session, turn string, ch Channel) (int64, error) {
	base, err := s.base(session, turn, ch)
	if err != nil {
		return 0, err
	}
	info, err := os.Stat(base + indexName)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return info.Size() / offsetSize, nil
}

// Remove removes all entries of a session. Nobody may append to it meanwhile.
func (s *Store) Remove(session string) error {
	if !named(session) {
		return fault.New(fault.InvalidInput, "there is no such session")
	}
	return os.RemoveAll(filepath.Join(s.dir, session))
}

// ends reads the offsets behind the entries from one index up to another. from may be
// -1, behind which the first entry begins.
func ends(index io.ReaderAt, from, to int64) ([]int64, error) {
	out := make([]int64, 0, to-from)
	if from < 0 {
		out = append(out, 0)
		from = 0
	}
	b := make([]byte, (to-from)*offsetSize)
	if _, err := index.ReadAt(b, from*offsetSize); err != nil {
		return nil, err
	}
	for ; len(b) > 0; b = b[offsetSize:] {
		out = append(out, int64(binary.LittleEndian.Uint64(b)))
	}
	return out, nil
}
