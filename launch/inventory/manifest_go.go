package inventory

import (
	"go/parser"
	"go/token"
	"maps"
	"path"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/gantry-run/gantry/launch/dossier"
)

// readGoMod reads a go.mod. Its commands are the main packages at the module's
// top level and in its cmd folder.
func readGoMod(t *tree, name string, data []byte) (dossier.Manifest, error) {
	file, err := modfile.ParseLax("go.mod", data, nil)
	if err != nil {
		return dossier.Manifest{}, err
	}
	var m dossier.Manifest
	if file.Module != nil {
		m.Name = dossier.Stated{Value: file.Module.Mod.Path, Line: file.Module.Syntax.Start.Line}
	}
	if file.Go != nil {
		m.Runtime = dossier.Stated{Value: "go " + file.Go.Version, Line: file.Go.Syntax.Start.Line}
	}
	for _, r := range file.Require {
		if !r.Indirect {
			m.Dependencies = append(m.Dependencies, dossier.Dependency{Name: r.Mod.Path, Version: r.Mod.Version, Line: r.Syntax.Start.Line})
		}
	}
	for _, command := range t.goCommands(parent(name), m.Name.Value) {
		m.Commands = append(m.Commands, dossier.Stated{Value: command, Line: m.Name.Line})
	}
	return m, nil
}

// goCommands returns the import paths of the main packages of a module that
// are meant to be installed: its top level and the folders of cmd. A folder that
// also holds another package keeps its main files for code generation.
func (t *tree) goCommands(dir, module string) []string {
	mains, others := map[string]bool{}, map[string]bool{}
	for _, file := range t.files {
		rel, below := file.Path, true
		if dir != "." {
			rel, below = strings.CutPrefix(file.Path, dir+"/")
		}
		pkg := path.Dir(rel)
		if installed := pkg == "." || path.Dir(pkg) == "cmd"; !below || !installed || file.Role != roleSource || !strings.HasSuffix(rel, ".go") {
			continue
		}
		switch name := t.goPackageName(file.Path); {
		case name != "main":
			others[path.Join(module, pkg)] = true
		case !t.goIgnored(file.Path):
			mains[path.Join(module, pkg)] = true
		}
	}
	maps.DeleteFunc(mains, func(pkg string, _ bool) bool { return others[pkg] })
	return sortedKeys(mains)
}

// goPackageName returns the name in a Go file's package clause, "" if there is none.
func (t *tree) goPackageName(name string) string {
	data, err := t.read(name)
	if err != nil {
		return ""
	}
	file, err := parser.ParseFile(token.NewFileSet(), "", data, parser.PackageClauseOnly)
	if err != nil {
		return ""
	}
	return file.Name.Name
}

// goIgnored reports whether the file is kept out of every build.
func (t *tree) goIgnored(name string) bool {
	data, _ := t.read(name)
	head, _, _ := strings.Cut(string(data), "\npackage ")
	return strings.Contains(head, "//go:build ignore")
}
