package worktree

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/gantry-run/gantry/internal/fault"
)

// local returns a path relative to the root. What leads out by its letters is
// PATH_OUTSIDE_ROOT, whether it exists or not. Nothing in the path is decoded.
func (t *Tree) local(path string) (string, error) {
	if strings.ContainsRune(path, 0) {
		return "", fault.New(fault.InvalidInput, "a path has no NUL byte")
	}
	if path == "" {
		path = "."
	}
	if filepath.IsAbs(path) {
		rel, ok := t.below(path)
		if !ok {
			return "", outside()
		}
		return rel, nil
	}
	if !filepath.IsLocal(path) {
		return "", outside()
	}
	return path, nil
}

// below returns an absolute path relative to the root, by whichever name of the root.
func (t *Tree) below(path string) (string, bool) {
	for _, root := range []string{t.root, t.given} {
		if rel, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(rel) {
			return rel, true
		}
	}
	return "", false
}

func outside() *fault.Fault {
	return fault.New(fault.PathOutsideRoot, "Path outside project root").
		WithHint("give a path relative to the project's root")
}

// resolve returns where a path leads, relative to the root and without links, and what
// is there. The path may be replaced meanwhile: whoever opens the result does so without
// following a link.
func (t *Tree) resolve(root *os.Root, path string) (string, fs.FileInfo, error) {
	rel, err := t.local(path)
	if err != nil {
		return "", nil, err
	}
	info, err := root.Stat(rel)
	if err != nil {
		return "", nil, failure(err)
	}
	real, err := filepath.EvalSymlinks(filepath.Join(t.root, rel))
	if err != nil {
		return "", nil, failure(err)
	}
	if rel, err = filepath.Rel(t.root, real); err != nil || !filepath.IsLocal(rel) {
		return "", nil, outside()
	}
	return rel, info, nil
}

// failure says why a path cannot be used. It names no path: the caller knows which one
// it gave.
func failure(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fault.New(fault.NotFound, "there is no such file or folder").Because(err)
	case errors.Is(err, syscall.ENOTDIR):
		return fault.New(fault.NotFound, "there is no such file or folder: a part of the path is a file").Because(err)
	case errors.Is(err, syscall.ELOOP), strings.Contains(err.Error(), "too many"):
		return fault.New(fault.TooManyLinks, "the links of the path go in a circle").Because(err)
	case errors.Is(err, syscall.ENAMETOOLONG):
		return fault.New(fault.NameTooLong, "the path, or a name in it, is too long").Because(err)
	case strings.Contains(err.Error(), "escapes"):
		return outside().WithHint("a link leads out of the project, or is absolute, and is not followed").Because(err)
	case errors.Is(err, fs.ErrPermission):
		return fault.New(fault.AccessDenied, "the server may not read it").WithHint("ask a human to change its permissions").Because(err)
	}
	return err
}
