package outbox

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// box is the path of an outbox. Who changes the file holds its lock, and has looked that
// the path still leads to it.
type box string

// add appends lines. When the file would be longer than most, its oldest lines go, a
// tenth of it at least; gone is how many.
func (b box) add(lines [][]byte, most int64) (gone int, err error) {
	f, err := b.open(os.O_CREATE)
	if err != nil {
		return 0, err
	}
	defer unlock(f)
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	text := append(bytes.Join(lines, newline), '\n')
	if torn(f, info.Size()) {
		text = append([]byte{'\n'}, text...)
	}
	if info.Size()+int64(len(text)) <= most {
		_, err = f.Write(text)
		return 0, err
	}
	all, err := io.ReadAll(io.NewSectionReader(f, 0, info.Size()))
	if err != nil {
		return 0, err
	}
	keep := append(split(all), lines...)
	size := len(all) + len(text)
	for len(keep) > 0 && int64(size) > most-most/10 {
		size -= len(keep[0]) + 1
		keep = keep[1:]
		gone++
	}
	return gone, b.replace(keep)
}

// lines returns the lines of the outbox, the oldest first. There are none if there is no
// file.
func (b box) lines() ([][]byte, error) {
	f, err := b.open(0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer unlock(f)
	all, err := io.ReadAll(f)
	return split(all), err
}

// remove takes lines away, and the file with the last of them.
func (b box) remove(done map[string]bool) error {
	if len(done) == 0 {
		return nil
	}
	f, err := b.open(0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unlock(f)
	all, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	var keep [][]byte
	for _, line := range split(all) {
		if !done[string(line)] {
			keep = append(keep, line)
		}
	}
	return b.replace(keep)
}

// replace makes the lines the content of the file, whose lock is held.
func (b box) replace(lines [][]byte) error {
	if len(lines) == 0 {
		return os.Remove(string(b))
	}
	aside := string(b) + ".new"
	if err := os.WriteFile(aside, append(bytes.Join(lines, newline), '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(aside, string(b))
}

// open opens and locks the file. A link is not followed.
func (b box) open(flag int) (*os.File, error) {
	for {
		f, err := os.OpenFile(string(b), flag|os.O_RDWR|os.O_APPEND|syscall.O_NOFOLLOW, 0o600)
		if err != nil {
			return nil, err
		}
		if err := flock(f, unix.LOCK_EX); err != nil {
			f.Close()
			return nil, err
		}
		is, err := os.Lstat(string(b))
		was, statErr := f.Stat()
		if err == nil && statErr == nil && os.SameFile(is, was) {
			return f, nil
		}
		unlock(f) // it was replaced while we waited
	}
}

// flock locks a file; a signal does not end the wait.
func flock(f *os.File, how int) error {
	for {
		if err := unix.Flock(int(f.Fd()), how); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// unlock unlocks before it closes: a child that is being started may have a copy of the
// file for a moment.
func unlock(f *os.File) {
	_ = unix.Flock(int(f.Fd()), unix.LOCK_UN)
	f.Close()
}

// torn reports whether the last line of a file was not written whole.
func torn(f *os.File, size int64) bool {
	last := []byte{'\n'}
	if size > 0 {
		if _, err := f.ReadAt(last, size-1); err != nil {
			return false
		}
	}
	return last[0] != '\n'
}

var newline = []byte("\n")

// split returns the lines of a text without the empty ones.
func split(text []byte) (lines [][]byte) {
	for line := range bytes.SplitSeq(text, newline) {
		if len(line) > 0 {
			lines = append(lines, line)
		}
	}
	return lines
}
