package pages

import (
	"path"
	"slices"
	"strings"

	"github.com/gantry-run/gantry/launch/dossier"
)

// FolderIndexes returns an index page, front matter alone, for each folder that
// leads from a section's root to a drafted page and has none: not among the
// drafts, and not on the site, which exists is asked about by path. Only those
// that the site's allowed paths name are made; allowed is asked about that.
// Hugo lists a section and titles it only if it has such a page.
func FolderIndexes(in DraftInput, drafts []Page, exists, allowed func(path string) bool) ([]Page, error) {
	have := map[string]bool{}
	for _, draft := range drafts {
		have[draft.OutputPath] = true
	}
	var made []Page
	for _, planned := range in.Plan.Pages {
		root := in.Site.Layout.SubdomainRoots[planned.Section]
		for _, folder := range foldersTo(root, planned.OutputPath) {
			file := indexFile(in, planned.Section, folder)
			if have[file] || exists(file) || exists(path.Join(folder, "_index.md")) || !allowed(file) {
				continue
			}
			have[file] = true
			title := folderTitle(in, planned.Section, root, folder)
			p := placeOf(in.PlanInput)
			front, defaulted, err := frontmatter(in, dossier.PlannedPage{
				Section: planned.Section, Slug: "_index", Title: title, Description: title, Weight: sectionWeight(planned.Section),
				URLPath: p.url(planned.Section, file),
			})
			if err != nil {
				return nil, err
			}
			made = append(made, Page{OutputPath: file, Content: []byte(strings.TrimSpace(front) + "\n"), ClaimIDs: []string{}, SnippetIDs: []string{}, Defaulted: defaulted})
		}
	}
	slices.SortFunc(made, func(a, b Page) int { return strings.Compare(a.OutputPath, b.OutputPath) })
	return made, nil
}

// foldersTo lists the folders from root to the file's, root first.
func foldersTo(root, file string) []string {
	var folders []string
	for dir := path.Dir(file); dir == root || strings.HasPrefix(dir, root+"/"); dir = path.Dir(dir) {
		folders = append([]string{dir}, folders...)
	}
	return folders
}

func indexFile(in DraftInput, section, folder string) string {
	p := placeOf(in.PlanInput)
	if in.Site.Layout.Localization.ModeBySection[section] == "filename" && !p.isDefault() {
		return path.Join(folder, "_index."+p.locale+".md")
	}
	return path.Join(folder, "_index.md")
}

var sectionTitles = map[string]string{
	dossier.Products: "Products", dossier.Docs: "Documentation", dossier.Reference: "API reference",
	dossier.KB: "Knowledge base", dossier.Blog: "Blog",
}

func folderTitle(in DraftInput, section, root, folder string) string {
	switch path.Base(folder) {
	case path.Base(root):
		return sectionTitles[section]
	case in.Config.ProductSlug:
		return newBook(in.PlanInput).productName()
	}
	words := strings.ReplaceAll(path.Base(folder), "-", " ")
	return strings.ToUpper(words[:1]) + words[1:]
}

func sectionWeight(section string) int { return 10 * (1 + slices.Index(dossier.Sections(), section)) }
