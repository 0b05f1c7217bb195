package worktree

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// scan is a walk through all folders that git does not ignore. With a watch it makes
// each folder watched before it reads it; without one it sums up the times of all files.
type scan struct {
	t     *Tree
	root  *os.Root
	watch *watch // nil: sum

	folders map[string]bool     // that were looked at, relative to the root
	top     map[string][]string // names in the upper folders, those of folders with a slash
	sum     maphash.Hash
	newest  time.Time // of what was summed up
	partial bool      // some folder could not be watched or read
}

// seed makes the sums of one process comparable.
var seed = maphash.MakeSeed()

// walk looks at the tree.
func (t *Tree) walk(ctx context.Context, root *os.Root, rules *ruleSet, w *watch) (*scan, error) {
	s := &scan{t: t, root: root, watch: w, folders: map[string]bool{}, top: map[string][]string{}}
	s.sum.SetSeed(seed)
	if err := s.enter(ctx, rules.folder("."), ".", 0); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *scan) enter(ctx context.Context, in *inFolder, rel string, depth int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.watch != nil && depth == outlineDepth { // of the files below not even the names are needed
		return s.descend(ctx, in, rel)
	}
	s.folders[rel] = true
	s.cover(rel)
	entries, err := readDir(s.root, rel)
	if err != nil {
		s.partial = true
		return nil // it is gone by now, or closed to the server
	}
	if depth > 0 && slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == ignoreFile }) {
		in = in.ruled()
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool {
		return e.Name() == gitDir || in.ignores(e.Name(), e.IsDir())
	})
	if depth < outlineDepth || s.watch == nil { // the sum depends on the order
		slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	}
	if depth < outlineDepth {
		s.show(rel, entries)
	}
	for _, e := range entries {
		switch {
		case e.IsDir():
			if err := s.enter(ctx, in.below(e.Name()), path.Join(rel, e.Name()), depth+1); err != nil {
				return err
			}
		case s.watch == nil:
			s.add(path.Join(rel, e.Name()), e)
		}
	}
	return nil
}

// cover makes a folder watched.
func (s *scan) cover(rel string) {
	if s.watch == nil {
		if info, err := s.root.Lstat(rel); err == nil {
			s.take(rel, info)
		}
		return
	}
	if !s.watch.add(filepath.Join(s.t.root, filepath.FromSlash(rel))) {
		s.partial = true
	}
}

func (s *scan) add(rel string, e fs.DirEntry) {
	if info, err := e.Info(); err == nil {
		s.take(rel, info)
	}
}

// take sums up what is known of a file.
func (s *scan) take(rel string, info fs.FileInfo) {
	maphash.WriteComparable(&s.sum, struct {
		rel  string
		size int64
		mode fs.FileMode
		at   int64
	}{rel, info.Size(), info.Mode(), info.ModTime().UnixNano()})
	if info.ModTime().After(s.newest) {
		s.newest = info.ModTime()
	}
}

// tracked takes the files that git tracks in folders that it ignores otherwise.
func (s *scan) tracked(files []string) {
	for _, f := range files {
		dir := path.Dir(f)
		if s.folders[dir] {
			continue
		}
		if s.watch != nil {
			s.folders[dir] = true
			s.cover(dir)
		} else if info, err := s.root.Lstat(f); err == nil {
			s.take(f, info)
		}
	}
}

// The bounds of an outline.
const (
	outlineDepth = 2  // levels that are shown
	outlineNames = 20 // entries of one folder
)

// outline returns the top of the tree as text, folders with what is in them.
func (s *scan) outline(rel string, depth int) string {
	var b strings.Builder
	names := s.top[rel]
	for _, name := range names[:min(len(names), outlineNames)] {
		b.WriteString(strings.Repeat("  ", depth) + name + "\n")
		if dir, is := strings.CutSuffix(name, "/"); is {
			b.WriteString(s.outline(path.Join(rel, dir), depth+1))
		}
	}
	if more := len(names) - outlineNames; more > 0 {
		fmt.Fprintf(&b, "%s… %d more\n", strings.Repeat("  ", depth), more)
	}
	return b.String()
}

// show keeps what the outline shows of a folder.
func (s *scan) show(rel string, entries []fs.DirEntry) {
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() {
			name += "/"
		}
		s.top[rel] = append(s.top[rel], name)
	}
}
