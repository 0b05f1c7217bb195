package targets

import (
	"bytes"
	"encoding/json"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
)

// Bounds on the search for workspaces.
const (
	maxFolders = 5000
	maxDepth   = 12
)

// turboRunner finds the tasks of Turborepo: at the root those of every turbo.json below
// it, in a workspace those that its nearest turbo.json comes to with what it extends.
func turboRunner() Runner {
	return Runner{
		Kind:  "turbo",
		Tools: []Tool{{Name: "turbo", Program: "turbo", Hint: "Install turbo: npm install -g turbo"}},
		find:  findTurbo,
	}
}

// turboTask is one entry of tasks. A nil place means that the entry takes the task away.
type turboTask struct {
	name  string
	place *source
}

// turboSet is the repository's turbo.json files, as far as they were read.
type turboSet struct {
	folder *folder
	open   []string // files that are being resolved, against circles
	names  map[string]string
}

func findTurbo(f *folder) {
	set := &turboSet{folder: f}
	var tasks []turboTask
	if f.dir == "." {
		if !f.has("turbo.json") {
			return
		}
		tasks = set.everywhere()
	} else if p := set.nearest(); p != "" {
		tasks = set.effective(p)
	}
	for _, t := range tasks {
		f.add(*t.place, Target{
			Name: t.name, Argv: []string{"turbo", "run", t.name}, tool: turboRunner().Tools[0],
			searched: []string{"turbo.json"},
		})
	}
}

// everywhere returns the root's own tasks and those of each workspace.
func (s *turboSet) everywhere() []turboTask {
	var tasks []turboTask
	for _, p := range s.folder.descendants("turbo.json") {
		_, own := s.read(p)
		tasks = merge(tasks, present(own)) // what one takes away is another's
	}
	return tasks
}

// present returns the entries that are tasks.
func present(list []turboTask) []turboTask {
	return slices.DeleteFunc(list, func(t turboTask) bool { return t.place == nil })
}

// nearest returns the turbo.json of this folder or of the first one above it.
func (s *turboSet) nearest() string {
	for dir := s.folder.dir; dir != "."; dir = path.Dir(dir) {
		if s.folder.exists(path.Join(dir, "turbo.json")) {
			return path.Join(dir, "turbo.json")
		}
	}
	if s.folder.exists("turbo.json") {
		return "turbo.json"
	}
	return ""
}

// effective returns the tasks of a turbo.json after what it extends.
func (s *turboSet) effective(p string) []turboTask {
	if slices.Contains(s.open, p) {
		return nil
	}
	s.open = append(s.open, p)
	defer func() { s.open = s.open[:len(s.open)-1] }()
	extends, own := s.read(p)
	var tasks []turboTask
	for _, e := range extends {
		if base := s.extended(p, e); base != "" {
			tasks = merge(tasks, s.effective(base))
		} else {
			s.folder.report(p, Warning, "it extends %s, which is not there", clip(e, 80))
		}
	}
	return present(merge(tasks, own))
}

// extended returns the turbo.json that an element of extends means: // for the root's,
// a relative path, or the name of a package.
func (s *turboSet) extended(from, e string) string {
	switch {
	case e == "//":
		return "turbo.json"
	case strings.HasPrefix(e, "."):
		p := path.Join(path.Dir(from), e)
		if path.Ext(p) != ".json" {
			p = path.Join(p, "turbo.json")
		}
		return p
	}
	if s.names == nil {
		s.names = map[string]string{}
		for _, p := range s.folder.descendants("turbo.json") {
			manifest, err := s.folder.load(path.Join(path.Dir(p), "package.json"))
			var m struct{ Name string }
			if err == nil && json.Unmarshal([]byte(manifest.text), &m) == nil && s.names[m.Name] == "" {
				s.names[m.Name] = p
			}
		}
	}
	return s.names[e]
}

// read returns what a turbo.json extends and its own entries.
func (s *turboSet) read(p string) (extends []string, own []turboTask) {
	src, err := s.folder.load(p)
	if err != nil {
		s.folder.report(p, Error, "%s", sentence(err))
		return nil, nil
	}
	var config struct {
		Extends  []string
		Tasks    json.RawMessage
		Pipeline json.RawMessage
	}
	if err := json.Unmarshal(plainJSON(src.text), &config); err != nil {
		s.folder.report(p, Error, "the JSON is not valid: %v", err)
		return nil, nil
	}
	key, raw := "tasks", config.Tasks
	if raw == nil {
		key, raw = "pipeline", config.Pipeline
	}
	members, err := jsonMembers(raw)
	if err != nil {
		s.folder.report(p, Error, "'%s' must be an object", key)
		return config.Extends, nil
	}
	for _, m := range members {
		entry, err := jsonMembers(m.value)
		if err != nil || string(m.value) == "null" {
			continue // null means to inherit, and nothing else is a task
		}
		t := turboTask{name: m.name, place: &src}
		if len(entry) == 1 && entry[0].name == "extends" && string(entry[0].value) == "false" {
			t.place = nil
		}
		if own = append(own, t); len(own) > maxTargets {
			s.folder.report(p, Warning, "only the first %d tasks are used", maxTargets)
			break
		}
	}
	return config.Extends, own
}

// merge adds entries to a list. A name that is there stays where it is, unless it is
// taken away.
func merge(list, more []turboTask) []turboTask {
	for _, t := range more {
		i := slices.IndexFunc(list, func(have turboTask) bool { return have.name == t.name })
		switch {
		case i < 0:
			list = append(list, t)
		case t.place == nil || list[i].place == nil:
			list[i] = t
		}
	}
	return list
}

// exists reports whether a path from the root exists.
func (f *folder) exists(p string) bool {
	f.trace.saw(f.root, p)
	return f.trace.stamps[p] != nil
}

// descendants returns the files of a name in the root and the folders below it, the
// nearer ones first and then by path. Links are not followed; .git and node_modules hold
// no workspaces.
func (f *folder) descendants(name string) []string {
	var found []string
	level, seen := []string{"."}, 0
	for depth := 0; len(level) > 0 && depth <= maxDepth; depth++ {
		var next []string
		for _, dir := range level {
			if seen++; seen > maxFolders {
				f.report(name, Warning, "only %d folders were searched for workspaces", maxFolders)
				return found
			}
			f.trace.saw(f.root, dir)
			names, folders := f.sorted(dir)
			if slices.Contains(names, name) {
				found = append(found, path.Join(dir, name))
			}
			for _, d := range folders {
				if d != ".git" && d != "node_modules" {
					next = append(next, path.Join(dir, d))
				}
			}
		}
		level = next
	}
	return found
}

// sorted returns the names of the entries of a folder, and of those that are folders.
func (f *folder) sorted(dir string) (names, folders []string) {
	d, err := f.root.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil
	}
	defer d.Close()
	entries, _ := d.ReadDir(-1) // what was read before an error counts
	for _, e := range entries {
		if e.IsDir() {
			folders = append(folders, e.Name())
		} else {
			names = append(names, e.Name())
		}
	}
	slices.Sort(folders)
	return names, folders
}

// plainJSON blanks comments and commas before a closing bracket.
func plainJSON(text string) []byte {
	out := []byte(text)
	comma := -1
	for i := 0; i < len(out); i++ {
		switch c := out[i]; {
		case c == '"':
			for i++; i < len(out) && out[i] != '"'; i++ {
				if out[i] == '\\' {
					i++
				}
			}
			comma = -1
		case c == '/' && i+1 < len(out) && (out[i+1] == '/' || out[i+1] == '*'):
			i = blankComment(out, i)
		case c == ',':
			comma = i
		case (c == '}' || c == ']') && comma >= 0:
			out[comma], comma = ' ', -1
		case c != ' ' && c != '\t' && c != '\n':
			comma = -1
		}
	}
	return out
}

// blankComment replaces the comment at i by spaces and returns its last index.
func blankComment(out []byte, i int) int {
	end := "\n"
	if out[i+1] == '*' {
		end = "*/"
	}
	stop := len(out)
	if at := bytes.Index(out[i+2:], []byte(end)); at >= 0 {
		stop = i + 2 + at + len(end)
	}
	for j := i; j < stop; j++ {
		if out[j] != '\n' {
			out[j] = ' '
		}
	}
	return stop - 1
}
