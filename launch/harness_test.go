package launch

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/git"
	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/runs/local"
	"github.com/gantry-run/gantry/specs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a service on real git, a real engine and a real store.
//
//	root/product   a Go module in git
//	root/site.git  a bare repository of a site with pages of its own
type world struct {
	t           *testing.T
	root, state string
	env         []string
	store       *runs.Store
	svc         *Service
	options     Options
}

var productFiles = map[string]string{
	"README.md": "# Widget\n\nWidget turns rows into tables. It reads CSV and JSON.\n\n## Install\n\n```sh\ngo get example.com/acme/widget\n```\n\n" +
		"## Features\n\n- Renders a table of 10,000 rows in 5 ms.\n- Supports CSV, JSON and TSV input.\n- Writes HTML and Markdown.\n",
	"LICENSE":   "MIT License\n\nCopyright (c) 2026 The Widget Authors\n\nPermission is hereby granted, free of charge, to any person obtaining a copy\n",
	"go.mod":    "module example.com/acme/widget\n\ngo 1.24\n",
	"widget.go": "// Package widget renders tables.\npackage widget\n\n// Render renders rows as a table.\nfunc Render(rows [][]string) string { return \"\" }\n",
}

var siteFiles = map[string]string{
	"hugo.toml":                   "baseURL = \"https://docs.example.com/\"\ntitle = \"Docs\"\n",
	"content/_index.md":           "---\ntitle: Home\n---\n\nWelcome.\n",
	"content/docs/_index.md":      "---\ntitle: Documentation\ndescription: All of it.\n---\n\nStart here.\n",
	"content/docs/other/intro.md": "---\ntitle: Intro\ndescription: First steps.\n---\n\n# Intro\n\nText.\n",
	"content/blog/_index.md":      "---\ntitle: Blog\ndescription: News.\n---\n\nNews.\n",
	"content/reference/_index.md": "---\ntitle: Reference\ndescription: Symbols.\n---\n\nSymbols.\n",
	"static/canary.txt":           "canary\n",
}

// newWorld returns a world; wrap, unless nil, replaces workers.
func newWorld(t *testing.T, wrap func(name string, do runs.Activity) runs.Activity) *world {
	t.Helper()
	return newWorldWith(t, WorkerOptions{}, wrap)
}

// newWorldWith is newWorld with options of the workers.
func newWorldWith(t *testing.T, o WorkerOptions, wrap func(name string, do runs.Activity) runs.Activity) *world {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, root: filepath.Join(base, "root"), state: filepath.Join(base, "state")}
	w.env = []string{
		"HOME=" + base, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "TMPDIR=" + base,
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com",
		"GIT_AUTHOR_DATE=2026-01-02T03:04:05Z", "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z",
	}
	w.repository("product", productFiles)
	w.repository("site", siteFiles)
	w.git("", "clone", "-q", "--bare", "site", "site.git")
	g, err := git.New(git.Options{Env: w.env})
	if err != nil {
		t.Fatal(err)
	}
	o.Git = g
	workers := Workers(o)
	if wrap != nil {
		for name, do := range workers {
			workers[name] = wrap(name, do)
		}
	}
	if w.store, err = runs.OpenStore(w.state, runs.StoreOptions{}); err != nil {
		t.Fatal(err)
	}
	engine := local.New(local.Options{Store: w.store, Workers: workers, Backoff: func(int) time.Duration { return time.Millisecond }})
	t.Cleanup(func() {
		if err := engine.Close(context.Background()); err != nil {
			t.Error(err)
		}
		w.store.Close()
	})
	w.options = Options{Store: w.store, Engine: engine, Git: g, Specs: specs.Files(), Root: w.root}
	w.svc = NewService(w.options)
	return w
}

// as returns the service with other options.
func (w *world) as(change func(*Options)) *Service {
	o := w.options
	change(&o)
	return NewService(o)
}

func (w *world) write(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) repository(name string, files map[string]string) {
	w.t.Helper()
	for path, text := range files {
		w.write(filepath.Join(name, path), text)
	}
	w.git(name, "init", "-q", "-b", "main")
	w.git(name, "add", "-A")
	w.git(name, "commit", "-q", "-m", "first")
}

// git runs git in a folder below the root, or in an absolute one.
func (w *world) git(dir string, args ...string) string {
	w.t.Helper()
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(w.root, dir)
	}
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, w.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// start starts a launch of the product; members are added to its run_config.
func (w *world) start(members string) runs.ID {
	w.t.Helper()
	s, err := w.svc.Start(w.t.Context(), Ask{}, json.RawMessage(`{"github_repo_url":"product"`+members+`}`))
	if err != nil {
		w.t.Fatal(err)
	}
	return s.ID
}

// rest waits until a run pauses or ends and returns it.
func (w *world) rest(id runs.ID) *runs.View {
	w.t.Helper()
	ctx, stop := context.WithTimeout(w.t.Context(), time.Minute)
	defer stop()
	v, err := w.store.Until(ctx, id, func(v *runs.View) bool { return !v.Busy() })
	if err != nil {
		w.t.Fatalf("waiting for run %s: %v", id, err)
	}
	return v
}

// in waits until a run rests and fails the test unless it is in the state.
func (w *world) in(id runs.ID, state runs.State) *runs.View {
	w.t.Helper()
	v := w.rest(id)
	if v.State != state {
		raw, _ := json.Marshal(v.Failure)
		w.t.Fatalf("run %s is in %s, want %s: %s", id, v.State, state, raw)
	}
	return v
}

// site is the run's work tree.
func (w *world) site(id runs.ID) string { return filepath.Join(w.store.Dir(id), "work", "site") }

// pr is the run's pull request.
func (w *world) pr(id runs.ID) dossier.PR {
	w.t.Helper()
	v, err := w.store.View(id)
	if err != nil {
		w.t.Fatal(err)
	}
	var pr dossier.PR
	if err := w.svc.document(v, dossier.PRName, &pr); err != nil {
		w.t.Fatal(err)
	}
	return pr
}

const autopilot = `,"autopilot":{"fix":true,"open_pr":true}`

// tree is the content of every file below a folder, by path; git's own folders and
// what keeps the run itself are left out.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		if d.IsDir() {
			if d.Name() == ".git" || name == "commands" {
				return fs.SkipDir
			}
			return nil
		}
		if slices.Contains([]string{"events.ndjson", "snapshot.json"}, name) || strings.HasSuffix(name, ".lock") || strings.HasPrefix(name, ".tmp-snapshot") {
			return nil
		}
		raw, err := os.ReadFile(path)
		out[name] = string(raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func codeOf(err error) fault.Code {
	if err == nil {
		return ""
	}
	return fault.From(err).Code
}
