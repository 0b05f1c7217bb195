package inventory

import (
	"path"
	"strings"

	"github.com/gantry-run/gantry/launch/dossier"
)

// readComposer reads a composer.json.
func readComposer(_ *tree, _ string, data []byte) (dossier.Manifest, error) {
	doc, err := readJSON(data)
	if err != nil {
		return dossier.Manifest{}, err
	}
	m := dossier.Manifest{
		Name: doc.at("name"), Version: doc.at("version"), License: doc.at("license"), Description: doc.at("description"),
	}
	if m.License.Value == "" {
		m.License = doc.at("license", "0")
	}
	for _, d := range doc.under("require") {
		switch {
		case d.way[0] == "php":
			m.Runtime = dossier.Stated{Value: "php " + d.Value, Line: d.Line}
		case !strings.HasPrefix(d.way[0], "ext-"):
			m.Dependencies = append(m.Dependencies, dossier.Dependency{Name: d.way[0], Version: d.Value, Line: d.Line})
		}
	}
	for _, bin := range doc.under("bin") {
		m.Commands = append(m.Commands, dossier.Stated{Value: path.Base(bin.Value), Line: bin.Line})
	}
	return m, nil
}
