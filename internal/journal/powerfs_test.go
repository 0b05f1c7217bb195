package journal

import (
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"strings"
)

// powerFS is a disk in memory whose power can be cut. What POSIX does not promise
// is not kept for sure: the content of a file that was not flushed survives in part,
// perhaps with zeros behind it; a change of a folder's entries survives only as one
// of the oldest few, unless the folder was flushed. Flushing a file does not flush
// its entry.
type powerFS struct {
	dirs map[string]*powerDir
	// skips leaves out a barrier: op is "file" or "dir".
	skips func(op, name string, f *powerFile) bool
	// after is called when an operation is done.
	after func()
}

type inode struct {
	stable, data []byte
}

// powerDir is a folder: its entries on the disk and the changes that are not.
// Folders themselves are there from the beginning, their names are what moves.
type powerDir struct {
	stable map[string]*inode
	now    map[string]*inode
	moved  []func(map[string]*inode) // changes not flushed, oldest first
}

func newPowerFS(dirs ...string) *powerFS {
	p := &powerFS{dirs: map[string]*powerDir{}, after: func() {}, skips: func(string, string, *powerFile) bool { return false }}
	for _, d := range dirs {
		p.dirs[d] = &powerDir{stable: map[string]*inode{}, now: map[string]*inode{}}
	}
	return p
}

// change applies a change of a folder's entries now, and to the disk some time.
func (d *powerDir) change(f func(map[string]*inode)) {
	f(d.now)
	d.moved = append(d.moved, f)
}

// cut returns a disk as it is found when the power is cut now.
func (p *powerFS) cut(rng *rand.Rand) *powerFS {
	q := newPowerFS()
	clones := map[*inode]*inode{}
	for _, name := range sortedKeys(p.dirs) {
		d := p.dirs[name]
		entries := cloneMap(d.stable)
		for _, f := range d.moved[:rng.IntN(len(d.moved)+1)] {
			f(entries)
		}
		for _, file := range sortedKeys(entries) {
			if clones[entries[file]] == nil {
				content := entries[file].survive(rng)
				clones[entries[file]] = &inode{stable: content, data: slices.Clone(content)}
			}
			entries[file] = clones[entries[file]]
		}
		q.dirs[name] = &powerDir{stable: entries, now: cloneMap(entries)}
	}
	return q
}

func (n *inode) survive(rng *rand.Rand) []byte {
	if len(n.data) < len(n.stable) { // cut shorter
		return slices.Clone([][]byte{n.stable, n.data}[rng.IntN(2)])
	}
	pending := n.data[len(n.stable):]
	kept := []int{0, len(pending), rng.IntN(len(pending) + 1)}[rng.IntN(3)]
	content := slices.Concat(n.stable, pending[:kept])
	if rng.IntN(4) == 0 && kept < len(pending) {
		content = append(content, make([]byte, rng.IntN(len(pending)-kept)+1)...)
	}
	return content
}

func (p *powerFS) OpenFile(name string, flag int, _ os.FileMode) (File, error) {
	dir, base := path.Split(name)
	d := p.dirs[path.Clean(dir)]
	if d == nil {
		return nil, fs.ErrNotExist
	}
	n := d.now[base]
	switch {
	case n == nil && flag&os.O_CREATE == 0:
		return nil, fs.ErrNotExist
	case n != nil && flag&os.O_EXCL != 0:
		return nil, fs.ErrExist
	case n == nil:
		n = &inode{}
		d.change(func(m map[string]*inode) { m[base] = n })
		p.after()
	}
	return &powerFile{fs: p, name: base, inode: n, created: flag&os.O_CREATE != 0}, nil
}

func (p *powerFS) Rename(from, to string) error {
	d := p.dirs[path.Dir(from)]
	old, new := path.Base(from), path.Base(to)
	d.change(func(m map[string]*inode) {
		m[new] = m[old]
		delete(m, old)
	})
	p.after()
	return nil
}

// RenameNew moves a folder. Its name is an entry of its parent, kept as a file
// whose content says where the entries are.
func (p *powerFS) RenameNew(from, to string) error {
	parent := p.dirs[path.Dir(to)]
	if parent.now[path.Base(to)] != nil {
		return fs.ErrExist
	}
	where := &inode{stable: []byte(from), data: []byte(from)}
	parent.change(func(m map[string]*inode) { m[path.Base(to)] = where })
	p.dirs[to] = p.dirs[from]
	p.after()
	return nil
}

func (p *powerFS) Remove(name string) error {
	p.dirs[path.Dir(name)].change(func(m map[string]*inode) { delete(m, path.Base(name)) })
	return nil
}

func (p *powerFS) SyncDir(name string) error {
	d := p.dirs[name]
	if !p.skips("dir", name, nil) {
		d.stable, d.moved = cloneMap(d.now), nil
	}
	p.after()
	return nil
}

type powerFile struct {
	fs      *powerFS
	name    string
	inode   *inode
	created bool // by this handle
	flushed bool // once, by this handle
}

func (f *powerFile) ReadAt(b []byte, at int64) (int, error) {
	if at >= int64(len(f.inode.data)) {
		return 0, io.EOF
	}
	n := copy(b, f.inode.data[at:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (f *powerFile) Write(b []byte) (int, error) {
	f.inode.data = append(slices.Clip(f.inode.data), b...)
	f.fs.after()
	return len(b), nil
}

func (f *powerFile) Truncate(size int64) error {
	f.inode.data = slices.Clone(f.inode.data[:size])
	f.fs.after()
	return nil
}

func (f *powerFile) Sync() error {
	if !f.fs.skips("file", f.name, f) {
		f.inode.stable = slices.Clone(f.inode.data)
	}
	f.flushed = true
	f.fs.after()
	return nil
}

func (f *powerFile) Size() (int64, error) { return int64(len(f.inode.data)), nil }
func (f *powerFile) Close() error         { return nil }

func cloneMap(m map[string]*inode) map[string]*inode {
	c := make(map[string]*inode, len(m))
	for k, v := range m {
		c[k] = v
	}
	return c
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, strings.Compare)
	return keys
}
