package worktree

import (
	"cmp"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/gantry-run/gantry/internal/fault"
)

// Kind is what an entry of a folder is. A link is a link, wherever it leads.
type Kind string

// The kinds.
const (
	File      Kind = "file"
	Directory Kind = "directory"
	Symlink   Kind = "symlink"
	Other     Kind = "other" // a pipe, a device, a socket
)

// Entry is one name in a folder.
type Entry struct {
	Name string
	Kind Kind
	Size int64 // in bytes; of a link its own, 0 for a folder
}

// Folder is what a folder holds.
type Folder struct {
	Path    string   // relative to the root, links followed, slash separated
	Entries []Entry  // by name, bytewise
	Ignored int      // entries that git ignores, which are left out
	Skipped []string // rule files that are too large to be used
}

// ListDirectory returns the entries of a folder without those that git ignores and
// without .git. Of a folder that is ignored itself, all entries are left out, as git
// leaves them out.
//
// Faults: PATH_OUTSIDE_ROOT, NOT_FOUND, NOT_DIRECTORY, NAME_TOO_LONG, TOO_MANY_LINKS,
// ACCESS_DENIED, INVALID_INPUT.
func (t *Tree) ListDirectory(ctx context.Context, path string) (Folder, error) {
	root, err := t.open()
	if err != nil {
		return Folder{}, err
	}
	defer root.Close()
	rel, info, err := t.resolve(root, path)
	if err != nil {
		return Folder{}, err
	}
	if !info.IsDir() {
		return Folder{}, fault.New(fault.NotDirectory, "it is not a folder")
	}
	entries, err := readDir(root, rel)
	if err != nil {
		return Folder{}, failure(err)
	}
	rules := t.rules.at(ctx)
	in := rules.folder(filepath.ToSlash(rel))
	f := Folder{Path: filepath.ToSlash(rel), Entries: []Entry{}}
	for _, e := range entries {
		switch {
		case e.Name() == gitDir:
			continue
		case in.ignores(e.Name(), e.IsDir()):
			f.Ignored++
			continue
		}
		f.Entries = append(f.Entries, entryOf(e))
	}
	f.Skipped = rules.skipped
	slices.SortFunc(f.Entries, func(a, b Entry) int { return cmp.Compare(a.Name, b.Name) })
	return f, nil
}

const gitDir = ".git"

// readDir returns the entries of a folder in no order.
func readDir(root *os.Root, rel string) ([]fs.DirEntry, error) {
	d, err := root.Open(rel)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.ReadDir(-1)
}

func entryOf(e fs.DirEntry) Entry {
	out := Entry{Name: e.Name(), Kind: kindOf(e.Type())}
	if out.Kind == Directory {
		return out
	}
	if info, err := e.Info(); err == nil { // else it is gone by now
		out.Size = info.Size()
	}
	return out
}

func kindOf(mode fs.FileMode) Kind {
	switch {
	case mode.IsRegular():
		return File
	case mode.IsDir():
		return Directory
	case mode&fs.ModeSymlink != 0:
		return Symlink
	}
	return Other
}
