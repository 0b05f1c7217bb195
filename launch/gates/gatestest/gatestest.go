// Package gatestest makes sites for the tests of gates and fixes from txtar
// files.
//
// An archive's files are the site's, except artifacts/NAME, which replaces or
// adds an artifact (merged over a valid one if it is a JSON object), and
// repo/PATH, a file of the product's repository, before/PATH, the page as it
// was before the launch, and bin/NAME, a program that the gates find on their
// PATH (without any, they find none). Files that end in ".want" or begin with
// "after/" are what the test expects. The archive's comment may hold lines
// "gate: NAME", "changed: PATH …" (default: every page), "profile: NAME",
// "timeout: 100ms", "config: {…}", members of the run_config, and "web: on":
// http://web.test is then a server of the test's own that may be asked. A file
// whose content is "-> TARGET" is a symbolic link.
package gatestest

import (
	"cmp"
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/launch/gates"
)

// Case is one loaded archive.
type Case struct {
	Archive *txtar.Archive
	Gate    string
	Input   *gates.Input
	dir     string
	timeout time.Duration // of the gate, instead of its own
	Web     string        // the address of the test's own server; "" without one
}

// Load unpacks the archive into temporary folders.
func Load(t testing.TB, file string) Case {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return Unpack(t, archive)
}

// Unpack is Load for an archive in memory.
func Unpack(t testing.TB, archive *txtar.Archive) Case {
	t.Helper()
	c := Case{Archive: archive, dir: t.TempDir()}
	site, repo := filepath.Join(c.dir, "site"), filepath.Join(c.dir, "repo")
	artifacts := defaults()
	if strings.Contains(string(archive.Comment), "web: on") {
		c.Web = serve(t)
	}
	var pages, env []string
	for _, f := range archive.Files {
		switch name, artifact := strings.CutPrefix(f.Name, "artifacts/"); {
		case artifact:
			artifacts[name] = merge(t, artifacts[name], f.Data)
		case strings.HasPrefix(f.Name, "repo/"):
			write(t, filepath.Join(repo, strings.TrimPrefix(f.Name, "repo/")), f.Data)
		case strings.HasPrefix(f.Name, "bin/"):
			program(t, filepath.Join(c.dir, f.Name), f.Data)
			env = []string{"PATH=" + filepath.Join(c.dir, "bin") + ":/usr/bin:/bin"}
		case strings.HasPrefix(f.Name, "before/"), strings.HasPrefix(f.Name, "after/"), strings.HasSuffix(f.Name, ".want"):
		default:
			write(t, filepath.Join(site, f.Name), []byte(strings.ReplaceAll(string(f.Data), webName, cmp.Or(c.Web, webName))))
			pages = append(pages, f.Name)
		}
	}
	c.Input = &gates.Input{
		Env: env, Scratch: filepath.Join(c.dir, "scratch"), Reach: c.reach,
		Site: root(t, site), Repo: root(t, repo), Changed: pages, Config: config(), Context: siteContext(artifacts),
		Before: func(name string) ([]byte, error) {
			if text, ok := c.File("before/" + name); ok {
				return []byte(text), nil
			}
			return nil, fs.ErrNotExist
		},
		Artifact: func(name string) ([]byte, error) {
			raw, ok := artifacts[name]
			if !ok {
				return nil, fs.ErrNotExist
			}
			return raw, nil
		},
	}
	for line := range strings.Lines(string(archive.Comment)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch key {
		case "gate":
			c.Gate = value
		case "profile":
			c.Input.Config.Profile = value
		case "timeout":
			limit, err := time.ParseDuration(value)
			if err != nil {
				t.Fatal(err)
			}
			c.timeout = limit
		case "config":
			if err := json.Unmarshal([]byte(value), &c.Input.Config); err != nil {
				t.Fatal(err)
			}
		case "changed":
			c.Input.Changed = strings.Fields(value)
		}
	}
	return c
}

// Gates returns the gate that the archive names, or all of them.
func (c Case) Gates(t testing.TB) []gates.Gate {
	t.Helper()
	if c.Gate == "" {
		return gates.All()
	}
	i := slices.IndexFunc(gates.All(), func(g gates.Gate) bool { return g.Name == c.Gate })
	if i < 0 {
		t.Fatalf("no gate %q", c.Gate)
	}
	g := gates.All()[i]
	if c.timeout > 0 {
		g.Timeout = func(string) time.Duration { return c.timeout }
	}
	return []gates.Gate{g}
}

// File returns the archive's file of the name.
func (c Case) File(name string) (string, bool) {
	for _, f := range c.Archive.Files {
		if f.Name == name {
			return string(f.Data), true
		}
	}
	return "", false
}

// Site returns the files of the site as they are now.
func (c Case) Site(t testing.TB) map[string]string {
	t.Helper()
	files := map[string]string{}
	base := filepath.Join(c.dir, "site")
	err := filepath.WalkDir(base, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(name)
		rel, _ := filepath.Rel(base, name)
		files[filepath.ToSlash(rel)] = string(raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func root(t testing.TB, dir string) *os.Root {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	r, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func write(t testing.TB, name string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	var err error
	if target, link := strings.CutPrefix(strings.TrimSpace(string(data)), "-> "); link {
		err = os.Symlink(target, name)
	} else {
		err = os.WriteFile(name, data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// program writes a script that can be run.
func program(t testing.TB, name string, data []byte) {
	t.Helper()
	write(t, name, data)
	if err := os.Chmod(name, 0o755); err != nil {
		t.Fatal(err)
	}
}

// merge puts the members of an object over those of the default.
func merge(t testing.TB, base, over []byte) []byte {
	t.Helper()
	var a, b map[string]json.RawMessage
	if json.Unmarshal(base, &a) != nil || json.Unmarshal(over, &b) != nil {
		return over
	}
	maps.Copy(a, b)
	raw, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func siteContext(artifacts map[string][]byte) (c dossier.SiteContext) {
	_ = json.Unmarshal(artifacts[dossier.SiteContextName], &c) // a broken one is the schema gate's case
	return c
}
