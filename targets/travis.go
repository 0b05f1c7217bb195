package targets

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// travisRunner finds the jobs of Travis CI. They are shown, and no tool runs them here.
func travisRunner() Runner {
	return Runner{
		Kind: "travis",
		Tools: []Tool{{
			Name: "travis", Never: true, Hint: "Travis CI jobs run at Travis: nothing runs them on this machine",
		}},
		find: findTravis,
	}
}

const travisCommand = "# Travis CI jobs cannot be run on this machine"

func findTravis(f *folder) {
	s, ok := f.shallow(f.first(".travis.yml"))
	if !ok {
		return
	}
	doc, err := yamlDocument(s.text)
	if err != nil {
		f.report(s.path, Error, "%v", err)
		return
	}
	names := travisJobs(doc)
	if len(names) == 0 {
		names = []string{"travis"}
	}
	for _, name := range names {
		f.add(s, Target{Name: name, Description: "Travis CI job", Command: travisCommand, tool: travisRunner().Tools[0]})
	}
}

// travisJobs returns the names of the jobs: the keys of jobs, else those that a matrix
// includes.
func travisJobs(doc ast.Node) []string {
	var names []string
	jobs := yamlGet(doc, "jobs")
	entries, _ := yamlEntries(jobs)
	if include, isList := yamlItems(yamlGet(jobs, "include")); isList {
		return matrix(include)
	}
	for _, e := range entries {
		names = append(names, e.name)
	}
	if len(names) == 0 {
		include, _ := yamlItems(yamlGet(yamlGet(doc, "matrix"), "include"))
		return matrix(include)
	}
	return names
}

func matrix(jobs []ast.Node) []string {
	var names []string
	for i, job := range jobs {
		name, _ := yamlText(yamlGet(job, "name"))
		if strings.TrimSpace(name) == "" {
			name = fmt.Sprintf("matrix-job-%d", i+1)
		}
		names = append(names, name)
	}
	return names
}
