package inventory

import (
	"path"

	"github.com/gantry-run/gantry/launch/dossier"
)

// readNPM reads a package.json.
func readNPM(_ *tree, _ string, data []byte) (dossier.Manifest, error) {
	doc, err := readJSON(data)
	if err != nil {
		return dossier.Manifest{}, err
	}
	m := dossier.Manifest{
		Name: doc.at("name"), Version: doc.at("version"), License: doc.at("license"), Description: doc.at("description"),
	}
	if m.License.Value == "" {
		m.License = doc.at("license", "type")
	}
	if node := doc.at("engines", "node"); node.Value != "" {
		m.Runtime = dossier.Stated{Value: "node " + node.Value, Line: node.Line}
	}
	for _, d := range doc.under("dependencies") {
		m.Dependencies = append(m.Dependencies, dossier.Dependency{Name: d.way[0], Version: d.Value, Line: d.Line})
	}
	if bin := doc.at("bin"); bin.Value != "" {
		m.Commands = append(m.Commands, dossier.Stated{Value: path.Base(m.Name.Value), Line: bin.Line})
	}
	for _, bin := range doc.under("bin") {
		m.Commands = append(m.Commands, dossier.Stated{Value: bin.way[0], Line: bin.Line})
	}
	return m, nil
}
