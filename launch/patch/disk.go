package patch

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
)

const maxFile = 8 << 20 // bytes; a page or a configuration file is far smaller

var (
	errNotRegular = errors.New("not a regular file")
	errTooLarge   = errors.New("larger than 8 MiB")
	errLink       = errors.New("the path leads through a symbolic link")
)

// refuseLinks looks at every folder of the path and at the file itself. What
// does not exist yet is fine.
func refuseLinks(root *os.Root, name string) error {
	for at := 0; at >= 0; {
		next := strings.IndexByte(name[at:], '/')
		prefix := name
		if next >= 0 {
			prefix = name[:at+next]
			at += next + 1
		} else {
			at = -1
		}
		info, err := root.Lstat(prefix)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return errors.New("the path cannot be followed")
		case info.Mode()&fs.ModeSymlink != 0:
			return errLink
		case at >= 0 && !info.IsDir():
			return errors.New("a folder of the path is a file")
		}
	}
	return nil
}

// readRegular reads a file that the caller has checked for links. It never
// opens what is not a regular file, so a pipe cannot make it wait.
func readRegular(root *os.Root, name string) ([]byte, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errNotRegular
	}
	if info.Size() > maxFile {
		return nil, errTooLarge
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxFile))
}

// write makes the file what it should be: absent, or the text, all at once.
func write(root *os.Root, name string, now content) error {
	if !now.exists {
		return root.Remove(name)
	}
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	if info, err := root.Lstat(name); err == nil {
		mode = info.Mode().Perm()
	}
	temp := path.Join(path.Dir(name), ".patch-"+Hash([]byte(name))[:12]+".tmp")
	if err := root.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := writeSynced(root, temp, now.text, mode); err != nil {
		return errors.Join(err, root.Remove(temp))
	}
	if err := root.Rename(temp, name); err != nil {
		return errors.Join(err, root.Remove(temp))
	}
	return nil
}

func writeSynced(root *os.Root, name, text string, mode fs.FileMode) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, text)
	return errors.Join(err, f.Sync(), f.Close())
}
