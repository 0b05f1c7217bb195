package inventory

import (
	"github.com/gantry-run/gantry/internal/lazyregexp"
	"github.com/gantry-run/gantry/launch/dossier"
)

var (
	swiftName  = lazyregexp.New(`(?:Package\(\s*)?\bname:\s*"([^"]+)"`)
	swiftTools = lazyregexp.New(`^//\s*swift-tools-version:\s*([\d.]+)`)
	swiftDep   = lazyregexp.New(`\.package\(.*url:\s*"([^"]+)"(?:,\s*(?:from:|exact:|\.upToNextMajor\(from:)?\s*"([^"]+)")?`)
	swiftExe   = lazyregexp.New(`\.executable(?:Target)?\(\s*name:\s*"([^"]+)"`)
)

// readSwift reads the plain literals of a Package.swift.
func readSwift(_ *tree, _ string, data []byte) (dossier.Manifest, error) {
	lines := textOf(data)
	m := dossier.Manifest{Name: lines.first(swiftName), Dependencies: lines.all(swiftDep)}
	if tools := lines.first(swiftTools); tools.Value != "" {
		m.Runtime = dossier.Stated{Value: "swift " + tools.Value, Line: tools.Line}
	}
	if exe := lines.first(swiftExe); exe.Value != "" {
		m.Commands = append(m.Commands, exe)
	}
	return m, nil
}
