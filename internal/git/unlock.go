package git

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Unlock removes the lock files that git leaves in the repository at dir when it is
// killed, so that git works there again. The caller makes sure that no git is at work
// there. Without a repository there is nothing to do.
func Unlock(dir string) error {
	var failed error
	err := filepath.WalkDir(filepath.Join(dir, ".git"), func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "objects" || d.Name() == "logs"):
			return fs.SkipDir
		case d.Type().IsRegular() && strings.HasSuffix(d.Name(), ".lock"):
			failed = errors.Join(failed, os.Remove(path))
		}
		return nil
	})
	return errors.Join(err, failed)
}
