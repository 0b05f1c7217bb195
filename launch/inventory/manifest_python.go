package inventory

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/gantry-run/gantry/internal/lazyregexp"
	"github.com/gantry-run/gantry/launch/dossier"
)

// pyproject holds what PEP 621 and Poetry state.
type pyproject struct {
	Project struct {
		Name           string            `toml:"name"`
		Version        string            `toml:"version"`
		Description    string            `toml:"description"`
		RequiresPython string            `toml:"requires-python"`
		License        any               `toml:"license"` // a string, or a table with text or file
		Dependencies   []string          `toml:"dependencies"`
		Scripts        map[string]string `toml:"scripts"`
	} `toml:"project"`
	Tool struct {
		Poetry struct {
			Name         string         `toml:"name"`
			Version      string         `toml:"version"`
			Description  string         `toml:"description"`
			License      string         `toml:"license"`
			Dependencies map[string]any `toml:"dependencies"`
			Scripts      map[string]any `toml:"scripts"`
		} `toml:"poetry"`
	} `toml:"tool"`
}

// readPyproject reads a pyproject.toml: [project], else [tool.poetry].
func readPyproject(_ *tree, _ string, data []byte) (dossier.Manifest, error) {
	var doc pyproject
	if err := decodeTOML(data, &doc); err != nil {
		return dossier.Manifest{}, err
	}
	lines := textOf(data)
	stated := func(section, key, value string) dossier.Stated {
		if value == "" {
			return dossier.Stated{}
		}
		return dossier.Stated{Value: strings.Join(strings.Fields(value), " "), Line: lines.lineOfKey(section, key)}
	}
	p := doc.Project
	m := dossier.Manifest{
		Name: stated("project", "name", p.Name), Version: stated("project", "version", p.Version),
		Description: stated("project", "description", p.Description),
		License:     stated("project", "license", licenseText(p.License)),
		Runtime:     stated("project", "requires-python", p.RequiresPython),
	}
	start := lines.lineOfKey("project", "dependencies")
	for _, spec := range p.Dependencies {
		m.Dependencies = append(m.Dependencies, requirement(spec, lines.lineWith(start, spec)))
	}
	for _, name := range sortedKeys(p.Scripts) {
		m.Commands = append(m.Commands, stated("project.scripts", name, name))
	}
	if m.Name.Value == "" {
		poetry(&m, doc, lines, stated)
	}
	return m, nil
}

func poetry(m *dossier.Manifest, doc pyproject, lines text, stated func(section, key, value string) dossier.Stated) {
	p := doc.Tool.Poetry
	m.Name, m.Version = stated("tool.poetry", "name", p.Name), stated("tool.poetry", "version", p.Version)
	m.Description, m.License = stated("tool.poetry", "description", p.Description), stated("tool.poetry", "license", p.License)
	for _, name := range sortedKeys(p.Dependencies) {
		version, _ := p.Dependencies[name].(string)
		line := lines.lineOfKey("tool.poetry.dependencies", name)
		if name == "python" {
			m.Runtime = dossier.Stated{Value: version, Line: line}
			continue
		}
		m.Dependencies = append(m.Dependencies, dossier.Dependency{Name: name, Version: version, Line: line})
	}
	for _, name := range sortedKeys(p.Scripts) {
		m.Commands = append(m.Commands, stated("tool.poetry.scripts", name, name))
	}
}

// licenseText returns an SPDX expression or the text of the older table; a file is not a name.
func licenseText(license any) string {
	switch v := license.(type) {
	case string:
		return v
	case map[string]any:
		if s, _ := v["text"].(string); len(s) < 80 {
			return s
		}
	}
	return ""
}

// requirement splits a PEP 508 requirement into name and version.
func requirement(spec string, line int) dossier.Dependency {
	spec, _, _ = strings.Cut(spec, ";")
	end := strings.IndexAny(spec, " <>=!~[(@")
	if end < 0 {
		end = len(spec)
	}
	rest := spec[end:]
	if close := strings.Index(rest, "]"); strings.HasPrefix(rest, "[") && close >= 0 {
		rest = rest[close+1:]
	}
	return dossier.Dependency{Name: strings.TrimSpace(spec[:end]), Version: strings.Trim(strings.TrimSpace(rest), "()"), Line: line}
}

// decodeTOML decodes with a bound on nesting: the parser recurses.
func decodeTOML(data []byte, v any) (err error) {
	if tooNested(data) {
		return errTooDeep
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the TOML parser failed: %v", r)
		}
	}()
	_, err = toml.Decode(string(data), v)
	return err
}

// tooNested reports whether brackets open far deeper than a manifest's do.
func tooNested(data []byte) bool {
	depth := 0
	for _, c := range data {
		switch c {
		case '[', '{':
			depth++
		case ']', '}':
			depth = max(depth-1, 0)
		}
		if depth > 4*maxNesting {
			return true
		}
	}
	return false
}

// readSetupCfg reads the [metadata] and [options] of a setup.cfg.
func readSetupCfg(_ *tree, _ string, data []byte) (dossier.Manifest, error) {
	lines := textOf(data)
	meta, options := lines.section("metadata"), lines.section("options")
	m := dossier.Manifest{
		Name: meta.ini("name"), Version: meta.ini("version"), Description: meta.ini("description"),
		License: meta.ini("license"), Runtime: options.ini("python_requires"),
	}
	if strings.HasPrefix(m.Version.Value, "attr:") || strings.HasPrefix(m.Version.Value, "file:") {
		m.Version = dossier.Stated{}
	}
	for _, item := range options.iniList("install_requires") {
		m.Dependencies = append(m.Dependencies, requirement(item.Value, item.Line))
	}
	for _, item := range lines.section("options.entry_points").iniList("console_scripts") {
		name, _, _ := strings.Cut(item.Value, "=")
		m.Commands = append(m.Commands, dossier.Stated{Value: strings.TrimSpace(name), Line: item.Line})
	}
	return m, nil
}

// ini returns the value of "key = value".
func (t text) ini(key string) dossier.Stated {
	for i, line := range t {
		name, value, ok := strings.Cut(line, "=")
		if ok && strings.TrimSpace(name) == key && strings.TrimSpace(value) != "" {
			return dossier.Stated{Value: strings.TrimSpace(value), Line: i + 1}
		}
	}
	return dossier.Stated{}
}

// iniList returns the indented lines below "key =".
func (t text) iniList(key string) []dossier.Stated {
	var items []dossier.Stated
	inside := false
	for i, line := range t {
		indented := strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t")
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "" || strings.HasPrefix(trimmed, "#"):
		case !indented:
			name, _, _ := strings.Cut(line, "=")
			inside = strings.TrimSpace(name) == key
		case inside:
			items = append(items, dossier.Stated{Value: trimmed, Line: i + 1})
		}
	}
	return items
}

var (
	setupCall    = lazyregexp.New(`\bsetup\s*\(`)
	setupRequire = lazyregexp.New(`install_requires\s*=\s*\[`)
	quoted       = lazyregexp.New(`["']([^"']+)["']`)
)

// readSetupPy reads the keyword arguments of setup() that are string literals.
func readSetupPy(_ *tree, _ string, data []byte) (dossier.Manifest, error) {
	if !setupCall.Match(data) {
		return dossier.Manifest{}, errors.New("there is no call of setup()")
	}
	lines := textOf(data)
	keyword := func(name string) dossier.Stated {
		return lines.first(lazyregexp.New(`^\s*(?:setup\()?\s*` + name + `\s*=\s*["']([^"']+)["']\s*[,)]?\s*$`))
	}
	m := dossier.Manifest{
		Name: keyword("name"), Version: keyword("version"), License: keyword("license"),
		Description: keyword("description"), Runtime: keyword("python_requires"),
	}
	if start := slices.IndexFunc(lines, setupRequire.MatchString); start >= 0 {
		for i, line := range lines[start:] {
			line = strings.Replace(line, "install_requires", "", 1)
			for _, q := range quoted.FindAllStringSubmatch(line, -1) {
				m.Dependencies = append(m.Dependencies, requirement(q[1], start+i+1))
			}
			if strings.Contains(line, "]") {
				break
			}
		}
	}
	if line := lines.first(lazyregexp.New(`console_scripts["']\s*:\s*\[\s*["']\s*([\w.-]+)\s*=`)); line.Line > 0 {
		m.Commands = append(m.Commands, line)
	}
	return m, nil
}
