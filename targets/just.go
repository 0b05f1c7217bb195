package targets

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// justRunner finds the recipes and aliases of a justfile, those of imported files and of
// modules too. When just is installed and may be asked, what it says itself wins.
func justRunner() Runner {
	return Runner{
		Kind: "just",
		Tools: []Tool{{
			Name: "just", Program: "just", Hint: "Install just: brew install just (macOS), or cargo install just",
			elsewhere: func(t Target, up string) []string {
				return []string{"just", "--justfile", path.Join(up, path.Base(t.invoked)), "--working-directory", ".", t.Name}
			},
		}},
		find: findJust,
	}
}

// justSet is a justfile with all that it takes in.
type justSet struct {
	folder *folder
	seen   map[string]bool // paths
	parts  []justPart
	index  map[string]*justRecipe // by full name
}

// justPart is one file of the set, with the module that its recipes are in.
type justPart struct {
	source
	prefix string
	parsed *justfile
}

// justEntry is a recipe or an alias that can be asked for.
type justEntry struct {
	name, source string
	part         justPart
	description  string
	parameters   int
	known        bool // the parser found it, and so its recipe
}

func findJust(f *folder) {
	s, ok := f.first("Justfile", "justfile", ".justfile")
	if !ok {
		return
	}
	set := &justSet{folder: f, seen: map[string]bool{}, index: map[string]*justRecipe{}}
	if !set.take(s, "") {
		return
	}
	entries := set.entries()
	if f.dump != nil {
		if raw, err := f.dump(s.path); err == nil {
			entries = merged(entries, raw, set.parts[0])
		}
	}
	for _, e := range entries {
		t := Target{
			Name: e.name, SourceName: e.source, Description: e.description, Argv: []string{"just", e.name},
			tool: justRunner().Tools[0], invoked: s.path, takes: e.parameters,
		}
		if e.known {
			t.recipe = func() string { return set.recipe(e.name) }
		}
		f.add(e.part.source, t)
	}
}

// take parses a justfile and what it imports. A file that just would refuse is a
// problem and gives nothing.
func (j *justSet) take(s source, prefix string) bool {
	j.seen[prefix+"\x00"+s.path] = true
	parsed := parseJustfile(s.text)
	if parsed.wrong != "" {
		j.folder.report(s.path, Error, "%s", parsed.wrong)
		return false
	}
	j.parts = append(j.parts, justPart{s, prefix, parsed})
	for _, r := range parsed.recipes {
		if j.index[prefix+r.name] == nil {
			j.index[prefix+r.name] = r
		}
	}
	for _, i := range parsed.imports {
		j.follow(s, prefix, i.optional, i.path)
	}
	for _, m := range parsed.modules {
		names := []string{m.path}
		if m.path == "" {
			names = []string{m.name + ".just", m.name + "/mod.just", m.name + "/justfile", m.name + "/.justfile"}
		}
		j.follow(s, prefix+m.name+"::", m.optional, names...)
	}
	return true
}

// follow takes the first of the paths, from the file that names them, that exists.
func (j *justSet) follow(from source, prefix string, optional bool, names ...string) {
	for _, name := range names {
		p := path.Join(path.Dir(from.path), name)
		if name == "" || path.IsAbs(name) || strings.HasPrefix(name, "~") {
			j.folder.report(from.path, Warning, "an import of %s is not followed: it leads out of the project's root", clip(name, 80))
			return
		}
		if j.seen[prefix+"\x00"+p] {
			return
		}
		s, err := j.folder.load(p)
		switch {
		case err == nil:
			j.take(s, prefix)
			return
		case !errors.Is(err, fs.ErrNotExist):
			j.seen[prefix+"\x00"+p] = true
			j.folder.report(p, Error, "%s", sentence(err))
			return
		}
	}
	if !optional {
		j.folder.report(from.path, Warning, "it takes in %s, which does not exist", clip(names[0], 80))
	}
}

// entries returns what can be asked for, in the order of the files; the first of a name
// wins, as the importing file does over the imported one.
func (j *justSet) entries() []justEntry {
	var list []justEntry
	seen := map[string]bool{}
	add := func(e justEntry, private bool) {
		if !private && !seen[e.name] {
			list = append(list, e)
		}
		seen[e.name] = true
	}
	for _, part := range j.parts {
		for _, r := range part.parsed.recipes {
			says := r.inline
			if says == "" {
				says = r.above
			}
			add(justEntry{part.prefix + r.name, r.name, part, says, r.parameters, true}, r.private)
		}
		for _, a := range part.parsed.aliases {
			parameters := 0
			if r := j.index[part.prefix+a.target]; r != nil {
				parameters = r.parameters
			}
			add(justEntry{part.prefix + a.name, a.name, part, "alias for " + a.target, parameters, true}, a.private)
		}
	}
	return list
}

// recipe returns the digest of what a recipe or alias does: its lines, those of what it
// depends on, and everything that is in no recipe, such as settings and variables.
func (j *justSet) recipe(name string) string {
	var text []string
	for _, part := range j.parts {
		text = append(text, part.path, part.parsed.rest.String())
		for _, a := range part.parsed.aliases {
			if part.prefix+a.name == name {
				name = part.prefix + a.target
			}
		}
	}
	reached := map[string]bool{name: true}
	for queue := []string{name}; len(queue) > 0; queue = queue[1:] {
		r := j.index[queue[0]]
		if r == nil {
			continue
		}
		text = append(text, queue[0], strings.TrimRight(strings.Join(r.body, "\n"), "\n"))
		module := queue[0][:strings.LastIndex(queue[0], ":")+1]
		for _, d := range r.dependencies {
			if d = module + d; !reached[d] {
				reached[d] = true
				queue = append(queue, d)
			}
		}
	}
	return digest(text...)
}

// justDump is the part of just's own description that is used.
type justDump struct {
	Recipes map[string]struct {
		Doc        string
		Private    bool
		Parameters []struct{ Kind string }
	}
	Aliases map[string]struct {
		Target     string
		Attributes []any
	}
	Modules map[string]justDump
}

// merged returns what just itself says, in the order of the files as far as the parser
// knows it. Names that only just knows come last, sorted.
func merged(parsed []justEntry, raw []byte, top justPart) []justEntry {
	var dump justDump
	if json.Unmarshal(raw, &dump) != nil || dump.Recipes == nil {
		return parsed
	}
	said := map[string]justEntry{}
	collect(dump, "", top, said)
	var list []justEntry
	for _, e := range parsed {
		if s, ok := said[e.name]; ok {
			if s.description == "" {
				s.description = e.description
			}
			s.part, s.source, s.known = e.part, e.source, true
			list = append(list, s)
			delete(said, e.name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(said)) {
		list = append(list, said[name])
	}
	return list
}

func collect(d justDump, prefix string, top justPart, into map[string]justEntry) {
	for name, r := range d.Recipes {
		if r.Private {
			continue
		}
		n := len(r.Parameters)
		if n > 0 && r.Parameters[n-1].Kind != "singular" && r.Parameters[n-1].Kind != "" {
			n = anyArguments
		}
		into[prefix+name] = justEntry{prefix + name, name, top, r.Doc, n, false}
	}
	for name, a := range d.Aliases {
		if private := strings.HasPrefix(name, "_") || slices.Contains(a.Attributes, any("private")); !private {
			into[prefix+name] = justEntry{prefix + name, name, top, "alias for " + a.Target, into[prefix+a.Target].parameters, false}
		}
	}
	for name, m := range d.Modules {
		collect(m, prefix+name+"::", top, into)
	}
}
