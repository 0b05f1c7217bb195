package targets

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// makeRunner finds the targets of makefiles, those of included files too. Make itself
// is always invoked on the first file; the file that defines a target is the one that
// is shown and allowed.
func makeRunner() Runner {
	return Runner{
		Kind: "make",
		Tools: []Tool{{
			Name: "make", Program: "make", variables: makeVariable,
			Hint: "Install make: brew install make (macOS) or apt-get install make (Ubuntu)",
			elsewhere: func(t Target, up string) []string {
				return []string{"make", "-f", path.Join(up, path.Base(t.invoked)), t.Name}
			},
		}},
		find: findMake,
	}
}

// makeSet is a makefile with all that it includes.
type makeSet struct {
	folder *folder
	seen   map[string]bool // paths
	files  []makeSource
}

type makeSource struct {
	source
	parsed *makefile
}

func findMake(f *folder) {
	s, ok := f.first("GNUmakefile", "makefile", "Makefile")
	if !ok {
		return
	}
	set := &makeSet{folder: f, seen: map[string]bool{}}
	set.take(s)
	byName := set.byName()
	listed := map[string]bool{}
	tool := makeRunner().Tools[0]
	for _, file := range set.files {
		for _, r := range file.parsed.rules {
			for _, name := range r.targets {
				if listed[name] || !makeGoal(name) {
					continue
				}
				listed[name] = true
				f.add(file.source, Target{
					Name: name, Description: makeDescription(byName[name]), Argv: []string{"make", name}, tool: tool, invoked: s.path,
					recipe: func() string { return set.recipe(name, byName) },
				})
			}
		}
	}
}

// take parses a makefile and what it includes, depth first.
func (m *makeSet) take(s source) {
	m.seen[s.path] = true
	parsed := parseMakefile(s.text)
	m.files = append(m.files, makeSource{s, parsed})
	if parsed.wrong != "" {
		m.folder.report(s.path, Error, "%s", parsed.wrong)
	}
	if parsed.spaces != "" {
		m.folder.report(s.path, Warning, "%s", parsed.spaces)
	}
	for _, include := range parsed.includes {
		for _, name := range include.names {
			if !strings.ContainsAny(name, "$*?[") {
				m.include(s.path, name, include.required)
			}
		}
	}
}

// include takes an included file: beside the including one, or else in the folder that
// make is started in.
func (m *makeSet) include(from, name string, required bool) {
	beside, here := path.Join(path.Dir(from), name), m.folder.below(name)
	if path.IsAbs(name) {
		m.folder.report(from, Warning, "the include of %s is not followed: it leads out of the project's root", clip(name, 80))
		return
	}
	if m.seen[beside] || m.seen[here] {
		return
	}
	s, err := m.folder.load(beside)
	if errors.Is(err, fs.ErrNotExist) && here != beside {
		s, err = m.folder.load(here)
	}
	switch {
	case err == nil:
		m.take(s)
	case errors.Is(err, fs.ErrNotExist):
		m.seen[beside] = true
		if required {
			m.folder.report(from, Warning, "it includes %s, which does not exist", clip(name, 80))
		}
	default:
		m.seen[beside] = true
		m.folder.report(beside, Error, "%s", sentence(err))
	}
}

// byName returns the rules of each target, in order.
func (m *makeSet) byName() map[string][]*makeRule {
	rules := map[string][]*makeRule{}
	for _, file := range m.files {
		for _, r := range file.parsed.rules {
			for _, name := range r.targets {
				rules[name] = append(rules[name], r)
			}
		}
	}
	return rules
}

// recipe returns the digest of what a target does: its recipe and those of what it
// depends on, those of pattern and special rules, and everything that is in no recipe,
// such as variables.
func (m *makeSet) recipe(name string, byName map[string][]*makeRule) string {
	var text []string
	for _, file := range m.files {
		text = append(text, file.path, file.parsed.rest.String())
	}
	reached := map[string]bool{name: true}
	for queue := []string{name}; len(queue) > 0; queue = queue[1:] {
		for _, r := range byName[queue[0]] {
			for _, p := range r.prerequisites {
				if !reached[p] {
					reached[p] = true
					queue = append(queue, p)
				}
			}
		}
	}
	for _, file := range m.files {
		for _, r := range file.parsed.rules {
			if slices.ContainsFunc(r.targets, func(t string) bool { return reached[t] || !makeGoal(t) }) {
				text = append(text, strings.Join(r.recipe, "\n"))
			}
		}
	}
	return digest(text...)
}

// makeGoal reports whether a target of a rule is one that people ask for.
func makeGoal(name string) bool {
	return !strings.HasPrefix(name, ".") && !strings.HasPrefix(name, "_") && !strings.ContainsAny(name, "%$*?[]=()\\")
}

// makeDescription is what follows ## on a rule's line, else the recipe's first comment
// or what it says by @echo.
func makeDescription(rules []*makeRule) string {
	for _, r := range rules {
		if r.doc != "" {
			return r.doc
		}
	}
	for _, r := range rules {
		for _, line := range r.recipe {
			line = strings.TrimSpace(line)
			if text, ok := strings.CutPrefix(strings.TrimPrefix(line, "@"), "#"); ok && strings.TrimSpace(text) != "" {
				return strings.TrimSpace(strings.TrimLeft(text, "#"))
			}
			if text, ok := strings.CutPrefix(line, "@echo "); ok {
				return strings.TrimSpace(strings.NewReplacer(`"`, "", "'", "").Replace(text))
			}
		}
	}
	return ""
}
