package journal

import (
	"bufio"
	"errors"
	"io"
	"iter"
	"math"
	"os"

	"github.com/gantry-run/gantry/internal/fault"
)

// Break says where a chain is broken. It is the details of an EVENT_CHAIN_BROKEN
// fault.
type Break struct {
	Seq    int64  `json:"seq"`    // the first sequence number that is not as it should be
	Reason string `json:"reason"` // one phrase for a person
}

func (b Break) fault() error {
	return fault.New(fault.EventChainBroken, "the run's journal is damaged at event %d: %s", b.Seq, b.Reason).WithDetails(b)
}

// Repair says what Open cut off.
type Repair struct {
	CutBytes int64 // the length of the incomplete last line, 0 when there was none
	AfterSeq int64 // the last line that was kept
}

// Open reads the journal, gives each line to visit in order, cuts an incomplete
// last line, flushes, and returns the journal ready for appending. A visit of nil
// reads without telling.
//
// The known heads, kept elsewhere, must lie on the chain. They must be heads of
// durable appends: a line that was not flushed may be lost without any damage. The
// size of a known head is not compared when it is 0.
//
// Damage is an EVENT_CHAIN_BROKEN fault with a [Break] as details; the file is
// then untouched, and visit has seen the sound lines before it. An error of visit
// is returned as it is. A missing file satisfies errors.Is(err, fs.ErrNotExist).
func Open(fsys FS, path string, visit func(Line) error, known ...Head) (*Journal, Repair, error) {
	f, err := fsys.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return nil, Repair{}, err
	}
	head, torn, err := scan(f, visit, known)
	if err == nil && torn > 0 {
		err = f.Truncate(head.Size)
	}
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		f.Close()
		return nil, Repair{}, err
	}
	return &Journal{file: f, head: head, stable: head.Size}, Repair{CutBytes: torn, AfterSeq: head.Seq}, nil
}

// Read yields the lines after from, each checked against the one before. It ends
// at the end of the file or at an incomplete last line, which is not there yet:
// call again with the Head of the last line to go on. Damage, and a file that has
// become shorter than from, is an EVENT_CHAIN_BROKEN fault, the last thing yielded.
//
// It takes no lock, writes nothing and holds one line in memory. Lines may be seen
// before they are flushed.
func Read(fsys FS, path string, from Head) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		f, err := fsys.OpenFile(path, os.O_RDONLY, 0)
		if err != nil {
			yield(Line{}, err)
			return
		}
		defer f.Close()
		s, err := newScanner(f, from)
		for err == nil {
			var line Line
			if line, err = s.next(); err == nil && !yield(line, nil) {
				return
			}
		}
		if err != io.EOF {
			yield(Line{}, err)
		}
	}
}

// Report is what Verify found.
type Report struct {
	OK        bool
	Head      Head   // the last sound line
	FirstBad  int64  // the first bad sequence number, 0 when OK
	Reason    string // why it is bad, empty when OK
	TornBytes int64  // the length of an incomplete last line, which is no damage
}

// Verify reads the whole journal and reports whether its chain holds and the known
// heads lie on it (see Open). It changes nothing. The error is of reading, not of
// the chain.
func Verify(fsys FS, path string, known ...Head) (Report, error) {
	f, err := fsys.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return Report{}, err
	}
	defer f.Close()
	head, torn, err := scan(f, nil, known)
	report := Report{OK: true, Head: head, TornBytes: torn}
	var broken *fault.Fault
	if errors.As(err, &broken) && broken.Code == fault.EventChainBroken {
		at := broken.Details.(Break)
		report = Report{Head: head, FirstBad: at.Seq, Reason: at.Reason}
		err = nil
	}
	return report, err
}

// scan reads f from its beginning to its end. It returns the last sound line and
// the length of the incomplete line after it.
func scan(f File, visit func(Line) error, known []Head) (Head, int64, error) {
	s, err := newScanner(f, Head{})
	for err == nil {
		var line Line
		if line, err = s.next(); err != nil {
			break
		}
		if err = checkKnown(line, known); err == nil && visit != nil {
			err = visit(line)
		}
	}
	if err != io.EOF {
		return s.head, 0, err
	}
	for _, k := range known {
		if k.Seq > s.head.Seq {
			return s.head, 0, Break{s.head.Seq + 1, "the file ends before a line that is known to have been written"}.fault()
		}
	}
	return s.head, s.torn, nil
}

func checkKnown(line Line, known []Head) error {
	for _, k := range known {
		if k.Seq == line.Seq && (k.Hash != line.Hash || k.Size != 0 && k.Size != line.End) {
			return Break{line.Seq, "the line is not the one that is known to have been written"}.fault()
		}
	}
	return nil
}

// scanner reads lines that follow head.
type scanner struct {
	in   *bufio.Reader
	head Head
	torn int64 // after io.EOF: the length of the incomplete last line
}

func newScanner(f File, from Head) (*scanner, error) {
	s := &scanner{head: from}
	size, err := f.Size()
	if err != nil {
		return s, err
	}
	if size < from.Size {
		return s, Break{from.Seq, "the file has become shorter"}.fault()
	}
	section := io.NewSectionReader(f, from.Size, math.MaxInt64-from.Size)
	s.in = bufio.NewReaderSize(section, 64<<10)
	return s, nil
}

// next returns the next line, io.EOF after the last complete one, or a fault.
func (s *scanner) next() (Line, error) {
	raw, err := s.readLine()
	if err == io.EOF {
		return Line{}, s.end(raw)
	}
	if err != nil {
		return Line{}, err
	}
	line, wrong := follow(s.head, raw)
	if wrong != "" {
		return Line{}, s.broken(wrong)
	}
	s.head = line.Head()
	return line, nil
}

// end judges what stands after the last newline. A torn write leaves the beginning
// of a line, with zeros behind where a block was not written. More than a sound line
// cannot come from tearing: there its newline was damaged.
func (s *scanner) end(tail []byte) error {
	s.torn = int64(len(tail))
	if len(tail) > 0 && tail[len(tail)-1] != 0 {
		if _, wrong := follow(s.head, tail[:len(tail)-1]); wrong == "" {
			return s.broken("the newline at the end of the line is damaged")
		}
	}
	return io.EOF
}

// readLine returns the bytes up to the next newline, without it, or what is left
// and io.EOF.
func (s *scanner) readLine() ([]byte, error) {
	var line []byte
	for {
		part, err := s.in.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > MaxLine:
			return nil, s.broken("the line is too long")
		case err == nil:
			return line[:len(line)-1], nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return line, err
		}
	}
}

func (s *scanner) broken(reason string) error { return Break{s.head.Seq + 1, reason}.fault() }
