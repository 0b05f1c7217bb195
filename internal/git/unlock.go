package git

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Unlock removes what is left in the repository at dir when git, or this program, is
// killed: the lock files, so that git works there again, and copies of the index. The caller makes sure that no git is at work
// there. Without a repository there is nothing to do.
func Unlock(dir string) error {
	var failed error
	err := filepath.WalkDir(filepath.Join(dir, ".git"), func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), copyPrefix):
			failed = errors.Join(failed, os.RemoveAll(path))
			return fs.SkipDir
		case d.IsDir() && (d.Name() == "objects" || d.Name() == "logs"):
			return fs.SkipDir
		case d.Type().IsRegular() && strings.HasSuffix(d.Name(), ".lock"):
			failed = errors.Join(failed, os.Remove(path))
		}
		return nil
	})
	return errors.Join(err, failed)
}
