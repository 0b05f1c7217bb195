package evidence

import (
	"path"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/gantry-run/gantry/internal/lazyregexp"
)

// pythonPackages is what a project says of where its packages are: setuptools' table in
// pyproject.toml, else package_dir in setup.cfg or setup.py.
type pythonPackages struct {
	folder string   // that the packages are in; "": not said
	names  []string // of the packages that are installed; none: not said
}

var packageDir = lazyregexp.New(`(?m)^\s*(?:"package_dir"|package_dir)\s*=\s*\{?\s*(?:["']{2}\s*:|=)\s*["']?([\w./-]+)`)

func (g *gatherer) pythonPackages() pythonPackages {
	var doc struct {
		Tool struct {
			Setuptools struct {
				PackageDir map[string]string `toml:"package-dir"`
				Packages   any               `toml:"packages"` // a list, or a table with find
			} `toml:"setuptools"`
		} `toml:"tool"`
	}
	var p pythonPackages
	if data, ok := g.read("pyproject.toml", maxSource); ok && !deeplyNested(string(data)) {
		if guarded(func(s string) error { _, err := toml.Decode(s, &doc); return err }, string(data)) == nil {
			p.folder = doc.Tool.Setuptools.PackageDir[""]
			if list, ok := doc.Tool.Setuptools.Packages.([]any); ok {
				for _, name := range list {
					if s, ok := name.(string); ok {
						p.names = append(p.names, s)
					}
				}
			}
		}
	}
	for _, name := range []string{"setup.cfg", "setup.py"} {
		if data, ok := g.read(name, maxSource); ok && p.folder == "" {
			if m := packageDir.FindSubmatch(data); m != nil {
				p.folder = string(m[1])
			}
		}
	}
	if p.folder = strings.Trim(path.Clean("/"+p.folder), "/"); !g.hasUnder(p.folder + "/") {
		p.folder = ""
	}
	return p
}

// module returns the dotted name under which a file is imported, or "" for one that is
// not installed, or private.
func (p pythonPackages) module(file string) string {
	if p.folder != "" {
		rest, ok := strings.CutPrefix(file, p.folder+"/")
		if !ok {
			return ""
		}
		file = rest
	}
	name := pythonModule(file)
	if len(p.names) == 0 || name == "" {
		return name
	}
	in := path.Dir(file)
	if !slices.Contains(p.names, strings.ReplaceAll(in, "/", ".")) && p.folder != "" {
		return ""
	}
	return name
}
