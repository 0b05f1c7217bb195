package worktree

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"unicode/utf8"

	"github.com/gantry-run/gantry/internal/fault"
)

const (
	// MaxBytes is how much of a file is looked at: what comes after is not counted and
	// not returned.
	MaxBytes = 10 << 20
	// DefaultBytes is how much is returned to a caller that does not say how much.
	DefaultBytes = 64 << 10
)

// Slice says which lines of a file to return.
type Slice struct {
	Offset int64 // lines to pass over
	Limit  int64 // lines; 0: as many whole ones as fit into [DefaultBytes], at least one
}

// Content is a part of a file.
type Content struct {
	Path      string // relative to the root, links followed, slash separated
	Data      []byte
	Text      bool  // the file is UTF-8, as far as it was looked at
	Size      int64 // of the file, in bytes
	Lines     int64 // in the first [MaxBytes] of the file; a last line without a newline counts
	Truncated bool  // there is more of the file than Data
	Next      int64 // offset of the line after the last one, 0 when no line follows
}

// ReadFile returns lines of a file, as they are. A file larger than [MaxBytes] is cut
// there, and so is, where no limit is given, a line longer than [DefaultBytes].
//
// Faults: PATH_OUTSIDE_ROOT, NOT_FOUND, IS_DIRECTORY, NOT_REGULAR, SECRET_FILE,
// NAME_TOO_LONG, TOO_MANY_LINKS, ACCESS_DENIED, INVALID_INPUT.
func (t *Tree) ReadFile(path string, s Slice) (Content, error) {
	rel, data, size, err := t.load(path, MaxBytes)
	if err != nil {
		return Content{}, err
	}
	c := Content{Path: filepath.ToSlash(rel), Size: size, Lines: lines(data), Text: text(data, size > int64(len(data)))}
	c.cut(data, s)
	return c, nil
}

// load returns the first bytes of a regular file, and how large it is.
func (t *Tree) load(path string, most int64) (rel string, data []byte, size int64, err error) {
	root, err := t.open()
	if err != nil {
		return "", nil, 0, err
	}
	defer root.Close()
	rel, info, err := t.resolve(root, path)
	if err != nil {
		return "", nil, 0, err
	}
	if err := t.mayRead(path, rel, info); err != nil {
		return "", nil, 0, err
	}
	// Not blocking, since a pipe may be there by now; and no link, for its name was judged.
	f, err := root.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return "", nil, 0, failure(err)
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return "", nil, 0, err
	}
	if err := t.mayRead(path, rel, info); err != nil {
		return "", nil, 0, err
	}
	data = make([]byte, min(info.Size(), most))
	n, err := io.ReadFull(f, data)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return "", nil, 0, failure(err)
	}
	return rel, data[:n], info.Size(), nil
}

// mayRead refuses what is no regular file, and what looks secret by the name that it was
// asked for or by its own.
func (t *Tree) mayRead(asked, rel string, info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return fault.New(fault.IsDirectory, "it is a folder")
	case !info.Mode().IsRegular():
		return fault.New(fault.NotRegular, "it is a pipe, a device or a socket")
	case !t.o.AllowSecrets && (secret(rel) || secret(asked)):
		return fault.New(fault.SecretFile, "the file looks as if it held secrets")
	}
	return nil
}

// cut takes the lines that were asked for.
func (c *Content) cut(data []byte, s Slice) {
	from := after(data, s.Offset)
	rest := data[from:]
	var end int
	switch {
	case s.Limit > 0:
		end = after(rest, s.Limit)
	case len(rest) <= DefaultBytes:
		end = len(rest)
	default:
		if end = bytes.LastIndexByte(rest[:DefaultBytes], '\n') + 1; end == 0 {
			end = DefaultBytes
			if c.Text {
				end = boundary(rest, end)
			}
		}
	}
	c.Data = rest[:end]
	c.Truncated = end < len(rest) || c.Size > int64(len(data))
	if next := s.Offset + lines(c.Data); end < len(rest) && next < c.Lines {
		c.Next = next
	}
}

// after returns where the line after n lines begins, or the end.
func after(data []byte, n int64) (at int) {
	for ; n > 0 && at < len(data); n-- {
		i := bytes.IndexByte(data[at:], '\n')
		if i < 0 {
			return len(data)
		}
		at += i + 1
	}
	return at
}

// lines counts lines; a last one without a newline counts.
func lines(data []byte) int64 {
	n := int64(bytes.Count(data, []byte{'\n'}))
	if len(data) > 0 && data[len(data)-1] != '\n' {
		n++
	}
	return n
}

// text reports whether data is UTF-8 without NUL. The end of a part may be amid a
// character.
func text(data []byte, part bool) bool {
	if part {
		data = data[:boundary(data, len(data))]
	}
	return utf8.Valid(data) && bytes.IndexByte(data, 0) < 0
}

// boundary returns the last place up to end where a character begins or ends.
func boundary(data []byte, end int) int {
	at := end
	for i := 1; i < utf8.UTFMax && i <= end; i++ {
		if b := data[end-i]; utf8.RuneStart(b) {
			if !utf8.FullRune(data[end-i : end]) {
				at = end - i
			}
			break
		}
	}
	return at
}
