package targets

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// taskfiles are the names of a Taskfile, in the order in which task looks for them.
var taskfiles = []string{
	"Taskfile.yml", "taskfile.yml", "Taskfile.yaml", "taskfile.yaml",
	"Taskfile.dist.yml", "taskfile.dist.yml", "Taskfile.dist.yaml", "taskfile.dist.yaml",
}

// taskRunner finds the tasks of Taskfiles, those of included files under their
// namespaces too.
func taskRunner() Runner {
	return Runner{
		Kind: "task",
		Tools: []Tool{{
			Name: "task", Program: "task", Hint: "Install task: brew install go-task (macOS), or see https://taskfile.dev",
		}},
		find: findTaskfile,
	}
}

// taskSet is a Taskfile with all that it includes.
type taskSet struct {
	folder *folder
	top    string   // path of the first file
	open   []string // files that are being included, against circles
}

// taskScope is what an include does to the tasks of its file.
type taskScope struct {
	prefix   string
	excludes []string
}

func findTaskfile(f *folder) {
	if s, ok := f.shallow(f.first(taskfiles...)); ok {
		set := &taskSet{folder: f, top: s.path}
		set.take(s, taskScope{})
	}
}

func (t *taskSet) take(s source, scope taskScope) {
	doc, err := yamlDocument(s.text)
	if err != nil {
		t.folder.report(s.path, Error, "%v", err)
		return
	}
	tasks, ok := yamlEntries(yamlGet(doc, "tasks"))
	if _, isMap := yamlEntries(doc); !ok || !isMap {
		t.folder.report(s.path, Error, "tasks is not a mapping")
		return
	}
	for _, e := range tasks {
		t.add(s, scope, e)
	}
	t.open = append(t.open, s.path)
	includes, _ := yamlEntries(yamlGet(doc, "includes"))
	for _, e := range includes {
		t.include(s, scope, e)
	}
	t.open = t.open[:len(t.open)-1]
}

func (t *taskSet) add(s source, scope taskScope, e yamlEntry) {
	internal, _ := yamlText(yamlGet(e.value, "internal"))
	if internal == "true" || strings.Contains(e.name, "*") || slices.Contains(scope.excludes, e.name) {
		return
	}
	name := scope.prefix + e.name
	t.folder.add(s, Target{
		Name: name, SourceName: e.name, Description: taskDescription(e.value), Argv: []string{"task", name, "--"},
		tool: taskRunner().Tools[0], invoked: t.top, takes: anyArguments, searched: taskfiles,
	})
}

// include takes one entry of includes: a path, or a mapping with one.
func (t *taskSet) include(s source, scope taskScope, e yamlEntry) {
	target, isText := yamlText(e.value)
	if !isText {
		target, _ = yamlText(yamlGet(e.value, "taskfile"))
	}
	flag := func(key string) bool { text, _ := yamlText(yamlGet(e.value, key)); return text == "true" }
	switch {
	case flag("internal"):
		return
	case target == "" || strings.Contains(target, "{{") || strings.Contains(target, "://") || path.IsAbs(target):
		t.folder.report(s.path, Warning, "the include %s is not followed: its path is not known without running task", clip(e.name, 40))
		return
	}
	inner := taskScope{prefix: scope.prefix + e.name + ":"}
	if flag("flatten") {
		inner.prefix = scope.prefix
	}
	excludes, _ := yamlItems(yamlGet(e.value, "excludes"))
	for _, x := range excludes {
		text, _ := yamlText(x)
		inner.excludes = append(inner.excludes, text)
	}
	t.follow(s, path.Join(path.Dir(s.path), target), flag("optional"), inner)
}

// follow takes an included file, or the Taskfile of an included folder.
func (t *taskSet) follow(from source, p string, optional bool, scope taskScope) {
	names := []string{p}
	for _, n := range taskfiles {
		names = append(names, path.Join(p, n))
	}
	for _, name := range names {
		if slices.Contains(t.open, name) {
			return
		}
		s, err := t.folder.load(name)
		switch {
		case err == nil && deep(s.text):
			t.folder.report(name, Error, "%s", sentence(errTooDeep))
			return
		case err == nil:
			t.take(s, scope)
			return
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, errNotRegular) && name == p:
			continue
		}
		t.folder.report(name, Error, "%s", sentence(err))
		return
	}
	if !optional {
		t.folder.report(from.path, Warning, "it includes %s, which does not exist", clip(path.Base(p), 80))
	}
}

func taskDescription(n ast.Node) string {
	if text, ok := yamlText(yamlGet(n, "desc")); ok {
		return text
	}
	if text, ok := yamlText(n); ok {
		return "command: " + text
	}
	items, isList := yamlItems(n)
	if !isList {
		items, isList = yamlItems(yamlGet(n, "cmds"))
	}
	if single := yamlGet(n, "cmd"); !isList && single != nil {
		items = []ast.Node{single}
	}
	if text, ok := yamlText(yamlGet(n, "cmds")); ok {
		return "command: " + text
	}
	switch len(items) {
	case 0:
		return "complex command"
	case 1:
		if text, ok := yamlText(items[0]); ok {
			return "command: " + text
		}
		return "complex command"
	}
	return fmt.Sprintf("multiple commands: %d", len(items))
}
