package site

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/launch/dossier"
)

// folderNames are what sites call each section's folder, the usual name first.
var folderNames = map[string][]string{
	dossier.Products:  {"products", "product"},
	dossier.Docs:      {"docs", "documentation", "doc"},
	dossier.Reference: {"reference", "api", "api-reference"},
	dossier.KB:        {"kb", "knowledge-base", "knowledgebase", "faq"},
	dossier.Blog:      {"blog", "posts", "post", "news"},
}

// The ways in which a section's pages mark their language.
const (
	byFolder   = "dir"
	byFilename = "filename"
	unmarked   = "none"
)

// findLayout joins what the configuration states with what is found.
func findLayout(files tree, hugo dossier.HugoConfig, contentDirs map[string]string, config dossier.Config) (dossier.SiteLayout, error) {
	locale := config.Locale
	if locale == "" {
		locale = hugo.DefaultLanguage
	}
	layout := dossier.SiteLayout{
		ContentRoot:    contentRoot(contentDirs, locale),
		SubdomainRoots: map[string]string{},
		Localization:   dossier.Localization{ModeBySection: map[string]string{}},
	}
	stated := config.SiteLayout
	if stated == nil {
		stated = &dossier.SiteLayout{}
	}
	if stated.ContentRoot != "" {
		layout.ContentRoot = stated.ContentRoot
	}
	for _, section := range dossier.Sections() {
		folder := stated.SubdomainRoots[section]
		if folder == "" {
			folder = findSection(files, layout.ContentRoot, section, locale)
		}
		mode := stated.Localization.ModeBySection[section]
		if mode == "" {
			mode = findMode(files, folder, hugo.Languages, locale)
		}
		layout.SubdomainRoots[section] = folder
		layout.Localization.ModeBySection[section] = mode
	}
	return layout, checkLayout(layout)
}

// contentRoot returns the folder that Hugo reads the locale's pages from.
func contentRoot(contentDirs map[string]string, locale string) string {
	for _, key := range []string{strings.ToLower(locale), ""} {
		if dir := path.Clean(strings.TrimPrefix(contentDirs[key], "/")); contentDirs[key] != "" && fs.ValidPath(dir) {
			return dir
		}
	}
	return "content"
}

// findSection looks for the section's folder: under the content root, under a
// folder of the language there, or as a subdomain (docs.example.org). If there
// is none yet the section gets its usual name under the content root.
func findSection(files tree, content, section, locale string) string {
	for _, parent := range []string{content, path.Join(content, locale)} {
		for _, name := range folderNames[section] {
			if folder := path.Join(parent, name); files.isDir(folder) {
				return folder
			}
		}
	}
	for _, name := range files.names(content) {
		if strings.HasPrefix(name, section+".") && files.isDir(path.Join(content, name)) {
			return path.Join(content, name)
		}
	}
	if localised := path.Join(content, locale); locale != "" && files.isDir(localised) {
		return path.Join(localised, folderNames[section][0])
	}
	return path.Join(content, folderNames[section][0])
}

// findMode looks at the pages to see how they mark their language.
func findMode(files tree, folder string, languages []string, locale string) string {
	if slices.Contains(strings.Split(folder, "/"), locale) {
		return byFolder
	}
	if !files.isDir(folder) {
		return unmarked
	}
	mode := unmarked
	_ = fs.WalkDir(files, folder, func(name string, entry fs.DirEntry, err error) error {
		depth := strings.Count(strings.TrimPrefix(name, folder), "/")
		switch {
		case err != nil:
			return nil
		case entry.IsDir() && depth > 3:
			return fs.SkipDir
		case entry.IsDir() && depth > 0 && entry.Name() == locale:
			mode = byFolder
			return fs.SkipAll
		case !entry.IsDir() && pageLanguage(entry.Name(), languages) != "":
			mode = byFilename
			return fs.SkipAll
		}
		return nil
	})
	return mode
}

// pageLanguage returns the language in a page's name: fr of post.fr.md.
func pageLanguage(name string, languages []string) string {
	stem, isPage := strings.CutSuffix(name, ".md")
	code := strings.TrimPrefix(path.Ext(stem), ".")
	if isPage && code != "" && slices.Contains(languages, strings.ToLower(code)) {
		return code
	}
	return ""
}

func checkLayout(layout dossier.SiteLayout) error {
	for _, section := range dossier.Sections() {
		folder := layout.SubdomainRoots[section]
		if !fs.ValidPath(folder) || folder == "." || strings.Contains(folder, `\`) {
			return fault.New(fault.ConfigInvalid, "site_layout: the folder of section %s is not a path inside the site", section).
				WithHint("Use a relative path with forward slashes, such as content/%s.", section)
		}
	}
	if !fs.ValidPath(layout.ContentRoot) {
		return fault.New(fault.ConfigInvalid, "site_layout.content_root is not a path inside the site").
			WithHint(`Use a relative path such as "content".`)
	}
	return nil
}
