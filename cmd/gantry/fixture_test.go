package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gantry-run/gantry/runs"
)

// world is what a test has to itself: a project root, a state directory and a
// home, with an environment in which nothing of this machine shows but git.
//
//	root/product   a Go module in git
//	root/site      a Hugo site in git, with pages of its own
//	root/plain     a folder that is no repository
//	root/empty     a repository without commits
//	root/plans/taskcards/TC-12_export.md
type world struct {
	t           *testing.T
	root, state string
	home        string
	env         []string
	store       *runs.Store
}

const productReadme = `# Widget

Widget turns rows into tables. It reads CSV and JSON. It was made in a café.

## Install

` + "```sh\ngo get example.com/acme/widget\n```" + `

## Usage

` + "```go\npackage main\n\nimport \"example.com/acme/widget\"\n\nfunc main() { widget.Render(nil) }\n```" + `

## Features

- Renders a table of 10,000 rows in 5 ms.
- Supports CSV, JSON and TSV input.
- Writes HTML and Markdown.
`

var productFiles = map[string]string{
	"README.md": productReadme,
	"LICENSE":   "MIT License\n\nCopyright (c) 2026 The Widget Authors\n\nPermission is hereby granted, free of charge, to any person obtaining a copy\n",
	"go.mod":    "module example.com/acme/widget\n\ngo 1.24\n",
	"widget.go": "// Package widget renders tables.\npackage widget\n\n// Render renders rows as a table.\nfunc Render(rows [][]string) string { return \"\" }\n",
}

var siteFiles = map[string]string{
	"hugo.toml":                      "baseURL = \"https://docs.example.com/\"\ntitle = \"Docs\"\n",
	"content/_index.md":              "---\ntitle: Home\n---\n\nWelcome.\n",
	"content/docs/_index.md":         "---\ntitle: Documentation\ndescription: All of it.\n---\n\nStart here.\n",
	"content/docs/other/_index.md":   "---\ntitle: Other\ndescription: Another product.\n---\n\nThe other product.\n",
	"content/docs/other/intro.md":    "---\ntitle: Intro\ndescription: First steps.\n---\n\n# Intro\n\nText.\n",
	"content/blog/_index.md":         "---\ntitle: Blog\ndescription: News.\n---\n\nNews.\n",
	"content/reference/_index.md":    "---\ntitle: Reference\ndescription: Symbols.\n---\n\nSymbols.\n",
	"layouts/_default/single.html":   "{{ .Content }}\n",
	"static/do-not-touch/canary.txt": "canary\n",
}

func newWorld(t *testing.T) *world {
	t.Helper()
	base := t.TempDir()
	w := &world{t: t, root: filepath.Join(base, "root"), state: filepath.Join(base, "state"), home: filepath.Join(base, "home")}
	for _, dir := range []string{w.root, w.state, w.home, filepath.Join(w.root, "plain")} {
		mkdir(t, dir)
	}
	w.env = []string{
		"HOME=" + w.home, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "TMPDIR=" + base, "LANG=C",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com",
		"GIT_AUTHOR_DATE=2026-01-02T03:04:05Z", "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z",
	}
	w.repository("product", productFiles)
	w.repository("site", siteFiles)
	w.git("empty", "init", "-q", "-b", "main")
	write(t, filepath.Join(w.root, "plain", "README.md"), productReadme)
	card, err := os.ReadFile("../../launch/taskcards/testdata/TC-12_export.md")
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(w.root, "plans", "taskcards", "TC-12_export.md"), string(card))
	if w.store, err = runs.OpenStore(w.state, runs.StoreOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // after the servers have ended
		w.store.Close()
		w.leavesNothing()
	})
	return w
}

// leavesNothing checks that no process is left, and no file where none belongs: in the
// folder for temporary files, in the home, and in the state directory itself.
func (w *world) leavesNothing() {
	if w.t.Failed() {
		return
	}
	base := filepath.Dir(w.root)
	if left := mentioning(base); len(left) > 0 {
		w.t.Errorf("processes are left behind: %v", left)
	}
	for dir, may := range map[string]string{
		base:    "root state home outside bin",
		w.home:  ".dela .gitconfig",
		w.state: "board format index.db index.db-wal index.db-shm index.lock keys llm_cache procs runs sessions telemetry.db telemetry.db-wal telemetry.db-shm telemetry_outbox.lock worker.log",
	} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, e := range entries {
			if !slices.Contains(strings.Fields(may), e.Name()) {
				w.t.Errorf("%s is left behind in %s", e.Name(), filepath.Base(dir))
			}
		}
	}
}

// repository makes a repository below the root with one commit.
func (w *world) repository(name string, files map[string]string) {
	w.t.Helper()
	for path, text := range files {
		write(w.t, filepath.Join(w.root, name, path), text)
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
	mkdir(w.t, dir)
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, w.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// rewrite makes git find a repository of the root under an address of the network.
func (w *world) rewrite(address, name string) {
	w.git("", "config", "--file", filepath.Join(w.home, ".gitconfig"), "--add", "url."+filepath.Join(w.root, name)+".insteadOf", address)
}

// until waits for a fact of a run and returns the view that shows it.
func (w *world) until(id string, fact func(*runs.View) bool) *runs.View {
	w.t.Helper()
	ctx, stop := context.WithTimeout(w.t.Context(), time.Minute)
	defer stop()
	v, err := w.store.Until(ctx, runs.ID(id), fact)
	if err != nil {
		now, _ := w.store.View(runs.ID(id))
		snapshot, _ := json.Marshal(now)
		w.t.Fatalf("waiting for run %s: %v; it is %.600s", id, err, snapshot)
	}
	return v
}

// rest waits until a run pauses or ends.
func (w *world) rest(id string) *runs.View {
	w.t.Helper()
	return w.until(id, func(v *runs.View) bool { return !v.Busy() })
}

// site is a run's work tree.
func (w *world) site(id string) string { return filepath.Join(w.state, "runs", id, "work", "site") }

// verify checks the chain of a run's journal.
func (w *world) verify(id string) {
	w.t.Helper()
	r, err := w.store.Verify(w.t.Context(), runs.ID(id))
	if err != nil || !r.OK {
		w.t.Errorf("the journal of %s does not verify: %+v, %v", id, r, err)
	}
}

func mkdir(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	mkdir(t, filepath.Dir(path))
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
