package targets

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/gantry-run/gantry/internal/fault"
)

// maxPath is how long a caller's path may be, in bytes.
const maxPath = 4096

// confine returns a caller's folder relative to the root, slash separated. The path may be
// relative or absolute; after all links are followed it must be in the root, and a link
// with an absolute path is refused even when it leads back there. Whatever escapes gets the
// same answer, whether it exists or not.
func (p *Project) confine(dir string) (string, error) {
	if dir == "" {
		return ".", nil
	}
	if len(dir) > maxPath || strings.ContainsRune(dir, 0) {
		return "", fault.New(fault.InvalidInput, "cwd is at most %d bytes and holds no NUL", maxPath)
	}
	if filepath.IsAbs(dir) {
		rel, err := filepath.Rel(p.root, filepath.Clean(dir))
		if err != nil || !filepath.IsLocal(rel) {
			// The root may have been given by another name, through a link.
			resolved, linkErr := filepath.EvalSymlinks(dir)
			if linkErr != nil {
				return "", outside()
			}
			rel, err = filepath.Rel(p.root, resolved)
		}
		if err != nil || !filepath.IsLocal(rel) {
			return "", outside()
		}
		dir = rel
	}
	root, err := os.OpenRoot(p.root)
	if err != nil {
		return "", fault.New(fault.ConfigInvalid, "the project's root cannot be opened").Because(err)
	}
	defer root.Close()
	info, err := root.Stat(filepath.Clean(dir))
	if err != nil {
		return "", noFolder(err)
	}
	if !info.IsDir() {
		return "", fault.New(fault.InvalidInput, "cwd is not a folder")
	}
	resolved, err := filepath.EvalSymlinks(filepath.Join(p.root, dir))
	if err != nil {
		return "", noFolder(err)
	}
	rel, err := filepath.Rel(p.root, resolved)
	if err != nil || !filepath.IsLocal(rel) {
		return "", outside()
	}
	return filepath.ToSlash(rel), nil
}

func outside() *fault.Fault {
	return fault.New(fault.PathOutsideRoot, "Path outside project root").
		WithHint("give a folder of the project, relative to its root")
}

// noFolder says why a folder cannot be used.
func noFolder(err error) error {
	switch {
	case escapes(err):
		return outside().Because(err)
	case errors.Is(err, syscall.ELOOP), strings.Contains(err.Error(), "too many"):
		return fault.New(fault.InvalidInput, "the links of cwd go in a circle").Because(err)
	case errors.Is(err, syscall.ENAMETOOLONG):
		return fault.New(fault.InvalidInput, "cwd has a name that is too long").Because(err)
	}
	return fault.New(fault.InvalidInput, "cwd is not a folder of the project").Because(err)
}

// existsIn reports whether a path of the root exists.
func existsIn(root, p string) bool {
	r, err := os.OpenRoot(root)
	if err != nil {
		return false
	}
	defer r.Close()
	_, err = r.Lstat(filepath.FromSlash(p))
	return err == nil
}
