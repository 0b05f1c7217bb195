package targets

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/BurntSushi/toml"
)

// Scope says what an entry of the allowlist covers.
type Scope string

// The scopes, as the file writes them.
const (
	ScopeOnce      Scope = "Once"      // one run by a person; nothing for callers
	ScopeTask      Scope = "Task"      // the named tasks of a file
	ScopeFile      Scope = "File"      // every task of a file
	ScopeDirectory Scope = "Directory" // every task of the files in a folder and below it
	ScopeDeny      Scope = "Deny"      // what callers may not start, whatever else allows it
)

// Entry is one entry of the allowlist.
type Entry struct {
	Path     string   `toml:"path"`
	Scope    Scope    `toml:"scope"`
	Tasks    []string `toml:"tasks,omitempty"`     // plain names; nil: the entry has none, which for Deny means all
	Options  bool     `toml:"options,omitempty"`   // callers may pass options, arguments that begin with -
	AllowEnv []string `toml:"allow_env,omitempty"` // variables that callers may set although they are refused else
	SHA256   string   `toml:"sha256,omitempty"`    // of the recipe (Task) or the file (File) that was allowed; empty: any
}

// Allowlist is the consent of the people whose project this is, as their file says at one
// moment.
type Allowlist struct {
	Path    string // of the file, or of the one that would be made
	Exists  bool
	Entries []Entry // in the order of the file
	Err     error   // why the file cannot be used; it then allows nothing
}

// AllowFiles says where the allowlist may be. The first file that exists counts:
// ~/.dela/allowlist.toml, dela/allowlist.toml in the configuration home, then gantry's own
// gantry/allowlist.toml there.
type AllowFiles struct {
	Home       string // of the user; empty: none
	ConfigHome string // $XDG_CONFIG_HOME or its default; empty: none
}

// paths returns where an allowlist may be. The last one is where a new one is made.
func (f AllowFiles) paths() []string {
	var list []string
	if filepath.IsAbs(f.Home) {
		list = append(list, filepath.Join(f.Home, ".dela", "allowlist.toml"))
	}
	if filepath.IsAbs(f.ConfigHome) {
		list = append(list, filepath.Join(f.ConfigHome, "dela", "allowlist.toml"), filepath.Join(f.ConfigHome, "gantry", "allowlist.toml"))
	}
	return list
}

// Load reads the allowlist as it is now. A file that is there and cannot be used hides
// the others: it may hold a Deny.
func (f AllowFiles) Load() Allowlist {
	a := Allowlist{}
	for _, p := range f.paths() {
		a.Path = p
		text, err := readAllowlist(p)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		a.Exists = true
		if err == nil {
			a.Entries, err = parseAllowlist(text)
		}
		a.Err = err
		return a
	}
	return a
}

// readAllowlist reads a regular file of at most maxFile bytes.
func readAllowlist(p string) (string, error) {
	file, err := os.OpenFile(p, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", errors.Join(errNotRegular, err)
	}
	raw, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err == nil && len(raw) > maxFile {
		err = errTooLarge
	}
	return string(raw), err
}

func parseAllowlist(text string) ([]Entry, error) {
	if deep(text) {
		return nil, errTooDeep
	}
	var form struct {
		Entries []Entry `toml:"entries"`
	}
	if _, err := toml.Decode(text, &form); err != nil {
		return nil, tomlFault(err)
	}
	for i, e := range form.Entries {
		if e.Path == "" {
			return nil, fmt.Errorf("entry %d has no path", i+1)
		}
		if !slices.Contains([]Scope{ScopeOnce, ScopeTask, ScopeFile, ScopeDirectory, ScopeDeny}, e.Scope) {
			return nil, fmt.Errorf("entry %d has the unknown scope %s", i+1, shown(string(e.Scope)))
		}
	}
	return form.Entries, nil
}

// verdict is what the allowlist says of one target.
type verdict struct {
	allowed, denied bool
	changed         bool // it would be allowed, had its recipe not changed
	options         bool
	allowEnv        []string
}

// judge compares targets of one project with the allowlist. Paths are compared with links
// followed; a Deny also by the path as it is written.
type judge struct {
	root    string
	entries []judgedEntry
	real    map[string]string // by path relative to the root
}

type judgedEntry struct {
	Entry
	plain, real string
}

func (a Allowlist) judge(root string) *judge {
	j := &judge{root: root, real: map[string]string{}}
	if a.Err != nil {
		return j
	}
	for _, e := range a.Entries {
		plain := filepath.Clean(e.Path)
		if !filepath.IsAbs(plain) {
			plain = filepath.Join(root, plain)
		}
		j.entries = append(j.entries, judgedEntry{e, plain, canonical(plain)})
	}
	return j
}

// canonical follows the links of a path, or of as much of it as exists.
func canonical(p string) string {
	if real, err := filepath.EvalSymlinks(p); err == nil {
		return real
	}
	if parent := filepath.Dir(p); parent != p {
		return filepath.Join(canonical(parent), filepath.Base(p))
	}
	return p
}

// of returns the verdict on a target: a Deny wins; else any entry that allows. A pin must
// hold for its entry to count.
func (j *judge) of(t Target) verdict {
	plain := filepath.Join(j.root, filepath.FromSlash(t.FilePath))
	real, known := j.real[t.FilePath]
	if !known {
		real = canonical(plain)
		j.real[t.FilePath] = real
	}
	var v verdict
	for _, e := range j.entries {
		if e.Scope == ScopeDeny && (e.denies(t.Name, real) || e.denies(t.Name, plain)) {
			return verdict{denied: true}
		}
	}
	for _, e := range j.entries {
		if !e.allows(t.Name, real) {
			continue
		}
		if !e.pinned(t) {
			v.changed = true
			continue
		}
		v.allowed = true
		v.options = v.options || e.Options
		v.allowEnv = append(v.allowEnv, e.AllowEnv...)
	}
	v.changed = v.changed && !v.allowed
	return v
}

func (e judgedEntry) denies(name, file string) bool {
	if e.Tasks != nil {
		return (file == e.real || file == e.plain) && slices.Contains(e.Tasks, name)
	}
	return inside(e.real, file) || inside(e.plain, file)
}

func (e judgedEntry) allows(name, file string) bool {
	switch e.Scope {
	case ScopeDirectory:
		return inside(e.real, file)
	case ScopeFile:
		return file == e.real
	case ScopeTask:
		return file == e.real && slices.Contains(e.Tasks, name)
	}
	return false
}

// pinned reports whether what was allowed is what is there. A folder has no one sum, so a
// pin on one never holds.
func (e judgedEntry) pinned(t Target) bool {
	switch {
	case e.SHA256 == "":
		return true
	case e.Scope == ScopeFile:
		return strings.EqualFold(e.SHA256, t.Source)
	case e.Scope == ScopeTask:
		return strings.EqualFold(e.SHA256, t.Recipe())
	}
	return false
}

// inside reports whether a path is a folder or lies below it. /project2 is not inside
// /project.
func inside(folder, p string) bool {
	rel, err := filepath.Rel(folder, p)
	return err == nil && filepath.IsLocal(rel)
}
