package agents

import (
	"bytes"

	"github.com/gantry-run/gantry/internal/proc"
)

const (
	// MaxLine is the longest line that a decoder takes, in bytes. Of a longer one it
	// gets the first MaxLine bytes and one more.
	MaxLine = 16 << 20
	// maxRaw is the longest text of a raw entry; a longer line is several.
	maxRaw = 1 << 20
	// maxText is the longest text of a normalized entry.
	maxText = 64 << 10
)

// Lines cuts a stream into lines. What it holds is bounded: of a line longer than
// [MaxLine] the rest is counted and thrown away. The zero value is ready.
type Lines struct {
	held []byte
	lost int64 // of the line that is held
}

// Line is one line of a stream.
type Line struct {
	Data []byte // without the newline; valid until the next call
	Size int64  // bytes that the line takes in the stream, its newline included
}

// Feed takes the next bytes of the stream and calls line for each line that they end.
// It stops at the first error and returns it.
func (l *Lines) Feed(b []byte, line func(Line) error) error {
	for {
		part, rest, ended := bytes.Cut(b, []byte{'\n'})
		if !ended {
			l.hold(part)
			return nil
		}
		b = rest
		if err := l.end(part, 1, line); err != nil {
			return err
		}
	}
}

// End ends the stream: a last line without a newline is one too.
func (l *Lines) End(line func(Line) error) error {
	if len(l.held) == 0 {
		return nil
	}
	return l.end(nil, 0, line)
}

func (l *Lines) end(part []byte, newline int64, line func(Line) error) error {
	data, lost := part, int64(0)
	if len(l.held) > 0 || len(part) > MaxLine {
		l.hold(part)
		data, lost = l.held, l.lost
	}
	size := int64(len(data)) + lost + newline
	l.held, l.lost = nil, 0
	return line(Line{bytes.TrimSuffix(data, []byte{'\r'}), size})
}

// hold keeps one byte more than a line may have, by which it is known as too long.
func (l *Lines) hold(part []byte) {
	kept := part[:min(len(part), MaxLine+1-len(l.held))]
	l.held = append(l.held, kept...)
	l.lost += int64(len(part) - len(kept))
}

// Raw returns a line as it was, as entries of the raw channel: one, or several for a
// long line. What no terminal would show, such as escape sequences, is left out.
func Raw(line []byte, stderr bool) []Entry {
	kind := StdoutEntry
	if stderr {
		kind = StderrEntry
	}
	if len(line) <= maxRaw {
		return []Entry{{Kind: kind, Text: proc.Text(line)}}
	}
	var out []Entry
	for len(line) > 0 {
		n := cut(line, maxRaw)
		out = append(out, Entry{Kind: kind, Text: proc.Text(line[:n])})
		line = line[n:]
	}
	return out
}

// cut returns where to cut b so that the first part has at most max bytes and no
// character is broken.
func cut[T string | []byte](b T, max int) int {
	if len(b) <= max {
		return len(b)
	}
	for n := max; n > max-4; n-- {
		if b[n]&0xC0 != 0x80 {
			return n
		}
	}
	return max
}
