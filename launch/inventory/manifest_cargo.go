package inventory

import (
	"strings"

	"github.com/gantry-run/gantry/launch/dossier"
)

type cargoManifest struct {
	Package struct {
		Name        string `toml:"name"`
		Version     any    `toml:"version"` // a string, or {workspace = true}
		License     any    `toml:"license"`
		Description any    `toml:"description"`
		RustVersion any    `toml:"rust-version"`
	} `toml:"package"`
	Dependencies map[string]any `toml:"dependencies"`
	Bin          []struct {
		Name string `toml:"name"`
	} `toml:"bin"`
}

// readCargo reads a Cargo.toml. What it inherits from a workspace is absent.
func readCargo(t *tree, name string, data []byte) (dossier.Manifest, error) {
	var doc cargoManifest
	if err := decodeTOML(data, &doc); err != nil {
		return dossier.Manifest{}, err
	}
	lines := textOf(data)
	stated := func(key string, value any) dossier.Stated {
		s, _ := value.(string)
		if s == "" {
			return dossier.Stated{}
		}
		return dossier.Stated{Value: strings.Join(strings.Fields(s), " "), Line: lines.lineOfKey("package", key)}
	}
	p := doc.Package
	m := dossier.Manifest{
		Name: stated("name", p.Name), Version: stated("version", p.Version),
		License: stated("license", p.License), Description: stated("description", p.Description),
	}
	if rust := stated("rust-version", p.RustVersion); rust.Value != "" {
		m.Runtime = dossier.Stated{Value: "rust " + rust.Value, Line: rust.Line}
	}
	for _, dep := range sortedKeys(doc.Dependencies) {
		version, _ := doc.Dependencies[dep].(string)
		if table, ok := doc.Dependencies[dep].(map[string]any); ok {
			version, _ = table["version"].(string)
		}
		line := lines.lineOfKey("dependencies", dep)
		if line == 0 {
			line = lines.lineWith(0, "[dependencies."+dep+"]")
		}
		m.Dependencies = append(m.Dependencies, dossier.Dependency{Name: dep, Version: version, Line: line})
	}
	for _, bin := range doc.Bin {
		m.Commands = append(m.Commands, dossier.Stated{Value: bin.Name, Line: lines.lineOfKey("bin", "name")})
	}
	main := "src/main.rs"
	if parent(name) != "." {
		main = parent(name) + "/" + main
	}
	if len(m.Commands) == 0 && m.Name.Value != "" && t.exists(main) {
		m.Commands = append(m.Commands, m.Name)
	}
	return m, nil
}
