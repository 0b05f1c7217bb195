package targets

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"

	"github.com/BurntSushi/toml"

	"github.com/gantry-run/gantry/internal/fault"
)

// Edit says what an edit of the allowlist did.
type Edit struct {
	Path    string  // of the file
	Added   []Entry // in their order
	Removed []Entry
	Denied  []Entry // entries that still deny what was to be allowed
}

// Allow writes an entry that allows, and takes back a Deny of the same path and tasks. An
// entry of the same path, scope and tasks is replaced. The rest of the file, its comments
// and its order stay. The file is made when there is none. The error is CONFIG_INVALID for
// a file that does not parse, which is left alone.
func (f AllowFiles) Allow(e Entry) (Edit, error) {
	if !slices.Contains([]Scope{ScopeTask, ScopeFile, ScopeDirectory}, e.Scope) || !filepath.IsAbs(e.Path) || (e.Scope == ScopeTask) != (len(e.Tasks) > 0) {
		return Edit{}, fault.New(fault.InvalidInput, "an entry that allows has an absolute path, the scope Task, File or Directory, and tasks for Task alone")
	}
	return f.edit(func(have []Entry) (kept []Entry, added []Entry) {
		found := false
		for _, h := range have {
			same := canonical(h.Path) == canonical(e.Path)
			switch {
			case same && h.Scope == ScopeDeny && overlaps(h, e):
				left := slices.DeleteFunc(slices.Clone(h.Tasks), func(t string) bool { return slices.Contains(e.Tasks, t) })
				if len(left) > 0 {
					h.Tasks = left
					added = append(added, h)
				}
			case same && h.Scope == e.Scope && slices.Equal(h.Tasks, e.Tasks) && reflect.DeepEqual(h, e):
				kept, found = append(kept, h), true
			case same && h.Scope == e.Scope && slices.Equal(h.Tasks, e.Tasks):
			default:
				kept = append(kept, h)
			}
		}
		if !found {
			added = append(added, e)
		}
		return kept, added
	}, e)
}

// overlaps reports whether a Deny is of the same kind as what is to be allowed: of tasks
// and some of them, or of everything at the path.
func overlaps(deny, e Entry) bool {
	if deny.Tasks == nil || e.Tasks == nil {
		return deny.Tasks == nil && e.Tasks == nil
	}
	return slices.ContainsFunc(deny.Tasks, func(t string) bool { return slices.Contains(e.Tasks, t) })
}

// Deny writes an entry that denies the tasks of a file, or without tasks everything at a
// path and below it. Entries that allow stay: a Deny wins.
func (f AllowFiles) Deny(p string, tasks []string) (Edit, error) {
	if !filepath.IsAbs(p) {
		return Edit{}, fault.New(fault.InvalidInput, "the path of an entry is absolute")
	}
	if len(tasks) == 0 {
		tasks = nil
	}
	e := Entry{Path: p, Scope: ScopeDeny, Tasks: tasks}
	return f.edit(func(have []Entry) (kept, added []Entry) {
		if !slices.ContainsFunc(have, func(h Entry) bool { return reflect.DeepEqual(h, e) }) {
			added = []Entry{e}
		}
		return have, added
	}, Entry{})
}

// Remove takes out the entries with the numbers, counted from 0 in the order of the file.
// INVALID_INPUT when there is no such entry.
func (f AllowFiles) Remove(numbers ...int) (Edit, error) {
	bad := false
	e, err := f.edit(func(have []Entry) (kept, added []Entry) {
		bad = slices.ContainsFunc(numbers, func(n int) bool { return n < 0 || n >= len(have) })
		for i, h := range have {
			if bad || !slices.Contains(numbers, i) {
				kept = append(kept, h)
			}
		}
		return kept, nil
	}, Entry{})
	if err == nil && bad {
		return Edit{}, fault.New(fault.InvalidInput, "the allowlist has no entry of that number")
	}
	return e, err
}

// edit changes the file under a lock on its folder. change says which entries stay, in
// their order, and which are added behind them.
func (f AllowFiles) edit(change func([]Entry) (kept, added []Entry), wanted Entry) (Edit, error) {
	a := f.Load()
	if a.Path == "" {
		return Edit{}, fault.New(fault.ConfigInvalid, "there is no home folder to keep the allowlist in")
	}
	target := canonical(a.Path) // a link to a file elsewhere stays one
	dir := filepath.Dir(target)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return Edit{}, fault.New(fault.ConfigInvalid, "the folder of the allowlist cannot be made").Because(err)
	}
	unlock, err := lockFolder(dir)
	if err != nil {
		return Edit{}, err
	}
	defer unlock()
	text, err := readAllowlist(target)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Edit{}, unusable(err)
	}
	have, err := parseAllowlist(text)
	if err != nil {
		return Edit{}, unusable(err)
	}
	kept, added := change(have)
	result := Edit{Path: a.Path, Added: added}
	for _, h := range have {
		if !slices.ContainsFunc(kept, func(k Entry) bool { return reflect.DeepEqual(k, h) }) {
			result.Removed = append(result.Removed, h)
		}
	}
	for _, k := range append(slices.Clone(kept), added...) {
		if k.Scope == ScopeDeny && wanted.Path != "" && stillDenies(k, wanted) {
			result.Denied = append(result.Denied, k)
		}
	}
	if len(added) == 0 && len(kept) == len(have) {
		return result, nil
	}
	return result, replace(target, rewritten(text, have, kept, added))
}

func stillDenies(deny, e Entry) bool {
	j := judgedEntry{deny, filepath.Clean(deny.Path), canonical(deny.Path)}
	names := e.Tasks
	if names == nil {
		names = []string{""}
	}
	return slices.ContainsFunc(names, func(n string) bool { return j.denies(n, canonical(e.Path)) })
}

func unusable(err error) error {
	return fault.New(fault.ConfigInvalid, "the allowlist cannot be used: %s", sentence(err)).Because(err).
		WithHint("correct the file by hand")
}

// rewritten returns the text with the entries that go cut out and those that come put at
// the end. When the text is written in a way that cutting does not serve, all of it is
// written anew, below the comment that it begins with.
func rewritten(text string, have, kept, added []Entry) string {
	want := append(slices.Clone(kept), added...)
	cut := text
	blocks := entryBlocks(text)
	if len(blocks) == len(have) {
		var b strings.Builder
		last, k := 0, 0
		for i, h := range have {
			if k < len(kept) && reflect.DeepEqual(kept[k], h) {
				k++
				continue
			}
			b.WriteString(text[last:blocks[i].from])
			last = blocks[i].to
		}
		cut = b.String() + text[last:]
	}
	if cut = strings.TrimRight(cut, "\n"); cut != "" {
		cut += "\n"
	}
	for _, e := range added {
		if cut != "" {
			cut += "\n"
		}
		cut += encode(e)
	}
	if got, err := parseAllowlist(cut); err == nil && reflect.DeepEqual(got, want) || err == nil && len(got)+len(want) == 0 {
		return cut
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#") {
			break
		}
		b.WriteString(line)
	}
	for _, e := range want {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(encode(e))
	}
	return b.String()
}

type span struct{ from, to int }

// entryBlocks returns where the [[entries]] tables are, each without the comments and
// blank lines before the next.
func entryBlocks(text string) []span {
	var blocks []span
	at, end, open := 0, 0, false
	for line := range strings.Lines(text) {
		bare := strings.TrimSpace(line)
		if strings.HasPrefix(bare, "[") && !strings.HasPrefix(bare, `["`) {
			if open {
				blocks[len(blocks)-1].to = end
			}
			header, _, _ := strings.Cut(bare, "#")
			open = strings.Join(strings.Fields(header), "") == "[[entries]]"
			if open {
				blocks = append(blocks, span{from: at})
			}
		}
		at += len(line)
		if bare != "" && !strings.HasPrefix(bare, "#") {
			end = at
		}
	}
	if open {
		blocks[len(blocks)-1].to = end
	}
	return blocks
}

// encode returns an entry as a table.
func encode(e Entry) string {
	var b bytes.Buffer
	enc := toml.NewEncoder(&b)
	enc.Indent = ""
	form := struct {
		Entries []Entry `toml:"entries"`
	}{[]Entry{e}}
	if err := enc.Encode(form); err != nil {
		return fmt.Sprintf("# an entry could not be written: %q\n", err)
	}
	return strings.TrimLeft(b.String(), "\n")
}

// lockFolder keeps other processes from editing in a folder until it is unlocked.
func lockFolder(dir string) (unlock func(), err error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, fault.New(fault.ConfigInvalid, "the folder of the allowlist cannot be opened").Because(err)
	}
	if err := syscall.Flock(int(d.Fd()), syscall.LOCK_EX); err != nil {
		d.Close()
		return nil, fault.New(fault.ConfigInvalid, "the folder of the allowlist cannot be locked").Because(err)
	}
	return func() { d.Close() }, nil
}

// replace writes a file whole or not at all, with the mode that it has.
func replace(p, text string) (err error) {
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(p); err == nil {
		mode = info.Mode().Perm()
	}
	tmp, err := os.CreateTemp(filepath.Dir(p), ".allowlist-*")
	if err != nil {
		return fault.New(fault.ConfigInvalid, "the allowlist cannot be written").Because(err)
	}
	defer func() {
		tmp.Close()
		if err != nil {
			os.Remove(tmp.Name())
			err = fault.New(fault.ConfigInvalid, "the allowlist cannot be written").Because(err)
		}
	}()
	if _, err = tmp.WriteString(text); err != nil {
		return err
	}
	if err = errors.Join(tmp.Chmod(mode), tmp.Sync()); err != nil {
		return err
	}
	if err = os.Rename(tmp.Name(), p); err != nil {
		return err
	}
	d, err := os.Open(filepath.Dir(p))
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
