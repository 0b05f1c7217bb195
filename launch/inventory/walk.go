package inventory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/launch/dossier"
)

// Why something was left out.
const (
	skipSymlink    = "symlink"
	skipSubmodule  = "submodule"
	skipSpecial    = "special_file"
	skipUnreadable = "unreadable"
	skipNotUTF8    = "name_not_utf8"
	skipLFS        = "lfs_pointer" // the content is on another server
)

// tree is one work tree while it is being scanned.
type tree struct {
	root   *os.Root
	files  []dossier.RepoFile // by path
	hashes []string           // SHA-256(path "|" content) of each file

	skipped []dossier.SkippedPath
	dirs    map[string]bool // folders that hold a file
	byPath  map[string]int  // index in files

	testRoots, docRoots, exampleRoots []string
	manifests                         []dossier.Manifest
}

// walk finds every regular file. It does not follow links, so loops are harmless.
func (t *tree) walk(ctx context.Context) error {
	submodules := t.submodules()
	err := fs.WalkDir(t.root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if name == "." {
			return err
		}
		return t.visit(name, entry, err, submodules)
	})
	if err != nil {
		if ctx.Err() != nil {
			return fault.From(ctx.Err())
		}
		return fault.New(fault.RepoNotFound, "the work tree of the product repository cannot be listed").Because(err)
	}
	slices.SortFunc(t.files, func(a, b dossier.RepoFile) int { return cmp.Compare(a.Path, b.Path) })
	return nil
}

// visit decides about one entry: keep, skip with a reason, or descend.
func (t *tree) visit(name string, entry fs.DirEntry, err error, submodules map[string]bool) error {
	if path.Base(name) == ".git" && !strings.Contains(name, "/") {
		return skipDir(entry)
	}
	reason := ""
	switch mode := entry.Type(); {
	case !utf8.ValidString(name):
		reason = skipNotUTF8
		name = printable(name)
	case err != nil:
		reason = skipUnreadable
	case mode&fs.ModeSymlink != 0:
		reason = skipSymlink
	case mode.IsDir() && (submodules[name] || t.isRepository(name)):
		reason = skipSubmodule
	case mode.IsDir():
		return nil
	case !mode.IsRegular():
		reason = skipSpecial
	}
	if reason == "" {
		t.files = append(t.files, dossier.RepoFile{Path: name})
		return nil
	}
	t.skip(name, reason)
	return skipDir(entry)
}

// skipDir keeps the walk out of entry if it is a folder.
func skipDir(entry fs.DirEntry) error {
	if entry.IsDir() {
		return fs.SkipDir
	}
	return nil
}

func (t *tree) skip(name, reason string) {
	t.skipped = append(t.skipped, dossier.SkippedPath{Path: name, Reason: reason})
}

// isRepository reports whether the folder is a work tree of its own.
func (t *tree) isRepository(name string) bool {
	_, err := t.root.Lstat(name + "/.git")
	return err == nil
}

// submodules returns the paths that .gitmodules names.
func (t *tree) submodules() map[string]bool {
	data, err := t.read(".gitmodules")
	if err != nil {
		return nil
	}
	paths := map[string]bool{}
	for line := range strings.Lines(string(data)) {
		key, value, ok := strings.Cut(line, "=")
		if ok && strings.TrimSpace(key) == "path" {
			paths[path.Clean(strings.TrimSpace(value))] = true
		}
	}
	return paths
}

// printable writes the bytes of a name that are not UTF-8 as \xNN.
func printable(name string) string {
	var b strings.Builder
	for i := 0; i < len(name); {
		r, size := utf8.DecodeRuneInString(name[i:])
		if r == utf8.RuneError && size == 1 {
			fmt.Fprintf(&b, `\x%02x`, name[i])
		} else {
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

var (
	errNotRegular = errors.New("not a regular file")
	errLFS        = errors.New("a pointer of Git LFS")
)
