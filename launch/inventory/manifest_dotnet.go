package inventory

import (
	"path"
	"strings"

	"github.com/gantry-run/gantry/internal/lazyregexp"
	"github.com/gantry-run/gantry/launch/dossier"
)

var slnProject = lazyregexp.New(`^Project\("[^"]*"\)\s*=\s*"([^"]+)"`)

// readDotnet reads a project file, or the projects that a solution names.
func readDotnet(_ *tree, name string, data []byte) (dossier.Manifest, error) {
	stem := strings.TrimSuffix(path.Base(name), path.Ext(name))
	if path.Ext(name) == ".sln" {
		// A solution states no package, only that projects belong together.
		var m dossier.Manifest
		if project := textOf(data).first(slnProject); project.Line > 0 {
			m.Name = dossier.Stated{Value: stem, Line: project.Line}
		}
		return m, nil
	}
	doc, err := readXML(data)
	if err != nil {
		return dossier.Manifest{}, err
	}
	property := func(keys ...string) dossier.Stated {
		for _, key := range keys {
			if s := doc.at("Project", "PropertyGroup", key); s.Value != "" && !strings.Contains(s.Value, "$(") {
				return s
			}
		}
		return dossier.Stated{}
	}
	m := dossier.Manifest{
		Name: property("PackageId", "AssemblyName"), Version: property("Version", "VersionPrefix"),
		License: property("PackageLicenseExpression"), Description: property("Description", "PackageDescription"),
		Runtime: property("TargetFramework", "TargetFrameworks"),
	}
	if m.Name.Value == "" { // the SDK takes the file's name
		m.Name = dossier.Stated{Value: stem, Line: 1}
	}
	for _, item := range doc.under("Project", "ItemGroup", "PackageReference") {
		switch item.way[0] {
		case "@Include":
			m.Dependencies = append(m.Dependencies, dossier.Dependency{Name: item.Value, Line: item.Line})
		case "@Version", "Version":
			if last := len(m.Dependencies) - 1; last >= 0 {
				m.Dependencies[last].Version = item.Value
			}
		}
	}
	if tool := property("ToolCommandName"); tool.Value != "" {
		m.Commands = append(m.Commands, tool)
	}
	return m, nil
}
