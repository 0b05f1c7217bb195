package taskstore

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gantry-run/gantry/agents"
)

// LogSize returns how many whole lines a task's log has, and their bytes. A log that is
// not there has none.
func (s Store) LogSize(f Found) (lines, size int64, err error) {
	err = s.eachLine(f, func(line agents.Line) bool {
		lines++
		size += line.Size
		return true
	})
	return lines, size, err
}

// Lines returns lines of a task's log: at most limit, from a line on, counted from 0. Of a
// longer line than maxLine it returns the beginning.
func (s Store) Lines(f Found, from int64, limit int) (out []string, err error) {
	at := int64(0)
	err = s.eachLine(f, func(line agents.Line) bool {
		if at >= from && len(out) < limit {
			out = append(out, string(line.Data[:min(len(line.Data), maxLine)]))
		}
		at++
		return len(out) < limit
	})
	return out, err
}

// maxLine is how much of a line is read, in bytes.
const maxLine = 1 << 20

// eachLine calls line with each whole line until it returns false.
func (s Store) eachLine(f Found, line func(agents.Line) bool) error {
	file, err := os.Open(filepath.Join(s.root, f.Folder, logName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return err
	}
	var lines agents.Lines
	for chunk := make([]byte, 64<<10); ; {
		n, err := file.Read(chunk)
		if err == io.EOF {
			return nil // an unfinished line is none yet
		}
		if err == nil {
			err = lines.Feed(chunk[:n], func(l agents.Line) error {
				if !line(l) {
					return errEnough
				}
				return nil
			})
		}
		if err != nil && !errors.Is(err, errEnough) {
			return err
		}
		if err != nil {
			return nil
		}
	}
}

var errEnough = errors.New("enough")

// Log writes the log of one task. It is used by one goroutine at a time.
type Log struct {
	file  *os.File
	lines int64
}

// OpenLog opens the log of a task for appending. What a crash left of an unfinished line
// is cut off.
func (s Store) OpenLog(id string) (*Log, error) {
	dir, err := s.folder(id)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	lines, size, err := s.LogSize(Found{Folder: id})
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(dir, logName), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err = file.Truncate(size); err == nil {
		_, err = file.Seek(size, io.SeekStart)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return &Log{file, lines}, nil
}

// Lines returns how many lines the log has.
func (l *Log) Lines() int64 { return l.lines }

// Append appends lines. A newline in one is written as a space.
func (l *Log) Append(lines ...string) error {
	var b bytes.Buffer
	for _, line := range lines {
		b.Write(bytes.ReplaceAll([]byte(line), []byte{'\n'}, []byte{' '}))
		b.WriteByte('\n')
	}
	_, err := l.file.Write(b.Bytes())
	l.lines += int64(len(lines))
	return err
}

// Close closes the log.
func (l *Log) Close() error { return l.file.Close() }
