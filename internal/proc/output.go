package proc

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Output is a piece of a process's output, as the process wrote it; [Text] makes it
// readable. Offsets count the bytes of all output from the start, and stay.
type Output struct {
	Data    []byte
	Offset  int64 // of Data's first byte
	Next    int64 // where to read on
	Dropped int64 // bytes that were asked for, or that precede a tail, and are kept no more
	Total   int64 // bytes written so far
	Lines   int64 // lines before Data, of a tail; -1 when unknown
}

// Extent is how much a process wrote, and what is kept of it.
type Extent struct {
	Total, Lines               int64 // bytes and lines; a last line without a newline counts
	DroppedBytes, DroppedLines int64 // from the start, kept no more
}

const (
	defaultTail = 1 << 20
	leastRead   = 256
)

// ReadFrom returns the output from an offset, at most max bytes, at least 256. If
// that is kept no more it begins with what is, and says how much is missing; a
// piece never reaches over a gap. While more may come, it ends where a character
// and an escape sequence end. At the end of the output it is empty, with Next as
// given. It does not wait.
func (s *Supervisor) ReadFrom(key string, offset int64, max int) (Output, error) {
	v, err := s.view(key)
	if err != nil {
		return Output{}, err
	}
	return v.read(offset, max)
}

// ReadErrors is ReadFrom for the standard error of a process that keeps it apart
// ([ProcSpec.ErrorsApart]). Of another process there is none.
func (s *Supervisor) ReadErrors(key string, offset int64, max int) (Output, error) {
	v, err := s.viewOf(key, errorsFolder)
	if err != nil {
		return Output{}, err
	}
	return v.read(offset, max)
}

// Tail returns the last lines of the output, at most max bytes of them: of a
// longer line its end. For lines 0 or more than the process's limit it returns that
// many, for max 0 it is 1 MiB.
func (s *Supervisor) Tail(key string, lines, max int) (Output, error) {
	v, err := s.view(key)
	if err != nil {
		return Output{}, err
	}
	if limit := v.rec.Output.Lines; lines <= 0 || lines > limit {
		lines = limit
	}
	if max <= 0 {
		max = defaultTail
	}
	return v.tail(lines, max)
}

// Extent returns how much output there is.
func (s *Supervisor) Extent(key string) (Extent, error) {
	v, err := s.view(key)
	if err != nil || len(v.row) == 0 {
		return Extent{}, err
	}
	first, last := v.row[0], v.row[len(v.row)-1]
	b, err := v.load(last.base, v.total)
	if err != nil {
		return Extent{}, err
	}
	e := Extent{Total: v.total, Lines: last.lines + int64(bytes.Count(b, newline)), DroppedBytes: first.base, DroppedLines: first.lines}
	if len(b) > 0 && b[len(b)-1] != '\n' {
		e.Lines++
	}
	return e, nil
}

// view is the row of files at one moment. The writer may go on meanwhile.
type view struct {
	dir   string
	rec   record
	row   []segment
	ends  []int64 // offset behind each file
	total int64
}

func (s *Supervisor) view(key string) (*view, error) { return s.viewOf(key, spoolFolder) }

func (s *Supervisor) viewOf(key, folder string) (*view, error) {
	dir, err := s.folder(key)
	if err != nil {
		return nil, err
	}
	rec, err := look(dir)
	if err != nil {
		return nil, err
	}
	if rec.State == "" {
		return nil, ErrNoProcess
	}
	v := &view{dir: filepath.Join(dir, folder), rec: rec}
	return v, v.refresh()
}

// refresh looks at the files. One that the writer removes meanwhile means to look
// again.
func (v *view) refresh() error {
	for {
		row, err := segments(v.dir)
		if err != nil {
			return err
		}
		v.row, v.ends, v.total = row, v.ends[:0], 0
		for _, g := range row {
			var info fs.FileInfo
			if info, err = os.Stat(g.path(v.dir)); err != nil {
				break
			}
			v.total = g.base + info.Size()
			v.ends = append(v.ends, v.total)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
}

// load returns the bytes from one offset to another, or to the first gap. It
// returns fs.ErrNotExist when the writer has removed them.
func (v *view) load(from, to int64) ([]byte, error) {
	data := make([]byte, 0, max(0, to-from))
	for i, g := range v.row {
		end := min(v.ends[i], to)
		if from < g.base || from >= end {
			continue
		}
		part := data[len(data) : len(data)+int(end-from)]
		if err := readAt(g.path(v.dir), part, from-g.base); err != nil {
			return nil, err
		}
		data, from = data[:len(data)+len(part)], end
	}
	return data, nil
}

func readAt(path string, b []byte, at int64) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.ReadFull(io.NewSectionReader(f, at, int64(len(b))), b)
	return err
}

// start returns the first offset at or behind the given one that is kept, and the
// end of the row's part that it is in.
func (v *view) start(offset int64) (at, end int64) {
	for i, g := range v.row {
		if v.ends[i] <= offset || v.ends[i] == g.base {
			continue
		}
		at, end = max(offset, g.base), v.ends[i]
		for j := i + 1; j < len(v.row) && v.row[j].base == end; j++ {
			end = v.ends[j]
		}
		return at, end
	}
	return offset, offset
}

func (v *view) read(offset int64, limit int) (Output, error) {
	offset = min(max(offset, 0), v.total)
	for {
		at, end := v.start(offset)
		b, err := v.load(at, min(end, at+int64(max(limit, leastRead))))
		if errors.Is(err, fs.ErrNotExist) {
			if err = v.refresh(); err == nil {
				continue
			}
		}
		if err != nil {
			return Output{}, err
		}
		next := at + int64(len(b))
		if next < end || next == v.total && !v.rec.State.Ended() {
			b = b[:complete(b)]
		}
		return Output{Data: b, Offset: at, Next: at + int64(len(b)), Dropped: at - offset, Total: v.total, Lines: -1}, nil
	}
}

func (v *view) tail(lines, limit int) (Output, error) {
	for {
		from := max(0, v.total-int64(limit))
		at := v.total // walk over parts to the last one, or the one that holds all
		for i := len(v.row) - 1; i >= 0 && v.ends[i] > from && v.ends[i] == at; i-- {
			at = max(v.row[i].base, from)
		}
		b, err := v.load(at, v.total)
		if errors.Is(err, fs.ErrNotExist) {
			if err = v.refresh(); err == nil {
				continue
			}
		}
		if err != nil {
			return Output{}, err
		}
		cut := lastLines(b, lines)
		if cut == 0 && at > 0 {
			cut = runeStart(b)
		}
		out := Output{Data: b[cut:], Offset: at + int64(cut), Next: v.total, Total: v.total}
		if len(v.row) > 0 {
			out.Dropped = v.row[0].base
		}
		if !v.rec.State.Ended() {
			out.Data = out.Data[:complete(out.Data)]
			out.Next = out.Offset + int64(len(out.Data))
		}
		out.Lines = v.linesBefore(out.Offset)
		return out, nil
	}
}

// linesBefore counts the newlines before an offset, -1 if that cannot be read.
func (v *view) linesBefore(offset int64) int64 {
	for i := len(v.row) - 1; i >= 0; i-- {
		if g := v.row[i]; g.base <= offset {
			b, err := v.load(g.base, offset)
			if err != nil {
				return -1
			}
			return g.lines + int64(bytes.Count(b, newline))
		}
	}
	return 0
}

// lastLines returns where the last n lines of b begin.
func lastLines(b []byte, n int) int {
	at := len(b)
	if at > 0 && b[at-1] == '\n' {
		at--
	}
	for ; n > 0; n-- {
		if at = bytes.LastIndexByte(b[:at], '\n'); at < 0 {
			return 0
		}
	}
	return at + 1
}
