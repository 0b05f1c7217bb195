package launch

import (
	"cmp"
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// copyTree copies the regular files and the links of a folder, without .git. Links
// are copied as links; devices, sockets and pipes are left out, and so is the state
// directory of which to is a part (runs/<run>/work/repo), should the folder hold it.
func copyTree(ctx context.Context, from, to string) error {
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	src, err := os.OpenRoot(from)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer dst.Close()
	state, err := os.Stat(filepath.Join(to, "..", "..", "..", ".."))
	if err != nil {
		return err
	}
	return fs.WalkDir(src.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		switch {
		case name == ".":
			return nil
		case d.Name() == ".git":
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir():
			if info, err := d.Info(); err != nil || os.SameFile(info, state) {
				return cmp.Or(err, fs.SkipDir)
			}
			return dst.Mkdir(filepath.FromSlash(name), 0o700)
		case d.Type()&fs.ModeSymlink != 0:
			target, err := src.Readlink(name)
			if err != nil {
				return err
			}
			return dst.Symlink(target, name)
		case d.Type().IsRegular():
			return copyFile(src, dst, name)
		}
		return nil
	})
}

func copyFile(src, dst *os.Root, name string) error {
	in, err := src.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	mode := fs.FileMode(0o600)
	if info, err := in.Stat(); err == nil && info.Mode()&0o100 != 0 {
		mode = 0o700
	}
	out, err := dst.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		out.Close()
		return err
	}
	return out.Close()
}
