package evidence_test

import (
	"testing"

	"github.com/gantry-run/gantry/launch/evidence"
)

func TestTheProductIsCalledAsTheProjectWritesItUnlessTheCallerNamesIt(t *testing.T) {
	manifest := `{"name": "@acme/foo-kit", "version": "1.0.0"}`
	for _, c := range []struct{ name, readme, want string }{
		{"the title", "# Foo Kit\n\nIt reads CSV.\n", "Foo Kit"},
		{"a title with a tagline", "# FooKit: tables for people\n\nText.\n", "FooKit"},
		{"a welcome", "# Welcome to Foo-Kit\n\nText.\n", "Foo-Kit"},
		{"a title about something else", "# Introduction\n\nText.\n", "foo-kit"},
		{"a title that is a sentence", "# How the foo kit came to be what it is today\n\nText.\n", "foo-kit"},
		{"no title but prose", "Foo-Kit reads CSV files. Use `foo-kit` or https://x.org/foo-kit.\n\nFoo-Kit writes them, too.\n", "Foo-Kit"},
		{"a heading that is no title", "## What is foo-kit\n\nText.\n", "foo-kit"},
		{"no README", "", "foo-kit"},
	} {
		files := map[string]string{"package.json": manifest, "index.js": "export const a = 1;\n"}
		if c.readme != "" {
			files["README.md"] = c.readme
		}
		if got := gather(t, write(t, files), evidence.Options{RepoName: "foo-kit"}).Facts.ProductName; got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	r := gather(t, write(t, map[string]string{"package.json": manifest, "README.md": "# Foo Kit\n"}), evidence.Options{ProductName: "foo", RepoName: "r"})
	if r.Facts.ProductName != "foo" {
		t.Errorf("the caller's name became %q", r.Facts.ProductName)
	}
	r = gather(t, write(t, map[string]string{"x.go": "package x\n"}), evidence.Options{RepoName: "thing"})
	if r.Facts.ProductName != "thing" {
		t.Errorf("without any statement the name is %q", r.Facts.ProductName)
	}
}
