package targets

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/gantry-run/gantry/internal/fault"
)

const twoMakefiles = `
-- Makefile --
include sub/inc.mk
build:
	cc
deploy:
	ship
-- sub/inc.mk --
docs:
	man
-- sub/Makefile --
build:
	cc
-- project2/Makefile --
build:
	cc
`

// allowed returns which targets of the root are allowlisted.
func (l *lab) allowed(dir string) string {
	l.t.Helper()
	var names []string
	for _, t := range l.list(dir).Targets {
		if t.Allowlisted {
			names = append(names, t.UniqueName)
		}
	}
	return strings.Join(names, " ")
}

func entry(path, scope, more string) string {
	return "[[entries]]\npath = \"" + path + "\"\nscope = \"" + scope + "\"\n" + more + "\n"
}

func TestTheAllowlistDecidesAsTheFactsSay(t *testing.T) {
	l := newLab(t, twoMakefiles)
	for name, c := range map[string]struct{ file, want string }{
		"nothing":                              {``, ""},
		"a directory covers what is below":     {entry("ROOT", "Directory", ""), "build deploy docs"},
		"a directory is compared by component": {entry("ROOT/sub", "Directory", ""), "docs"},
		"not by prefix":                        {entry("ROOT/su", "Directory", ""), ""},
		"a file":                               {entry("ROOT/Makefile", "File", ""), "build deploy"},
		"an included file is its own":          {entry("ROOT/sub/inc.mk", "File", ""), "docs"},
		"a task":                               {entry("ROOT/Makefile", "Task", `tasks = ["build", "docs"]`), "build"},
		"a task without tasks":                 {entry("ROOT/Makefile", "Task", ""), ""},
		"a task by folder":                     {entry("ROOT", "Task", `tasks = ["build"]`), ""},
		"once is for people":                   {entry("ROOT/Makefile", "Once", `tasks = ["build"]`), ""},
		"deny of a task wins":                  {entry("ROOT", "Directory", "") + entry("ROOT/Makefile", "Deny", `tasks = ["deploy"]`), "build docs"},
		"deny first or last":                   {entry("ROOT/Makefile", "Deny", `tasks = ["deploy"]`) + entry("ROOT/Makefile", "Task", `tasks = ["deploy"]`), ""},
		"deny of tasks needs the exact path":   {entry("ROOT", "Directory", "") + entry("ROOT", "Deny", `tasks = ["deploy"]`), "build deploy docs"},
		"deny of a path":                       {entry("ROOT", "Directory", "") + entry("ROOT/Makefile", "Deny", ""), "docs"},
		"deny of what is below":                {entry("ROOT", "Directory", "") + entry("ROOT/sub", "Deny", ""), "build deploy"},
		"deny of no tasks denies none":         {entry("ROOT", "Directory", "") + entry("ROOT", "Deny", "tasks = []"), "build deploy docs"},
		"a pin that does not hold":             {entry("ROOT/Makefile", "File", `sha256 = "00"`), ""},
		"a pin on a folder never holds":        {entry("ROOT", "Directory", `sha256 = "00"`), ""},
		"an unknown scope spoils the file":     {entry("ROOT", "Directory", "") + entry("ROOT", "directory", ""), ""},
		"an entry without a path too":          {entry("ROOT", "Directory", "") + "[[entries]]\nscope = \"Deny\"\n", ""},
		"and what is no TOML":                  {entry("ROOT", "Directory", "") + "[[entries", ""},
		"unknown keys are others' business":    {"version = 2\n" + entry("ROOT/Makefile", "Task", "tasks = [\"build\"]\nadded = 2026-01-01"), "build"},
	} {
		t.Run(name, func(t *testing.T) {
			l.t = t
			l.allow(c.file)
			if got := l.allowed(""); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
	l.t = t
	l.allow(entry("ROOT/project", "Directory", ""))
	if got := l.allowed("project2"); got != "" {
		t.Errorf("/project covers /project2: %q", got)
	}
}

func TestLinksDoNotFoolTheAllowlist(t *testing.T) {
	l := newLab(t, "-- real/Makefile --\nbuild:\n\tcc\n")
	l.link("real/Makefile", "Makefile")
	l.link("real", "other")
	for file, want := range map[string]string{
		entry("ROOT/real/Makefile", "File", ""):                                    "build",
		entry("ROOT/other/Makefile", "File", ""):                                   "build",
		entry("ROOT/Makefile", "File", ""):                                         "build",
		entry("ROOT", "Directory", "") + entry("ROOT/Makefile", "Deny", ""):        "",
		entry("ROOT", "Directory", "") + entry("ROOT/other/Makefile", "Deny", ""):  "",
		entry("ROOT", "Directory", "") + entry("ROOT/real/../real", "Deny", ""):    "",
		entry("ROOT", "Directory", "") + entry("ROOT/elsewhere/real", "Deny", ""):  "build",
		entry("ROOT", "Directory", "") + entry("ROOT/real/Makefile/x", "Deny", ""): "build",
	} {
		l.allow(file)
		if got := l.allowed(""); got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
}

func TestTheEntryForATargetAllowsIt(t *testing.T) {
	for scope, want := range map[Scope]string{ScopeTask: "build", ScopeFile: "build deploy", ScopeDirectory: "build deploy docs"} {
		for _, pin := range []bool{false, true} {
			l := newLab(t, twoMakefiles)
			e := l.p.EntryFor(l.list("").Targets[0], scope, pin)
			if _, err := l.p.o.Allowlist.Allow(e); err != nil {
				t.Fatal(err)
			}
			if got := l.allowed(""); got != want {
				t.Errorf("%s, pin %v: %q, want %q", scope, pin, got, want)
			}
			l.write("Makefile", "include sub/inc.mk\nbuild:\n\tchanged\ndeploy:\n\tship\n")
			if got := l.allowed(""); (got == want) != (!pin || scope == ScopeDirectory) {
				t.Errorf("%s, pin %v, after a change: %q", scope, pin, got)
			}
		}
	}
}

func TestADenyCoversAFolderOfLinks(t *testing.T) {
	l := newLab(t, "-- real/Makefile --\nbuild:\n\tcc\n-- links/x --\n")
	l.link("../real/Makefile", "links/Makefile")
	l.allow(entry("ROOT", "Directory", ""))
	if got := l.allowed("links"); got != "build" {
		t.Errorf("%q", got)
	}
	l.allow(entry("ROOT", "Directory", "") + entry("ROOT/links", "Deny", ""))
	if got := l.allowed("links"); got != "" {
		t.Errorf("%q", got)
	}
}

func TestTheFirstAllowlistThatExistsCounts(t *testing.T) {
	l := newLab(t, twoMakefiles)
	all := strings.ReplaceAll(entry("ROOT", "Directory", ""), "ROOT", l.root)
	if got := l.allowed(""); got != "" {
		t.Errorf("without a file: %q", got)
	}
	write(t, l.home+"/.config/gantry/allowlist.toml", all)
	if got := l.allowed(""); got != "build deploy docs" {
		t.Errorf("gantry's own: %q", got)
	}
	write(t, l.home+"/.config/dela/allowlist.toml", "")
	if got := l.allowed(""); got != "" {
		t.Errorf("dela's is empty and counts: %q", got)
	}
	l.allow(all)
	if got := l.allowed(""); got != "build deploy docs" {
		t.Errorf("the legacy one: %q", got)
	}
	l.allow("[[entries") // is read anew, and hides the others
	if got := l.allowed(""); got != "" {
		t.Errorf("a broken one: %q", got)
	}
}

func TestAnEditKeepsCommentsAndOrder(t *testing.T) {
	l := newLab(t, twoMakefiles)
	files := l.p.o.Allowlist
	l.allow("# Mine.\n\n# first\n[[entries]] # here\npath = \"ROOT/sub\" # sub\nscope = \"Directory\"\n\n# second\n[[entries]]\npath = \"ROOT/Makefile\"\nscope = \"Deny\"\ntasks = [\n  \"deploy\", # no\n  \"build\",\n]\n\n# third\n[[entries]]\npath = \"/x\"\nscope = \"Once\"\n# end\n")
	edit, err := files.Allow(Entry{Path: l.root + "/Makefile", Scope: ScopeTask, Tasks: []string{"build"}, Options: true})
	if err != nil || len(edit.Added) != 2 || len(edit.Removed) != 1 || len(edit.Denied) != 0 {
		t.Fatalf("%+v, %v", edit, err)
	}
	want := strings.ReplaceAll("# Mine.\n\n# first\n[[entries]] # here\npath = \"ROOT/sub\" # sub\nscope = \"Directory\"\n\n# second\n\n# third\n[[entries]]\npath = \"/x\"\nscope = \"Once\"\n# end\n\n"+
		"[[entries]]\npath = \"ROOT/Makefile\"\nscope = \"Deny\"\ntasks = [\"deploy\"]\n\n[[entries]]\npath = \"ROOT/Makefile\"\nscope = \"Task\"\ntasks = [\"build\"]\noptions = true\n", "ROOT", l.root)
	if got, _ := os.ReadFile(edit.Path); string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := l.allowed(""); got != "build docs" {
		t.Errorf("%q", got)
	}
	again, err := files.Allow(Entry{Path: l.root + "/Makefile", Scope: ScopeTask, Tasks: []string{"build"}, Options: true})
	if got, _ := os.ReadFile(edit.Path); err != nil || len(again.Added)+len(again.Removed) != 0 || string(got) != want {
		t.Errorf("the same again: %+v, %v", again, err)
	}
	replaced, err := files.Allow(Entry{Path: l.root + "/Makefile", Scope: ScopeTask, Tasks: []string{"build"}})
	if err != nil || len(replaced.Added) != 1 || len(replaced.Removed) != 1 || !replaced.Removed[0].Options {
		t.Errorf("without options: %+v, %v", replaced, err)
	}
	denied, err := files.Deny(l.root, nil)
	if err != nil || len(denied.Added) != 1 || l.allowed("") != "" {
		t.Errorf("%+v, %v", denied, err)
	}
	still, err := files.Allow(Entry{Path: l.root + "/Makefile", Scope: ScopeFile})
	if err != nil || len(still.Denied) != 1 || still.Denied[0].Path != l.root {
		t.Errorf("what still denies is told: %+v, %v", still, err)
	}
	if _, err := files.Remove(99); !fault.Is(err, fault.InvalidInput) {
		t.Error(err)
	}
	entries := files.Load().Entries
	if _, err := files.Remove(len(entries) - 2); err != nil || l.allowed("") != "build docs" && l.allowed("") != "build deploy docs" {
		t.Errorf("%v, %q", err, l.allowed(""))
	}
}

func TestAnAllowlistWrittenInOneLineIsWrittenAnew(t *testing.T) {
	l := newLab(t, twoMakefiles)
	l.allow("# Mine.\nentries = [{path = \"ROOT/sub\", scope = \"Directory\"}]\n")
	edit, err := l.p.o.Allowlist.Allow(Entry{Path: l.root + "/Makefile", Scope: ScopeFile})
	if err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(edit.Path); !strings.HasPrefix(string(text), "# Mine.\n\n[[entries]]\n") || l.allowed("") != "build deploy docs" {
		t.Errorf("%s", text)
	}
}

func TestANewAllowlistIsPrivateAndALinkStaysOne(t *testing.T) {
	l := newLab(t, twoMakefiles)
	files := l.p.o.Allowlist
	edit, err := files.Allow(Entry{Path: l.root, Scope: ScopeDirectory})
	if err != nil || edit.Path != l.home+"/.config/gantry/allowlist.toml" {
		t.Fatalf("%+v, %v", edit, err)
	}
	if info, err := os.Stat(edit.Path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	real := l.home + "/dotfiles.toml"
	if err := os.Rename(edit.Path, real); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, edit.Path); err != nil {
		t.Fatal(err)
	}
	if _, err := files.Deny(l.root+"/Makefile", []string{"build"}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(edit.Path); err != nil || info.Mode()&os.ModeSymlink == 0 || l.allowed("") != "deploy docs" {
		t.Errorf("%v, %v, %q", info, err, l.allowed(""))
	}
	left, _ := filepath.Glob(filepath.Join(l.home, ".allowlist-*"))
	if len(left) > 0 {
		t.Error(left)
	}
}

func TestAnAllowlistThatDoesNotParseIsLeftAlone(t *testing.T) {
	l := newLab(t, twoMakefiles)
	l.allow("[[entries")
	if _, err := l.p.o.Allowlist.Allow(Entry{Path: l.root, Scope: ScopeDirectory}); !fault.Is(err, fault.ConfigInvalid) {
		t.Error(err)
	}
	if got, _ := os.ReadFile(l.home + "/.dela/allowlist.toml"); string(got) != "[[entries" {
		t.Errorf("%s", got)
	}
	for _, e := range []Entry{{Path: "rel", Scope: ScopeFile}, {Path: "/x", Scope: ScopeTask}, {Path: "/x", Scope: ScopeOnce}, {Path: "/x", Scope: ScopeFile, Tasks: []string{"a"}}} {
		if _, err := l.p.o.Allowlist.Allow(e); !fault.Is(err, fault.InvalidInput) {
			t.Errorf("%+v: %v", e, err)
		}
	}
}

func TestEditsAtOnceAllCount(t *testing.T) {
	l := newLab(t, twoMakefiles)
	var wg sync.WaitGroup
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		wg.Go(func() {
			if _, err := l.p.o.Allowlist.Allow(Entry{Path: l.root + "/Makefile", Scope: ScopeTask, Tasks: []string{name}}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if a := l.p.o.Allowlist.Load(); len(a.Entries) != 8 || a.Err != nil {
		t.Errorf("%d entries, %v", len(a.Entries), a.Err)
	}
}
