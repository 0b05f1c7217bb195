package inventory

import "os"

// ManifestName returns the name that a manifest at the top of the folder states,
// without a registry's scope, host or major version; "" if none does. It reads
// those manifests alone.
func ManifestName(dir string) string {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return ""
	}
	defer root.Close()
	t := &tree{root: root}
	for _, name := range []string{"go.mod", "package.json", "pyproject.toml", "setup.cfg", "setup.py", "Cargo.toml", "composer.json", "pom.xml"} {
		if m := t.readManifest(name); m.Error == "" && m.Name.Value != "" {
			return m.ShortName()
		}
	}
	return ""
}
