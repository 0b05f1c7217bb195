// Package inventory lists what a product repository holds: its files with their
// fingerprints, languages and roles, its package manifests, and where its
// sources, tests, documents and examples are.
//
// It reads a checked-out work tree and nothing else: no git, no network, no
// process. Everything goes through one [os.Root], so no name in the tree, however
// hostile, reaches a file outside it. Symbolic links, submodules, devices,
// pipes and pointers of Git LFS are not read but listed as skipped with the reason; a broken manifest
// is kept with its error and stops nothing. Files are streamed, so memory does
// not grow with them.
//
// The result depends on names and contents alone: not on times, modes or the
// order in which the file system lists a folder.
//
// One file per concern: walk.go finds the files, file.go reads one, language.go
// and role.go classify it, roots.go and phantom.go look at the tree as a whole,
// manifest.go lists the manifest kinds (one file each), build.go and product.go
// sum up.
package inventory

import (
	"context"
	"net/url"
	"os"
	"path"
	"strings"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/launch/dossier"
)

// Options says which repository the tree is of and what the caller knows
// better than the tree shows. Preferred entries come first in their lists.
type Options struct {
	RepoURL string // may carry userinfo, which is dropped; a local path becomes its base name
	RepoSHA string // 40 hex digits

	PreferredSourceRoots  []string // slash paths relative to the tree
	PreferredDocRoots     []string
	PreferredExampleRoots []string
	PreferredTestCommands []string
}

// Scan lists the work tree at dir. An empty tree is an empty inventory, not an
// error. It fails only when dir cannot be opened, or when ctx ends.
func Scan(ctx context.Context, dir string, opts Options) (dossier.RepoInventory, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return dossier.RepoInventory{}, fault.New(fault.RepoNotFound, "the work tree of the product repository cannot be opened").Because(err)
	}
	defer root.Close()

	t := &tree{root: root}
	if err := t.walk(ctx); err != nil {
		return dossier.RepoInventory{}, err
	}
	if err := t.readFiles(ctx); err != nil {
		return dossier.RepoInventory{}, err
	}
	t.findRoots(opts)
	t.assignRoles()
	t.readManifests()

	inv := dossier.RepoInventory{
		SchemaVersion:  dossier.SchemaVersion,
		RepoURL:        publicURL(opts.RepoURL),
		RepoSHA:        opts.RepoSHA,
		Fingerprint:    t.fingerprint(),
		Paths:          t.files,
		DocEntrypoints: t.docEntrypoints(),
		ExamplePaths:   t.pathsWithRole(roleExample),
		SourceRoots:    t.sourceRoots(opts.PreferredSourceRoots),
		TestRoots:      t.testRoots,
		DocRoots:       t.docRoots,
		ExampleRoots:   t.exampleRoots,
		BinaryAssets:   t.binaries(),
		PhantomPaths:   t.phantomPaths(),
		Skipped:        t.skipped,
	}
	inv.Profile = t.profile(opts)
	fillLists(&inv)
	return inv, ctx.Err()
}

// publicURL drops userinfo from a URL and reduces a local path to its base name.
func publicURL(raw string) string {
	u, err := url.Parse(raw)
	switch {
	case raw == "":
		return ""
	case err == nil && u.Host != "":
		u.User = nil
		return u.String()
	case err == nil && u.Scheme == "file":
		return path.Base(u.Path)
	}
	// scp-like: user@host:path
	if at, colon := strings.Index(raw, "@"), strings.Index(raw, ":"); at >= 0 && colon > at {
		return raw[at+1:]
	}
	return path.Base(strings.TrimRight(strings.ReplaceAll(raw, `\`, "/"), "/"))
}

// fillLists makes absent lists empty ones, which encode as [] and not null.
func fillLists(inv *dossier.RepoInventory) {
	for _, list := range []*[]string{
		&inv.DocEntrypoints, &inv.ExamplePaths, &inv.SourceRoots, &inv.TestRoots, &inv.DocRoots,
		&inv.ExampleRoots, &inv.BinaryAssets, &inv.Profile.BuildSystems, &inv.Profile.TestCommands,
	} {
		if *list == nil {
			*list = []string{}
		}
	}
	if inv.Paths == nil {
		inv.Paths = []dossier.RepoFile{}
	}
	if inv.PhantomPaths == nil {
		inv.PhantomPaths = []dossier.PhantomPath{}
	}
	if inv.Skipped == nil {
		inv.Skipped = []dossier.SkippedPath{}
	}
	if inv.Profile.PrimaryLanguages == nil {
		inv.Profile.PrimaryLanguages = []dossier.LanguageShare{}
	}
	if inv.Profile.Manifests == nil {
		inv.Profile.Manifests = []dossier.Manifest{}
	}
}
