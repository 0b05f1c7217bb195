package site

import (
	"cmp"
	"context"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/launch/page"
)

const (
	maxSampled = 200 // pages a section
	minSampled = 3   // below this a habit cannot be told from chance
)

// sampleContract reads the front matter of each section's pages. A key that at
// least nine in ten pages carry is required; its type is the most frequent one.
// With fewer than three pages the default holds, and what they carry is optional.
func sampleContract(ctx context.Context, files tree, layout dossier.SiteLayout, opts Options) (dossier.FrontmatterContract, error) {
	contract := dossier.FrontmatterContract{
		SchemaVersion: dossier.SchemaVersion, SiteRepoURL: opts.RepoURL, SiteSHA: opts.SHA,
		Sections: map[string]dossier.SectionFrontmatter{},
	}
	for _, section := range dossier.Sections() {
		if err := ctx.Err(); err != nil {
			return contract, fault.From(err)
		}
		contract.Sections[section] = sampleSection(files, layout.SubdomainRoots[section], section)
	}
	return contract, nil
}

func sampleSection(files tree, folder, section string) dossier.SectionFrontmatter {
	count := map[string]int{}
	types := map[string]map[string]int{}
	sampled := 0
	for _, name := range pagesUnder(files, folder) {
		raw, ok := files.read(name)
		if !ok {
			continue
		}
		read, err := page.Parse(name, raw)
		if err != nil || read.Front.Err != nil || len(read.Front.Fields) == 0 {
			continue
		}
		sampled++
		for _, field := range read.Front.Fields {
			count[field.Key]++
			if field.Type == "" || field.Type == page.Null {
				continue
			}
			if types[field.Key] == nil {
				types[field.Key] = map[string]int{}
			}
			types[field.Key][kind(field)]++
		}
	}
	found := dossier.SectionFrontmatter{Sampled: sampled, Required: []string{}, Optional: []string{}, Types: map[string]string{}}
	if sampled < minSampled {
		found = defaultContract(section)
		found.Sampled = sampled
	}
	for _, key := range slices.Sorted(maps.Keys(count)) {
		if slices.Contains(found.Required, key) || types[key] == nil {
			continue
		}
		if sampled >= minSampled && count[key]*10 >= sampled*9 {
			found.Required = append(found.Required, key)
		} else if !slices.Contains(found.Optional, key) {
			found.Optional = append(found.Optional, key)
		}
		found.Types[key] = mostFrequent(types[key])
	}
	if !slices.Contains(found.Required, "title") {
		found.Required = append(found.Required, "title")
		found.Optional = slices.DeleteFunc(found.Optional, func(key string) bool { return key == "title" })
		found.Types["title"] = page.String
	}
	slices.Sort(found.Required)
	slices.Sort(found.Optional)
	return found
}

// kind is a field's type; a string that reads as a date is one.
func kind(field page.Field) string {
	if field.Type == page.String && field.Is(page.Date) {
		return page.Date
	}
	return field.Type
}

// pagesUnder lists the ordinary pages: index pages carry other front matter.
func pagesUnder(files tree, folder string) []string {
	var names []string
	_ = fs.WalkDir(files, folder, func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() && path.Ext(name) == ".md" && !strings.HasPrefix(entry.Name(), "_index.") {
			names = append(names, name)
		}
		return nil // what cannot be read is not sampled
	})
	if len(names) <= maxSampled {
		return names
	}
	picked := make([]string, maxSampled) // spread evenly over the section
	for i := range picked {
		picked[i] = names[i*len(names)/maxSampled]
	}
	return picked
}

func mostFrequent(types map[string]int) string {
	return slices.MinFunc(slices.Sorted(maps.Keys(types)), func(a, b string) int {
		return cmp.Or(cmp.Compare(types[b], types[a]), cmp.Compare(a, b))
	})
}

// defaultContract is what a page of the section carries where none exist to tell.
func defaultContract(section string) dossier.SectionFrontmatter {
	c := dossier.SectionFrontmatter{
		Required: []string{"description", "title", "weight"}, Optional: []string{"draft"},
		Types: map[string]string{"title": page.String, "description": page.String, "weight": page.Number, "draft": page.Boolean},
	}
	if section == dossier.Blog {
		c.Required = []string{"date", "description", "title"}
		c.Types = map[string]string{"title": page.String, "description": page.String, "date": page.Date, "draft": page.Boolean}
	}
	return c
}
