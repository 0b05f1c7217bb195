// Package site finds out how a documentation site is laid out.
//
// [Inspect] reads a Hugo site as it lies on disk and runs nothing: its
// configuration files (fingerprinted, so that a comment or the order of keys is
// no change), its languages, the folder in which each section keeps its pages,
// how pages mark their language, and the front matter that existing pages
// carry. What the run's configuration states wins over what is found; what
// neither tells has a default. The outcome is two documents,
// [dossier.SiteContext] and [dossier.FrontmatterContract].
//
// A launch without a site gets the built-in one: [WriteEmbedded] unpacks a small
// Hugo site that needs no theme and no network.
//
// All reading goes through [os.Root], so a link cannot lead out of the site.
// Files over 1 MiB are passed over, and at most 200 pages a section are sampled.
package site

import (
	"context"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/launch/dossier"
)

const maxRead = 1 << 20 // bytes of one file

// Options say what is known of the site before it is looked at.
type Options struct {
	Config       dossier.Config
	RepoURL      string // without userinfo
	RequestedRef string // as asked for; empty for HEAD
	SHA          string // the commit that dir holds, 40 hex digits
	Embedded     bool   // dir holds the built-in site
}

// Inspect describes the site in dir. It fails with CONFIG_INVALID when the
// configured layout names a path outside the site, with CANCELLED when ctx ends
// and with INTERNAL when the site cannot be read. A site without a Hugo
// configuration is no error here: a gate says so.
func Inspect(ctx context.Context, dir string, opts Options) (dossier.SiteContext, dossier.FrontmatterContract, error) {
	var none dossier.FrontmatterContract
	root, err := os.OpenRoot(dir)
	if err != nil {
		return dossier.SiteContext{}, none, fault.New(fault.Internal, "the site's folder cannot be opened").Because(err)
	}
	defer root.Close()
	files := tree{root.FS()}
	hugo, contentDirs, err := readHugo(ctx, files)
	if err != nil {
		return dossier.SiteContext{}, none, err
	}
	layout, err := findLayout(files, hugo, contentDirs, opts.Config)
	if err != nil {
		return dossier.SiteContext{}, none, err
	}
	contract, err := sampleContract(ctx, files, layout, opts)
	if err != nil {
		return dossier.SiteContext{}, none, err
	}
	site := dossier.SiteContext{
		SchemaVersion: dossier.SchemaVersion,
		Site:          dossier.PinnedRepo{RepoURL: opts.RepoURL, RequestedRef: opts.RequestedRef, ResolvedSHA: opts.SHA},
		Embedded:      opts.Embedded,
		Hugo:          hugo,
		Layout:        layout,
		AllowedPaths:  allowedPaths(files, layout, opts.Config),
	}
	return site, contract, nil
}

// allowedPaths returns what the launch may change: what the configuration says,
// else the product's folder in each section that is wanted, and the index page
// of a section that has none yet.
func allowedPaths(files tree, layout dossier.SiteLayout, config dossier.Config) []string {
	if len(config.AllowedPaths) > 0 {
		return slices.Compact(slices.Sorted(slices.Values(config.AllowedPaths)))
	}
	allowed := []string{}
	for _, section := range dossier.Sections() {
		if !slices.Contains(config.RequiredSections, section) {
			continue
		}
		folder := layout.SubdomainRoots[section]
		allowed = append(allowed, path.Join(folder, config.ProductSlug)+"/**")
		if !files.hasIndex(folder) {
			allowed = append(allowed, path.Join(folder, "_index.md"))
		}
	}
	slices.Sort(allowed)
	return slices.Compact(allowed)
}

// tree is the site's files.
type tree struct{ fs.FS }

func (t tree) isDir(name string) bool {
	info, err := fs.Stat(t, name)
	return err == nil && info.IsDir()
}

// hasIndex reports whether the folder has an index page in any language.
func (t tree) hasIndex(folder string) bool {
	return slices.ContainsFunc(t.names(folder), func(name string) bool {
		return strings.HasPrefix(name, "_index.") || strings.HasPrefix(name, "index.")
	})
}

// names lists a folder, sorted; nothing if it is none.
func (t tree) names(folder string) []string {
	entries, err := fs.ReadDir(t, folder)
	if err != nil {
		return nil
	}
	list := make([]string, len(entries))
	for i, entry := range entries {
		list[i] = entry.Name()
	}
	return list
}

// read returns a regular file of at most maxRead bytes.
func (t tree) read(name string) ([]byte, bool) {
	info, err := fs.Stat(t, name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxRead {
		return nil, false
	}
	raw, err := fs.ReadFile(t, name)
	return raw, err == nil
}
