package site

import (
	"io/fs"
	"os"
	"path"

	"github.com/gantry-run/gantry/internal/fault"
)

// WriteEmbedded unpacks the built-in site, the folder "site" of the specs, into
// dir, which must exist. Files that are there already are left alone, so it may
// be called again. The site builds with Hugo 0.111 and later, without a theme
// and without the network. Errors are INTERNAL.
func WriteEmbedded(specs fs.FS, dir string) error {
	files, err := fs.Sub(specs, "site")
	if err != nil {
		return fault.New(fault.Internal, "the built-in site is missing").Because(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fault.New(fault.Internal, "the site's folder cannot be opened").Because(err)
	}
	defer root.Close()
	if err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		return unpack(files, root, name)
	}); err != nil {
		return fault.New(fault.Internal, "the built-in site cannot be written").Because(err)
	}
	return nil
}

func unpack(files fs.FS, root *os.Root, name string) error {
	if _, err := root.Lstat(name); err == nil {
		return nil
	}
	raw, err := fs.ReadFile(files, name)
	if err != nil {
		return err
	}
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	return root.WriteFile(name, raw, 0o644)
}
