package inventory

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/gantry-run/gantry/launch/dossier"
)

// manifestReader reads one kind of package manifest. match tells by the file's
// base name; read fills every field but Path and Kind.
type manifestReader struct {
	kind  string
	match func(base string) bool
	read  func(t *tree, name string, data []byte) (dossier.Manifest, error)
}

// manifestReaders lists the kinds, one file each.
func manifestReaders() []manifestReader {
	return []manifestReader{
		{"npm", named("package.json"), readNPM},
		{"python", named("pyproject.toml"), readPyproject},
		{"python", named("setup.cfg"), readSetupCfg},
		{"python", named("setup.py"), readSetupPy},
		{"go", named("go.mod"), readGoMod},
		{"maven", named("pom.xml"), readPOM},
		{"gradle", named("build.gradle", "build.gradle.kts"), readGradle},
		{"dotnet", withExt(".csproj", ".fsproj", ".vbproj", ".sln"), readDotnet},
		{"cargo", named("Cargo.toml"), readCargo},
		{"composer", named("composer.json"), readComposer},
		{"rubygems", isGemManifest, readRuby},
		{"swift", named("Package.swift"), readSwift},
	}
}

func named(names ...string) func(string) bool {
	return func(base string) bool { return slices.Contains(names, base) }
}

func withExt(exts ...string) func(string) bool {
	return func(base string) bool { return slices.Contains(exts, path.Ext(base)) }
}

// manifestKind returns the kind of manifest that a file is by its name, or "".
func manifestKind(name string) string {
	base := path.Base(name)
	for _, reader := range manifestReaders() {
		if reader.match(base) {
			return reader.kind
		}
	}
	return ""
}

// readManifests reads every file with the manifest role, top level first.
func (t *tree) readManifests() {
	t.manifests = []dossier.Manifest{}
	for _, file := range t.files {
		if file.Role == roleManifest {
			t.manifests = append(t.manifests, t.readManifest(file.Path))
		}
	}
	slices.SortFunc(t.manifests, func(a, b dossier.Manifest) int {
		return cmp.Or(cmp.Compare(strings.Count(a.Path, "/"), strings.Count(b.Path, "/")), cmp.Compare(a.Path, b.Path))
	})
}

// readManifest reads one manifest; what went wrong is in its Error.
func (t *tree) readManifest(name string) dossier.Manifest {
	base := path.Base(name)
	var m dossier.Manifest
	for _, reader := range manifestReaders() {
		if !reader.match(base) {
			continue
		}
		data, err := t.read(name)
		if err == nil {
			m, err = reader.read(t, name, data)
		}
		if err != nil {
			m = dossier.Manifest{Error: oneLine(err.Error())}
		}
		m.Path, m.Kind = name, reader.kind
		break
	}
	slices.SortFunc(m.Dependencies, func(a, b dossier.Dependency) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Line, b.Line))
	})
	if m.Dependencies == nil {
		m.Dependencies = []dossier.Dependency{}
	}
	if m.Commands == nil {
		m.Commands = []dossier.Stated{}
	}
	return m
}

// oneLine keeps the first line of a parser's message, at most 200 bytes.
func oneLine(text string) string {
	text, _, _ = strings.Cut(strings.ToValidUTF8(text, "?"), "\n")
	return strings.ToValidUTF8(text[:min(len(text), 200)], "")
}
