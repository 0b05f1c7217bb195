package inventory

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/gantry-run/gantry/internal/lazyregexp"
	"github.com/gantry-run/gantry/launch/dossier"
)

const maxLanguages = 10

// profile sums the repository up.
func (t *tree) profile(opts Options) dossier.RepoProfile {
	shares := t.languageShares()
	docs := locator(t.docRoots)
	if docs == "" && len(t.docEntrypoints()) > 0 {
		docs = t.docEntrypoints()[0]
	}
	return dossier.RepoProfile{
		PlatformFamily:   t.platform(shares),
		PrimaryLanguages: shares,
		BuildSystems:     t.buildSystems(),
		Manifests:        t.manifests,
		TestCommands:     t.testCommands(opts),
		ExampleLocator:   locator(t.exampleRoots),
		DocLocator:       docs,
		ProductType:      t.productType(),
	}
}

// languageShares counts programming languages over sources, tests and examples.
func (t *tree) languageShares() []dossier.LanguageShare {
	byName := map[string]*dossier.LanguageShare{}
	for _, file := range t.files {
		code := file.Role == roleSource || file.Role == roleTest || file.Role == roleExample
		if !code || file.Binary || kindOf(file.Language) != "programming" {
			continue
		}
		share := byName[file.Language]
		if share == nil {
			share = &dossier.LanguageShare{Language: file.Language}
			byName[file.Language] = share
		}
		share.Files++
		share.Bytes += file.Size
	}
	shares := make([]dossier.LanguageShare, 0, len(byName))
	for _, share := range byName {
		shares = append(shares, *share)
	}
	slices.SortFunc(shares, func(a, b dossier.LanguageShare) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Language, b.Language))
	})
	return shares[:min(len(shares), maxLanguages)]
}

// manifestFamilies lists the platforms that a manifest kind can be of.
func manifestFamilies(kind string) []string {
	switch kind {
	case "npm":
		return []string{"javascript", "typescript"}
	case "maven", "gradle":
		return []string{"java", "kotlin"}
	case "cargo":
		return []string{"rust"}
	case "composer":
		return []string{"php"}
	case "rubygems":
		return []string{"ruby"}
	}
	return []string{kind} // python, go, dotnet, swift
}

// platform is the family with the most code among those that a top-level
// manifest names; without such a manifest, the family with the most code.
func (t *tree) platform(shares []dossier.LanguageShare) string {
	var stated []string
	for _, m := range t.manifests {
		if parent(m.Path) == "." {
			stated = append(stated, manifestFamilies(m.Kind)...)
		}
	}
	for _, share := range shares {
		family := dossier.PlatformOf(share.Language)
		if family != "" && (len(stated) == 0 || slices.Contains(stated, family)) {
			return family
		}
	}
	if len(stated) > 0 {
		return stated[0]
	}
	return "other"
}

var (
	pluginWord = lazyregexp.New(`(?i)\b(plug-?in|extension|add-?on|middleware)\b`)
	sdkWord    = lazyregexp.New(`(?i)(\bsdk\b|[-_/]sdk|\bapi client\b|\bclient library\b|software development kit)`)
	cliWord    = lazyregexp.New(`(?i)\b(cli|command[- ]line (tool|utility|program|application))\b`)
)

// productType infers what the product is; the first rule that holds wins:
// cli, service, plugin, sdk, library, tool, other.
func (t *tree) productType() string {
	words, named, commands := t.statedWords()
	switch {
	case commands && (!t.libraryAtTop() || cliWord.MatchString(words)):
		return "cli"
	case t.isService():
		return "service"
	case pluginWord.MatchString(words):
		return "plugin"
	case sdkWord.MatchString(words):
		return "sdk"
	case named:
		return "library"
	case len(t.pathsWithRole(roleSource)) > 0:
		return "tool"
	}
	return "other"
}

// statedWords returns the names and descriptions of the top-level manifests,
// whether one has a name, and whether one installs commands.
func (t *tree) statedWords() (words string, named, commands bool) {
	var all []string
	for _, m := range t.manifests {
		if parent(m.Path) != "." && len(t.manifests) > 1 {
			continue
		}
		all = append(all, m.Name.Value, m.Description.Value)
		named = named || m.Name.Value != ""
		commands = commands || len(m.Commands) > 0
	}
	return strings.Join(all, " "), named, commands
}

// libraryAtTop reports whether the top level is a Go package to import, so that
// commands below it are company to a library.
func (t *tree) libraryAtTop() bool {
	for _, file := range t.files {
		if parent(file.Path) == "." && file.Role == roleSource && strings.HasSuffix(file.Path, ".go") {
			if name := t.goPackageName(file.Path); name != "main" && name != "" {
				return true
			}
		}
	}
	return false
}

// isService reports whether the repository is made to be deployed and left running.
func (t *tree) isService() bool {
	for _, name := range []string{"Procfile", "compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml"} {
		if t.exists(name) {
			return true
		}
	}
	data, err := t.read("Dockerfile")
	return err == nil && lazyregexp.New(`(?mi)^EXPOSE\s`).Match(data) || t.hasFile("Chart.yaml")
}

func (t *tree) hasFile(base string) bool {
	return slices.ContainsFunc(t.files, func(f dossier.RepoFile) bool { return path.Base(f.Path) == base && f.Role != roleTest })
}
