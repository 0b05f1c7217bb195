package changes

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/gantry-run/gantry/internal/fault"
)

// File returns a piece of a file as it stands in its worktree. It is blocked when the path
// is none of a worktree, or leads out of it by a link, and when more is asked for than
// [MaxFile]. A file that is not there is INVALID_INPUT, and so is what is no file; pipes
// and devices are not read.
func (r *Reader) File(ctx context.Context, trees []Worktree, q FileRequest) (File, error) {
	max := q.MaxBytes
	switch {
	case max < 0 || q.Start < 0:
		return File{}, fault.New(fault.InvalidInput, "start or max_bytes is negative")
	case max == 0:
		max = DefaultFile
	case max > MaxFile:
		return File{Start: q.Start, Blocked: true, Reason: SizeExceeded}, nil
	}
	i, rest, ok := locate(trees, q.Path)
	if !ok {
		return File{Start: q.Start, Blocked: true, Reason: PathOutsideWorkspace}, nil
	}
	f, err := open(trees[i].Dir, rest)
	if f == nil && err == nil {
		return File{Start: q.Start, Blocked: true, Reason: PathOutsideWorkspace}, nil
	}
	if err != nil {
		return File{}, err
	}
	defer f.Close()
	return slice(f, q.Start, max)
}

// open opens a regular file under dir. It returns nil for a path that leads out of it.
func open(dir, path string) (*os.File, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := root.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe does not make it wait
	var inPath *fs.PathError
	var errno syscall.Errno
	switch {
	case err == nil:
	case errors.As(err, &inPath) && !errors.As(err, &errno): // os.Root's own: it leads out
		return nil, nil
	default:
		return nil, fault.New(fault.InvalidInput, "the worktree has no such file").Because(err).
			WithHint("take paths from get_attempt_changes")
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fault.New(fault.InvalidInput, "the path is that of a folder or of something else that is no file")
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func slice(f *os.File, start int64, max int) (File, error) {
	info, err := f.Stat()
	if err != nil {
		return File{}, err
	}
	out := File{Start: start, Size: info.Size()}
	if start >= out.Size {
		return out, nil
	}
	data := make([]byte, min(int64(max), out.Size-start))
	n, err := f.ReadAt(data, start)
	if err != nil && !errors.Is(err, io.EOF) { // it was cut meanwhile
		return File{}, err
	}
	data = data[:n]
	if end := whole(data, start+int64(n) < out.Size); end > 0 {
		data = data[:end]
	}
	out.Bytes = len(data)
	out.Truncated = start+int64(out.Bytes) < out.Size
	out.Text = strings.ToValidUTF8(string(data), "\uFFFD")
	return out, nil
}
