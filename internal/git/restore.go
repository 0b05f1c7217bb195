package git

import (
	"context"
	"errors"
	"io/fs"
)

// ReadFile returns the content of a file of a revision. A path that is not there
// satisfies errors.Is(err, fs.ErrNotExist).
func (g *Git) ReadFile(ctx context.Context, dir, revision, path string) ([]byte, error) {
	if err := checkRevision(revision); err != nil {
		return nil, err
	}
	out, err := g.run(ctx, in(dir, "cat-file", "blob", revision+":"+path))
	var f *failure
	if errors.As(err, &f) && f.says("does not exist in", "Not a valid object name", "exists on disk, but not in") {
		return nil, fs.ErrNotExist
	}
	return []byte(out), err
}

// Restore makes the index and the work tree what they are in the revision: changes
// are undone, and files that are not in it are removed, ignored ones included.
func (g *Git) Restore(ctx context.Context, dir, revision string) error {
	if err := checkRevision(revision); err != nil {
		return err
	}
	if _, err := g.runTree(ctx, in(dir, "reset", "--quiet", "--hard", revision, "--")); err != nil {
		return err
	}
	_, err := g.runTree(ctx, in(dir, "clean", "--quiet", "--force", "--force", "-d", "-x"))
	return err
}
