package targets

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/proc"
)

// Options are what a project needs to know of its surroundings.
type Options struct {
	Env       []string   // of the server, NAME=value: PATH, and what targets inherit of it
	Allowlist AllowFiles // where consent is written
	Inherit   []string   // names that targets inherit beside the usual ones
	AskJust   bool       // run `just --dump` when just is installed
}

// Project is a folder whose targets callers see and start. It may be used by several
// goroutines at once.
type Project struct {
	root string // absolute, links followed
	o    Options

	mu   sync.Mutex
	kept map[string]keptListing // by folder
}

// keptListing is a listing with what it was made from.
type keptListing struct {
	listing Listing
	trace   *trace
}

// maxKept is how many folders' listings are kept.
const maxKept = 64

// Open returns the project in a folder. The error is CONFIG_INVALID when there is none.
func Open(root string, o Options) (*Project, error) {
	abs, err := filepath.Abs(root)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err != nil {
		return nil, fault.New(fault.ConfigInvalid, "the project's root is not a folder").Because(err)
	}
	return &Project{root: abs, o: o, kept: map[string]keptListing{}}, nil
}

// Root returns the project's folder: absolute, with links followed.
func (p *Project) Root() string { return p.root }

// EntryFor returns the entry that allows a target: its task alone, every task of its file,
// or for ScopeDirectory every task of the file's folder and below. With pin, the entry of a
// task or file counts only while the recipe or the file is as it is now.
func (p *Project) EntryFor(t Target, scope Scope, pin bool) Entry {
	e := Entry{Path: canonical(filepath.Join(p.root, filepath.FromSlash(t.FilePath))), Scope: scope}
	switch scope {
	case ScopeDirectory:
		e.Path = filepath.Dir(e.Path)
	case ScopeTask:
		e.Tasks = []string{t.Name}
		if pin {
			e.SHA256 = t.Recipe()
		}
	case ScopeFile:
		if pin {
			e.SHA256 = t.Source
		}
	}
	return e
}

// List returns the targets of a folder, which is the root's when dir is empty: a path
// relative to the root, or an absolute one in it. Whether a tool is installed and what the
// allowlist says are as of now. The error is PATH_OUTSIDE_ROOT or INVALID_INPUT for a dir
// that is none.
func (p *Project) List(ctx context.Context, dir string) (Listing, error) {
	rel, err := p.confine(dir)
	if err != nil {
		return Listing{}, err
	}
	return p.list(ctx, rel)
}

// list returns the listing of a confined folder.
func (p *Project) list(ctx context.Context, rel string) (Listing, error) {
	l, err := p.discover(ctx, rel)
	if err != nil {
		return Listing{}, err
	}
	l.Targets, l.Problems = slices.Clone(l.Targets), slices.Clone(l.Problems)
	judge := p.o.Allowlist.Load().judge(p.root)
	installed := map[string]bool{}
	for i := range l.Targets {
		t := &l.Targets[i]
		have, known := installed[t.tool.Program]
		if !known {
			have = p.available(*t)
			installed[t.tool.Program] = have
		}
		t.Available = have && !t.tool.Never
		t.Allowlisted = judge.of(*t).allowed
	}
	return l, nil
}

// discover returns the listing of a folder, the kept one while nothing that it was made
// from has changed.
func (p *Project) discover(ctx context.Context, rel string) (Listing, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	root, err := os.OpenRoot(p.root)
	if err != nil {
		return Listing{}, fault.New(fault.ConfigInvalid, "the project's root cannot be opened").Because(err)
	}
	defer root.Close()
	if k, ok := p.kept[rel]; ok && k.trace.holds(root) {
		return k.listing, nil
	}
	tr := newTrace(p.o.Env)
	f, err := openFolder(ctx, root, rel, tr)
	if err != nil {
		return Listing{}, noFolder(err)
	}
	if p.o.AskJust && tr.installed("just") {
		f.dump = func(justfile string) ([]byte, error) { return p.dumpJust(ctx, justfile) }
	}
	l := f.look()
	if err := ctx.Err(); err != nil {
		return Listing{}, err
	}
	delete(p.kept, rel)
	if tr.settled() {
		if len(p.kept) >= maxKept {
			clear(p.kept)
		}
		p.kept[rel] = keptListing{l, tr}
	}
	return l, nil
}

// look asks every runner.
func (f *folder) look() Listing {
	for _, r := range Runners() {
		f.begin()
		r.find(f)
	}
	name(f.targets)
	slices.SortStableFunc(f.problems, func(a, b Problem) int { return cmp.Compare(a.FilePath, b.FilePath) })
	return Listing{Dir: f.dir, Targets: f.targets, Problems: slices.Compact(f.problems)}
}

// dumpTime is how long just may take to describe a justfile.
const dumpTime = 3 * time.Second

// dumpJust returns what just says of a justfile. It reads and evaluates nothing.
func (p *Project) dumpJust(ctx context.Context, justfile string) ([]byte, error) {
	r, err := proc.Run(ctx, proc.Spec{
		Name: "just", Args: []string{"--dump", "--dump-format", "json", "--justfile", path.Base(justfile)},
		Dir: filepath.Join(p.root, filepath.FromSlash(path.Dir(justfile))), Env: p.baseEnv(), Timeout: dumpTime, MaxOutput: 8 << 20,
	})
	if err == nil {
		err = r.Err("just")
	}
	if err == nil && r.StdoutTruncated {
		err = errors.New("just says too much")
	}
	return r.Stdout, err
}

// available reports whether the program of a target's tool is there: in PATH, or in the
// target's own folder.
func (p *Project) available(t Target) bool {
	program := t.tool.Program
	if strings.HasPrefix(program, "./") {
		program = filepath.Join(p.root, filepath.FromSlash(t.Dir), program)
	}
	if program == "" {
		return true
	}
	_, err := proc.LookPath(program, p.o.Env)
	return err == nil
}
