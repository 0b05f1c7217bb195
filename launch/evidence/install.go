package evidence

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/gantry-run/gantry/internal/lazyregexp"
	"github.com/gantry-run/gantry/launch/dossier"
)

// packageName bounds what is put into a command that a reader will paste: names
// that a registry accepts, and nothing that a shell would read.
var packageName = lazyregexp.New(`^@?[A-Za-z0-9][A-Za-z0-9._~/:-]{0,199}$`)

// route is one way to obtain the product.
type route struct {
	method, identifier string
	commands           []string
	sentence           string
}

// routes returns the ways that a manifest's name implies. A private package and
// a Go module outside any host have none.
func (g *gatherer) routes(m dossier.Manifest) []route {
	name := m.Name.Value
	if !packageName.MatchString(name) {
		return nil
	}
	one := func(method, tool, command string) []route {
		return []route{{method, name, []string{command}, fmt.Sprintf("Install %s%s with %s", g.name, tool, codeSpan(command))}}
	}
	switch m.Kind {
	case "npm":
		if g.npmFile(m.Path).Private {
			return nil
		}
		return one("npm", "", "npm install "+firstOf(len(m.Commands) > 0, "-g ", "")+name)
	case "python":
		return one("pip", "", "pip install "+name)
	case "go":
		return g.goRoutes(m)
	case "maven", "gradle":
		return g.mavenRoute(m)
	case "dotnet":
		if path.Ext(m.Path) == ".sln" {
			return nil
		}
		if len(m.Commands) > 0 {
			return one("nuget", "", "dotnet tool install --global "+name)
		}
		return one("nuget", " into a .NET project", "dotnet add package "+name)
	case "cargo":
		if len(m.Commands) > 0 {
			return one("cargo", "", "cargo install "+name)
		}
		return one("cargo", " into a Rust project", "cargo add "+name)
	case "composer":
		return one("composer", "", "composer require "+name)
	case "rubygems":
		return one("gem", "", "gem install "+name)
	}
	return nil
}

func firstOf(holds bool, then, otherwise string) string {
	if holds {
		return then
	}
	return otherwise
}

// goRoutes: a command is installed, a library is added to a module. That comes first
// unless the module is called like one of its commands, and so is a program.
func (g *gatherer) goRoutes(m dossier.Manifest) []route {
	host, _, _ := strings.Cut(m.Name.Value, "/")
	if !strings.Contains(host, ".") {
		return nil
	}
	var routes []route
	library := true
	for _, command := range m.Commands {
		library = library && command.Value != m.Name.Value
		install := "go install " + command.Value + "@latest"
		routes = append(routes, route{"go", command.Value, []string{install}, fmt.Sprintf("Install the command %s with %s", codeSpan(path.Base(command.Value)), codeSpan(install))})
	}
	if library && g.hasGoPackages() {
		get := "go get " + m.Name.Value + "@latest"
		add := route{"go", m.Name.Value, []string{get}, fmt.Sprintf("Add %s to a Go module with %s", g.name, codeSpan(get))}
		if slices.ContainsFunc(m.Commands, func(c dossier.Stated) bool { return path.Base(c.Value) == path.Base(m.Name.Value) }) {
			routes = append(routes, add)
		} else {
			routes = slices.Insert(routes, 0, add)
		}
	}
	return routes
}

// hasGoPackages reports whether there is something to import.
func (g *gatherer) hasGoPackages() bool {
	for _, file := range g.inv.Paths {
		if file.Role == "source" && file.Language == "Go" && !inDir(file.Path, "internal", "cmd") {
			return true
		}
	}
	return false
}

func (g *gatherer) mavenRoute(m dossier.Manifest) []route {
	if !strings.Contains(m.Name.Value, ":") {
		return nil
	}
	coordinates := m.Name.Value
	if m.Version.Value != "" {
		coordinates += ":" + m.Version.Value
	}
	return []route{{
		"maven", m.Name.Value, []string{},
		fmt.Sprintf("The Maven coordinates of %s are %s", g.name, codeSpan(coordinates)),
	}}
}

// distribution states how to obtain the product. The command follows from the
// name that the manifest states.
func (g *gatherer) distribution(m dossier.Manifest) {
	for _, r := range g.routes(m) {
		at := m.Name
		for _, d := range g.facts.Distribution {
			if d.Method == r.method && d.Identifier == r.identifier {
				at.Line = 0 // pyproject.toml and setup.py say the same
			}
		}
		if at.Line == 0 {
			continue
		}
		id := g.state(m, at, kindInstall, "%s", r.sentence)
		g.facts.Distribution = append(g.facts.Distribution, dossier.Distribution{
			Method: r.method, Identifier: r.identifier, InstallCommands: r.commands, ClaimID: id,
		})
	}
}

// confirmInstall adds the lines where a document shows a derived command, and
// says so where none does.
func (g *gatherer) confirmInstall() {
	shown := false
	for _, d := range g.facts.Distribution {
		for _, doc := range g.docs {
			for _, b := range doc.blocks {
				if !showsInstall(commandsOf(b), d) {
					continue
				}
				shown = true
				source := fromDoc
				if doc.readme {
					source = fromTechnical
				}
				g.claims.cite(d.ClaimID, cite(doc.path, b.start, b.end, source))
			}
		}
	}
	switch {
	case len(g.facts.Distribution) == 0:
		g.missing("No manifest gives a name under which the product can be installed")
	case !shown:
		g.missing("No document shows how to install the product; the command is derived from the name in the manifest")
	}
}

// commandsOf is what a block may show a command in: its code, or the code spans of its prose.
func commandsOf(b block) string {
	if b.kind == code {
		return b.content
	}
	spans := strings.Split(string(b.prose.text), "`")
	var lines []string
	for i := 1; i < len(spans)-1; i += 2 {
		lines = append(lines, strings.Join(strings.Fields(spans[i]), " "))
	}
	return strings.Join(lines, "\n")
}

// declares reports whether a line of a manifest that a document shows wants the
// distribution: "serde = ", "gem 'rack'", "<artifactId>gson</artifactId>".
func declares(line string, d dossier.Distribution) bool {
	line, name := strings.TrimSpace(line), d.Identifier
	switch d.Method {
	case "cargo":
		key, _, ok := strings.Cut(line, "=")
		return ok && strings.TrimSpace(key) == name
	case "gem":
		return strings.HasPrefix(line, `gem "`+name+`"`) || strings.HasPrefix(line, "gem '"+name+"'")
	case "composer":
		return strings.HasPrefix(line, `"`+name+`":`)
	case "maven":
		group, artifact, _ := strings.Cut(name, ":")
		return strings.Contains(line, "<artifactId>"+artifact+"</artifactId>") || strings.Contains(line, group+":"+artifact+":")
	case "nuget":
		return strings.Contains(line, `<PackageReference Include="`+name+`"`)
	}
	return false
}

var installVerb = lazyregexp.New(`(?i)\b(install|add|get|require|i)\b`)

// showsInstall reports whether a line of code installs the distribution, or declares
// that it is wanted.
func showsInstall(content string, d dossier.Distribution) bool {
	for line := range strings.Lines(content) {
		if declares(line, d) {
			return true
		}
		if installVerb.MatchString(line) {
			for _, word := range strings.Fields(line) {
				word = strings.Trim(word, `"'`)
				word, _, _ = strings.Cut(word, "[")
				if at := strings.LastIndex(word, "@"); at > 0 {
					word = word[:at]
				}
				if word == d.Identifier || strings.TrimSuffix(word, "/...") == d.Identifier {
					return true
				}
			}
		}
	}
	return false
}
