package taskcards

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/gantry-run/gantry/internal/fault"
)

var (
	errTooLarge   = fmt.Errorf("the file is larger than %d bytes", MaxSize)
	errNotRegular = errors.New("it is not a regular file")
)

func openRoot(dir string) (*os.Root, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fault.New(fault.Internal, "the project's root cannot be opened").Because(err)
	}
	return root, nil
}

// read returns a file of at most MaxSize bytes. A pipe or a device is refused
// without waiting for it.
func read(root *os.Root, name string) ([]byte, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errNotRegular
	}
	src, err := io.ReadAll(io.LimitReader(f, MaxSize+1))
	if err == nil && len(src) > MaxSize {
		return nil, errTooLarge
	}
	return src, err
}

// escapes reports whether os.Root refused a path; it has no value for that.
func escapes(err error) bool { return strings.Contains(err.Error(), "path escapes") }

func escape(err error) error {
	return fault.New(fault.PathEscape, "the path leads out of the project's root").Because(err).
		WithHint("give the id of a taskcard, or a path relative to the project's root")
}

// message says why a file cannot be read, without its path.
func message(err error) string {
	switch {
	case escapes(err):
		return "the path leads out of the project's root"
	case errors.Is(err, errTooLarge), errors.Is(err, errNotRegular):
		return err.Error()
	case errors.Is(err, fs.ErrNotExist):
		return "the file does not exist"
	case errors.Is(err, fs.ErrPermission):
		return "the file may not be read"
	}
	return "the file cannot be read"
}

// badText says why bytes are no text, and at which line; "" if they are.
func badText(src []byte) (string, int) {
	if i := bytes.IndexByte(src, 0); i >= 0 {
		return "the file holds a NUL byte: it is no text", lineAt(src, i)
	}
	for i := 0; i < len(src); {
		r, size := utf8.DecodeRune(src[i:])
		if r == utf8.RuneError && size == 1 {
			return "the file is not UTF-8", lineAt(src, i)
		}
		i += size
	}
	return "", 0
}

func lineAt(src []byte, offset int) int { return 1 + bytes.Count(src[:offset], []byte("\n")) }
