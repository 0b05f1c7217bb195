package crashtest

import (
	"path/filepath"
)

// goRepo makes a repository of a Go module with a little of everything.
func (l *lab) goRepo(name string) string {
	dir := filepath.Join(l.root, name)
	write(l.t, filepath.Join(dir, "go.mod"), "module example.com/tiny", "", "go 1.22")
	write(l.t, filepath.Join(dir, "README.md"), "# Tiny", "",
		"Tiny adds numbers without surprises. It has no dependencies.", "", "## Install", "", "```sh", "go get example.com/tiny", "```", "",
		"## Usage", "", "```go", "sum := tiny.Add(1, 2)", "```", "", "- Adds integers.", "- Supports negative numbers.", "- Returns an error on overflow.")
	write(l.t, filepath.Join(dir, "tiny.go"), "// Package tiny adds numbers.", "package tiny", "",
		"// Add returns the sum of two numbers.", "func Add(a, b int) int { return a + b }", "",
		"// Max is the largest number that Add takes.", "const Max = 1 << 30")
	write(l.t, filepath.Join(dir, "examples", "add", "main.go"), "package main", "", `import "example.com/tiny"`, "",
		"func main() { println(tiny.Add(1, 2)) }")
	return l.commit(dir)
}

func (l *lab) jsRepo(name string) string {
	dir := filepath.Join(l.root, name)
	write(l.t, filepath.Join(dir, "package.json"), `{"name": "pad-it", "version": "1.2.3", "description": "Pads strings.", "license": "MIT",`,
		` "main": "index.js", "type": "module", "engines": {"node": ">=18"}}`)
	write(l.t, filepath.Join(dir, "README.md"), "# pad-it", "", "Pads strings on the left. Supports any fill character.", "",
		"```sh", "npm install pad-it", "```", "", "```js", "import { pad } from 'pad-it'", "pad('a', 3)", "```")
	write(l.t, filepath.Join(dir, "index.js"), "/** Pads a string. */", "export function pad(s, n) { return s.padStart(n) }", "",
		"export const VERSION = '1.2.3'")
	return l.commit(dir)
}

func (l *lab) pythonRepo(name string) string {
	dir := filepath.Join(l.root, name)
	write(l.t, filepath.Join(dir, "pyproject.toml"), "[project]", `name = "slugger"`, `version = "0.3.0"`,
		`description = "Makes slugs."`, `requires-python = ">=3.9"`, `license = {text = "MIT"}`)
	write(l.t, filepath.Join(dir, "README.rst"), "Slugger", "=======", "", "Slugger makes slugs from titles. It supports Unicode.", "",
		"Install it with ``pip install slugger``.", "", ".. code-block:: python", "", "   from slugger import slug", "   slug('A title')")
	write(l.t, filepath.Join(dir, "src", "slugger", "__init__.py"), `"""Makes slugs."""`, "", "__all__ = ['slug']", "", "",
		"def slug(title: str) -> str:", `    """Return the slug of a title."""`, "    return title.lower().replace(' ', '-')")
	return l.commit(dir)
}

// plainFolder makes a folder that is no repository.
func (l *lab) plainFolder(name string) string {
	dir := filepath.Join(l.root, name)
	write(l.t, filepath.Join(dir, "README.md"), "# Notes", "", "Notes keeps short texts. It has a search.")
	write(l.t, filepath.Join(dir, "notes.sh"), "#!/bin/sh", "echo notes")
	return dir
}

// siteRepo makes a bare repository of a small Hugo site that accepts pushes.
func (l *lab) siteRepo(name string) string {
	work := filepath.Join(l.t.TempDir(), "site")
	write(l.t, filepath.Join(work, "hugo.toml"), `baseURL = "https://docs.example.com/"`, `title = "Docs"`)
	for _, section := range []string{"docs", "reference", "blog", "kb", "products"} {
		write(l.t, filepath.Join(work, "content", section, "_index.md"), "---", "title: "+section, "---", "", "Pages.")
		write(l.t, filepath.Join(work, "content", section, "other", "_index.md"), "---", "title: Other", "description: Other things", "weight: 10", "---", "", "Other.")
	}
	l.commit(work)
	bare := filepath.Join(l.root, name)
	l.git(l.root, "clone", "--quiet", "--bare", work, bare)
	return bare
}

func (l *lab) commit(dir string) string {
	l.git(dir, "init", "--quiet", "--initial-branch=main")
	l.git(dir, "add", "--all")
	l.git(dir, "commit", "--quiet", "--message=First")
	return dir
}

// shapes are the repositories that launches are compared on.
func shapes() []struct {
	name string
	make func(*lab, string) string
} {
	return []struct {
		name string
		make func(*lab, string) string
	}{
		{"go", (*lab).goRepo}, {"javascript", (*lab).jsRepo}, {"python", (*lab).pythonRepo}, {"folder", (*lab).plainFolder},
	}
}
