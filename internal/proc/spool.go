package proc

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// spoolFolder holds the output of a process, and errorsFolder its errors if they are
// apart.
//
// It is a row of files, each named by the offset of its first byte in the whole
// output and by the lines that began and ended before it. The writer appends to the
// last one, begins another when that is full and removes the first when the others
// hold enough. So offsets are stable, the disk and the memory are bounded however
// much is written, and any process can read what is there without asking. Files
// need not meet: bytes that could not be written leave a gap.
const (
	spoolFolder  = "output"
	errorsFolder = "errors"
	largestFile  = 16 << 20 // of the row
)

// segment is one file of the row.
type segment struct {
	base  int64 // offset of its first byte
	lines int64 // newlines before it
}

func (g segment) path(dir string) string {
	return filepath.Join(dir, fmt.Sprintf("%016x-%012x", g.base, g.lines))
}

// segments lists the row, in order. Files of other names are not of it.
func segments(dir string) ([]segment, error) {
	entries, err := os.ReadDir(dir)
	if os.IsNotExist(err) {
		return nil, nil
	}
	var row []segment
	for _, e := range entries {
		var g segment
		if n, err := fmt.Sscanf(e.Name(), "%x-%x", &g.base, &g.lines); n == 2 && err == nil && strings.HasSuffix(g.path(dir), e.Name()) {
			row = append(row, g)
		}
	}
	slices.SortFunc(row, func(a, b segment) int { return int(min(max(a.base-b.base, -1), 1)) })
	return row, err
}

// spool writes a row of files. It never fails: what cannot be written is a gap.
type spool struct {
	dir   string
	keep  int64 // bytes kept at least
	size  int64 // of one file
	row   []segment
	file  *os.File // the last of the row, nil when it could not be made
	at    int64    // offset of the next byte
	lines int64    // newlines so far
}

// openSpool opens the row in dir, and goes on behind what is there.
func openSpool(dir string, keep int64) (*spool, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	row, err := segments(dir)
	if err != nil {
		return nil, err
	}
	s := &spool{dir: dir, keep: keep, size: min(max(keep/4, 1), largestFile), row: row}
	if len(row) > 0 {
		last := row[len(row)-1]
		b, err := os.ReadFile(last.path(dir))
		if err != nil {
			return nil, err
		}
		s.at, s.lines = last.base+int64(len(b)), last.lines+int64(bytes.Count(b, newline))
		if len(b) == 0 {
			s.row = row[:len(row)-1]
		}
	}
	return s, s.begin()
}

var newline = []byte{'\n'}

// begin begins the next file, and removes those that are not needed any more.
func (s *spool) begin() error {
	if s.file != nil {
		s.file.Close()
	}
	next := segment{s.at, s.lines}
	var err error
	if s.file, err = os.OpenFile(next.path(s.dir), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600); err != nil {
		s.file = nil
		return err
	}
	s.row = append(s.row, next)
	for len(s.row) > 1 && s.at-s.row[1].base >= s.keep {
		os.Remove(s.row[0].path(s.dir))
		s.row = s.row[1:]
	}
	return nil
}

// Write takes all of b.
func (s *spool) Write(b []byte) (int, error) {
	all := len(b)
	for len(b) > 0 {
		if s.file == nil || s.at-s.row[len(s.row)-1].base >= s.size {
			s.begin()
		}
		part := b
		if s.file != nil {
			part = b[:min(int64(len(b)), s.size-(s.at-s.row[len(s.row)-1].base))]
			if _, err := s.file.Write(part); err != nil {
				s.file.Close()
				s.file = nil // the next file begins behind the gap
			}
		}
		s.at += int64(len(part))
		s.lines += int64(bytes.Count(part, newline))
		b = b[len(part):]
	}
	return all, nil
}

// Close closes the last file.
func (s *spool) Close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}
