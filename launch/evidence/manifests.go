package evidence

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/gantry-run/gantry/internal/lazyregexp"
	"github.com/gantry-run/gantry/launch/dossier"
)

const maxDependencies = 30

// fromManifests states what the package manifests of the top level state; if
// there is none at the top level, the one nearest to it.
func (g *gatherer) fromManifests(context.Context) {
	for _, m := range g.mainManifests() {
		if m.Error != "" {
			g.missing("The manifest `%s` could not be read, so nothing is taken from it", m.Path)
			continue
		}
		g.fromManifest(m)
	}
}

func (g *gatherer) mainManifests() []dossier.Manifest {
	var found []dossier.Manifest
	for _, m := range g.inv.Profile.Manifests {
		if path.Dir(m.Path) == "." {
			found = append(found, m)
		}
	}
	if len(found) == 0 && len(g.inv.Profile.Manifests) > 0 {
		found = g.inv.Profile.Manifests[:1]
	}
	return found
}

func (g *gatherer) fromManifest(m dossier.Manifest) {
	file := codeSpan(path.Base(m.Path))
	if m.Version.Value != "" {
		id := g.state(m, m.Version, kindMetadata, "The version of %s is %s, as %s states", g.name, codeSpan(m.Version.Value), file)
		setFact(&g.facts.Version, m.Version.Value, id)
		if m.Kind != "npm" || !g.npmFile(m.Path).Private { // a private one versions tooling, not the product
			g.record("version "+path.Dir(m.Path), m.Version.Value, id, fromManifest)
		}
	}
	if m.License.Value != "" {
		value := spdxOf(m.License.Value)
		id := g.state(m, m.License, kindMetadata, "%s is released under the %s license, as %s states", g.name, codeSpan(value), file)
		setFact(&g.facts.License, value, id)
		g.record("license", value, id, fromManifest)
	}
	if m.Description.Value != "" {
		g.description(m)
	}
	if m.Runtime.Value != "" {
		value, sentence := g.runtime(m)
		id := g.state(m, m.Runtime, kindCompatibility, "%s", sentence)
		g.facts.Runtime = append(g.facts.Runtime, dossier.Fact{Value: value, ClaimID: id})
		if name, version := runtimeVersion(value); version != "" {
			g.record("runtime "+name, version, id, fromManifest)
		}
	}
	for _, d := range m.Dependencies[:min(len(m.Dependencies), maxDependencies)] {
		g.dependency(m, d)
	}
	g.distribution(m)
	g.commands(m)
}

// state adds a claim that a line of a manifest supports.
func (g *gatherer) state(m dossier.Manifest, at dossier.Stated, kind, format string, args ...any) string {
	text := finish(fmt.Sprintf(format, args...))
	return g.claims.add(text, kind, fact, m.Path+"#"+m.Kind, cite(m.Path, at.Line, at.Line, fromManifest))
}

// setFact keeps the first value.
func setFact(target **dossier.Fact, value, id string) {
	if *target == nil {
		*target = &dossier.Fact{Value: value, ClaimID: id}
	}
}

var (
	article  = lazyregexp.New(`(?i)^(a|an|the) `)
	ofItself = lazyregexp.New(`(?i)^\S+( \S+)? (is|are|provides|makes|lets|helps|allows) `)
)

// description states how the manifest describes the product, as a sentence.
func (g *gatherer) description(m dossier.Manifest) {
	words := strings.TrimRight(strings.TrimSpace(m.Description.Value), ". ")
	if !isReadable(words+" as described") || strings.ContainsAny(words, "<>{}`") {
		return
	}
	text := g.name + " is described as “" + words + "”"
	switch {
	case ofItself.MatchString(words) && isClaim(words):
		text = words
	case article.MatchString(words):
		text = g.name + " is " + strings.ToLower(words[:1]) + words[1:]
	}
	id := g.state(m, m.Description, kindMetadata, "%s", text)
	if g.facts.Positioning.Tagline.Value == "" {
		g.facts.Positioning.Tagline = dossier.Fact{Value: words, ClaimID: id}
	}
}

var simpleRange = lazyregexp.New(`^(?:>=\s*)?v?(\d+(?:\.\d+)*)(?:\.\*)?$`)

// runtimeNames maps the first word of a stated runtime to its name.
var runtimeNames = map[string]string{"node": "Node.js", "go": "Go", "java": "Java", "rust": "Rust", "php": "PHP", "ruby": "Ruby", "swift": "Swift"}

// runtime returns the runtime's name with its range, and the sentence about it.
func (g *gatherer) runtime(m dossier.Manifest) (value, sentence string) {
	word, version, ok := strings.Cut(m.Runtime.Value, " ")
	name := runtimeNames[word]
	switch {
	case m.Kind == "python":
		name, version = "Python", m.Runtime.Value
	case !ok || name == "":
		return m.Runtime.Value, fmt.Sprintf("%s targets %s", g.name, codeSpan(m.Runtime.Value))
	}
	if word == "swift" && m.Kind == "swift" {
		name = "Swift tools"
	}
	version = strings.TrimSpace(version)
	if exact := simpleRange.FindStringSubmatch(version); exact != nil {
		return name + " " + exact[1] + " or later", fmt.Sprintf("%s requires %s %s or later", g.name, name, exact[1])
	}
	return name + " " + version, fmt.Sprintf("%s requires %s in the range %s", g.name, name, codeSpan(version))
}

func (g *gatherer) dependency(m dossier.Manifest, d dossier.Dependency) {
	text := fmt.Sprintf("%s depends on %s", g.name, codeSpan(d.Name))
	value := d.Name
	if d.Version != "" {
		text += ", version " + codeSpan(d.Version)
		value += " " + d.Version
	}
	id := g.state(m, dossier.Stated{Line: d.Line}, kindMetadata, "%s", text)
	g.facts.Dependencies = append(g.facts.Dependencies, dossier.Fact{Value: value, ClaimID: id})
}

// commands states the executables that an installation brings.
func (g *gatherer) commands(m dossier.Manifest) {
	for _, command := range m.Commands {
		g.state(m, command, kindMetadata, "Installing %s provides the command %s", g.name, codeSpan(path.Base(command.Value)))
	}
}

// codeSpan writes text as inline code, whatever it holds.
func codeSpan(s string) string {
	s = strings.ReplaceAll(strings.Join(strings.Fields(s), " "), "{{", "{ {")
	if strings.Contains(s, "`") {
		return "`` " + s + " ``"
	}
	return "`" + s + "`"
}

func (g *gatherer) missing(format string, args ...any) {
	g.facts.Missing = append(g.facts.Missing, finish(fmt.Sprintf(format, args...)))
}

// npmFile is what the inventory does not keep of a package.json.
type npmFile struct {
	Private bool   `json:"private"`
	Main    string `json:"main"`
	Module  string `json:"module"`
	Types   string `json:"types"`
	Typings string `json:"typings"`
	Exports any    `json:"exports"`
}

func (g *gatherer) npmFile(name string) npmFile {
	var file npmFile
	if data, ok := g.read(name, maxSource); ok {
		_ = json.Unmarshal(data, &file) // the inventory has reported what is broken
	}
	return file
}
