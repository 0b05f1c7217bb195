package stdio

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// errTooLong is what lines.next returns for a line above the limit.
var errTooLong = errors.New("line too long")

// lines cuts a stream into lines.
type lines struct {
	r     *bufio.Reader
	limit int // bytes of a line without its end
	begun bool
}

func newLines(r io.Reader, limit int) *lines {
	return &lines{r: bufio.NewReaderSize(r, 64<<10), limit: limit}
}

// next returns the next line in memory of its own, without its end, the white
// space around it and, on the first line, a byte order mark. A line above the
// limit is skipped to its end and returned as errTooLong; reading goes on after
// it. The last line needs no newline. At the end it returns the reader's error.
func (l *lines) next() ([]byte, error) {
	var line []byte
	tooLong := false
	for {
		part, err := l.r.ReadSlice('\n')
		ended := err == nil
		part = bytes.TrimSuffix(part, []byte("\n"))
		if tooLong = tooLong || len(line)+len(part) > l.limit+1; tooLong { // +1: a CR may be there
			line = nil
		} else {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if !ended && !tooLong && len(line) == 0 {
			return nil, err
		}
		line = bytes.TrimSuffix(line, []byte("\r"))
		if tooLong || len(line) > l.limit {
			return nil, errTooLong
		}
		return l.trim(line), nil
	}
}

// trim removes what may surround a message.
func (l *lines) trim(line []byte) []byte {
	if !l.begun {
		l.begun = true
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	}
	return bytes.Trim(line, " \t\r")
}
