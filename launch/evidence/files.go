package evidence

import (
	"bytes"
	"io"
	"os"
	"path"
	"strings"
	"syscall"
	"unicode/utf8"
)

// Bounds on what is read. What exceeds one is left out, never cut in the middle.
const (
	maxDocument = 512 << 10
	maxSource   = 1 << 20
	maxLine     = 8 << 10 // a longer line of a document is data, not prose
)

// read returns the text of a regular file of at most limit bytes, with LF line
// ends; ok is false for one that is absent, larger, binary or not UTF-8.
func (g *gatherer) read(name string, limit int64) (text []byte, ok bool) {
	f, err := g.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > limit {
		return nil, false
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil || int64(len(data)) > limit || bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data) {
		return nil, false
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	return bytes.ReplaceAll(data, []byte("\r"), []byte("\n")), true
}

// withoutLongLines blanks the lines that no person wrote, so that line numbers hold.
func withoutLongLines(data []byte) []byte {
	lines := bytes.SplitAfter(data, []byte("\n"))
	for i, line := range lines {
		if len(line) > maxLine {
			lines[i] = []byte("\n")
		}
	}
	return bytes.Join(lines, nil)
}

// inDir reports whether a folder on the way to the file has one of the names.
func inDir(name string, names ...string) bool {
	for _, part := range strings.Split(path.Dir(name), "/") {
		for _, n := range names {
			if strings.EqualFold(part, n) {
				return true
			}
		}
	}
	return false
}
