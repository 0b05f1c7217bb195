package clients

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// backupSuffix is added to the name of the file that was there before.
const backupSuffix = ".bak"

// Read returns a file, nothing when it is not there.
func Read(path string) ([]byte, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return raw, err
}

// Write replaces a file, unless it is the same, and returns the path of the copy of the
// old one; "" when there was none or nothing was written. A reader sees the old file or
// the new one. A link stays a link: what it leads to is replaced.
func Write(path string, content []byte) (backup string, changed bool, err error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	old, err := Read(path)
	if err != nil || old != nil && bytes.Equal(old, content) {
		return "", false, err
	}
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	} else if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", false, err
	}
	if old != nil {
		backup = path + backupSuffix
		if err := replace(backup, old, mode); err != nil {
			return "", false, err
		}
	}
	return backup, true, replace(path, content, mode)
}

// replace writes a file beside and moves it into place.
func replace(path string, content []byte, mode fs.FileMode) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	_, err = f.Write(content)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
