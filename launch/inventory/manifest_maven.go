package inventory

import (
	"strings"

	"github.com/gantry-run/gantry/launch/dossier"
)

// readPOM reads a pom.xml. The name is groupId:artifactId, as users write it;
// what a parent states counts where the project is silent.
func readPOM(_ *tree, _ string, data []byte) (dossier.Manifest, error) {
	doc, err := readXML(data)
	if err != nil {
		return dossier.Manifest{}, err
	}
	own := func(key string) dossier.Stated {
		if s := doc.at("project", key); s.Value != "" {
			return s
		}
		return doc.at("project", "parent", key)
	}
	group, artifact := own("groupId"), doc.at("project", "artifactId")
	m := dossier.Manifest{Version: own("version"), Description: doc.at("project", "description"), License: doc.at("project", "licenses", "license", "name")}
	if artifact.Value != "" && group.Value != "" {
		m.Name = dossier.Stated{Value: group.Value + ":" + artifact.Value, Line: artifact.Line}
	}
	for _, key := range []string{"maven.compiler.release", "maven.compiler.source", "java.version"} {
		if s := doc.at("project", "properties", key); s.Value != "" && m.Runtime.Value == "" {
			m.Runtime = dossier.Stated{Value: "java " + s.Value, Line: s.Line}
		}
	}
	m.Dependencies = pomDependencies(doc.under("project", "dependencies", "dependency"))
	if strings.Contains(m.Version.Value, "${") {
		m.Version = dossier.Stated{}
	}
	return m, nil
}

// pomDependencies groups the texts of dependency elements, which come in
// document order: each groupId opens one. Test dependencies are left out.
func pomDependencies(items located) []dossier.Dependency {
	var deps []dossier.Dependency
	for _, item := range items {
		if len(item.way) != 1 {
			continue
		}
		switch last := len(deps) - 1; {
		case item.way[0] == "groupId":
			deps = append(deps, dossier.Dependency{Name: item.Value, Line: item.Line})
		case last < 0:
		case item.way[0] == "artifactId":
			deps[last].Name += ":" + item.Value
		case item.way[0] == "version":
			deps[last].Version = item.Value
		case item.way[0] == "scope" && item.Value == "test":
			deps = deps[:last]
		}
	}
	return deps
}
