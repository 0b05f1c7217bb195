package inventory

import (
	"path"
	"strings"

	"github.com/gantry-run/gantry/internal/lazyregexp"
	"github.com/gantry-run/gantry/launch/dossier"
)

func isGemManifest(base string) bool { return base == "Gemfile" || path.Ext(base) == ".gemspec" }

var (
	gemDependency  = lazyregexp.New(`\.add_(?:runtime_)?dependency[\s(]+["']([^"']+)["'](?:\.freeze)?(?:,\s*\[?["']([^"']+)["'])?`)
	gemfileEntry   = lazyregexp.New(`^gem\s+["']([^"']+)["'](?:,\s*["']([^"']+)["'])?`)
	gemfileRuby    = lazyregexp.New(`^ruby\s+["']([^"']+)["']`)
	gemExecutables = lazyregexp.New(`\.executables\s*=\s*(?:\[|%w[\[(])?\s*["']?([\w-]+)["'\])]`)
)

// readRuby reads the plain literals of a gemspec or a Gemfile.
func readRuby(_ *tree, name string, data []byte) (dossier.Manifest, error) {
	lines := textOf(data)
	if path.Base(name) == "Gemfile" {
		m := dossier.Manifest{Dependencies: lines.all(gemfileEntry)}
		if ruby := lines.first(gemfileRuby); ruby.Value != "" {
			m.Runtime = dossier.Stated{Value: "ruby " + ruby.Value, Line: ruby.Line}
		}
		return m, nil
	}
	field := func(key string) dossier.Stated {
		s := lines.first(lazyregexp.New(`^\s*\w+\.` + key + `\s*=\s*\[?\s*(?:["']|%q[{(\[])([^"'})\]]+)["'})\]]`))
		if strings.Contains(s.Value, "#{") {
			return dossier.Stated{}
		}
		return s
	}
	m := dossier.Manifest{
		Name: field("name"), Version: field("version"), License: field("licenses?"), Description: field("summary"),
		Dependencies: lines.all(gemDependency),
	}
	if ruby := field("required_ruby_version"); ruby.Value != "" {
		m.Runtime = dossier.Stated{Value: "ruby " + ruby.Value, Line: ruby.Line}
	}
	if exe := lines.first(gemExecutables); exe.Value != "" {
		m.Commands = append(m.Commands, exe)
	}
	return m, nil
}
