package targets

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/gantry-run/gantry/internal/fault"
)

// lab is a project, a folder of programs and a home, all temporary.
type lab struct {
	t               *testing.T
	root, bin, home string
	p               *Project
}

// newLab writes the files of a txtar archive into a project. Nothing is installed.
func newLab(t *testing.T, archive string) *lab {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{t: t, root: dir + "/project", bin: dir + "/bin", home: dir + "/home"}
	for _, d := range []string{l.root, l.bin, l.home} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range txtar.Parse([]byte(archive)).Files {
		l.write(f.Name, string(f.Data))
	}
	l.open(Options{})
	return l
}

func (l *lab) open(o Options) {
	l.t.Helper()
	o.Env = append([]string{"PATH=" + l.bin, "HOME=" + l.home, "SECRET=x"}, o.Env...)
	o.Allowlist = AllowFiles{Home: l.home, ConfigHome: l.home + "/.config"}
	p, err := Open(l.root, o)
	if err != nil {
		l.t.Fatal(err)
	}
	l.p = p
}

func (l *lab) write(name, text string) {
	l.t.Helper()
	write(l.t, filepath.Join(l.root, name), text)
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (l *lab) link(target, name string) {
	l.t.Helper()
	if err := os.Symlink(target, filepath.Join(l.root, name)); err != nil {
		l.t.Fatal(err)
	}
}

// install puts programs into PATH; they do nothing.
func (l *lab) install(names ...string) {
	l.t.Helper()
	for _, n := range names {
		if err := os.WriteFile(filepath.Join(l.bin, n), []byte("#!/bin/sh\n"), 0o755); err != nil {
			l.t.Fatal(err)
		}
	}
}

// allow writes the legacy allowlist; ROOT in it is the project.
func (l *lab) allow(text string) {
	l.t.Helper()
	write(l.t, l.home+"/.dela/allowlist.toml", strings.ReplaceAll(text, "ROOT", l.root))
}

func (l *lab) list(dir string) Listing {
	l.t.Helper()
	return list(l.t, l.p, dir)
}

// names returns the unique names of a listing.
func (l *lab) names(dir string) string {
	l.t.Helper()
	var names []string
	for _, t := range l.list(dir).Targets {
		names = append(names, t.UniqueName)
	}
	return strings.Join(names, " ")
}

func (l *lab) decide(r Request) (Invocation, error) { return l.p.Decide(l.t.Context(), r) }

// refused wants a fault with a code, and returns it.
func (l *lab) refused(r Request, code fault.Code) *fault.Fault {
	l.t.Helper()
	inv, err := l.decide(r)
	var f *fault.Fault
	if !errors.As(err, &f) || f.Code != code {
		l.t.Errorf("%+.200v: %q, %v, want %s", r, inv.Argv, err, code)
		return &fault.Fault{}
	}
	if strings.Contains(f.Message+f.Hint, l.root) || strings.Contains(f.Message+f.Hint, l.home) || len(f.Message) > 300 {
		l.t.Errorf("%s tells a path or too much: %s; %s", code, f.Message, f.Hint)
	}
	return f
}

// runs wants a decision and returns its argv, joined by |.
func (l *lab) runs(r Request) string {
	l.t.Helper()
	inv, err := l.decide(r)
	if err != nil {
		l.t.Errorf("%+v: %v", r, err)
	}
	return strings.Join(inv.Argv, "|")
}
