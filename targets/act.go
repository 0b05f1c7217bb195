package targets

import (
	"errors"
	"io/fs"
	"path"
	"strings"
	"syscall"
)

// actRunner finds the workflows of GitHub Actions, which act runs. One file is one
// target.
func actRunner() Runner {
	return Runner{
		Kind: "act",
		Tools: []Tool{{
			Name: "act", Program: "act", Hint: "Install act: brew install act (macOS), or see https://nektosact.com",
			elsewhere: func(t Target, up string) []string {
				return []string{"act", "-C", up, "-W", t.Argv[2]}
			},
		}},
		find: findWorkflows,
	}
}

func findWorkflows(f *folder) {
	var files []string
	for _, dir := range []string{".github/workflows", ".", ".github", "workflows", "custom/workflows", ".gitlab/workflows"} {
		top, _, _ := strings.Cut(dir, "/")
		if dir != "." && !f.has(top) {
			continue
		}
		names, err := f.entries(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			f.report(f.below(dir), Error, "%s", sentence(err))
		}
		for _, name := range names {
			wanted := path.Ext(name) == ".yml" || path.Ext(name) == ".yaml"
			if dir == "." || dir == ".github" {
				wanted = name == "workflow.yml" || name == "workflow.yaml"
			}
			if wanted {
				files = append(files, path.Join(dir, name))
			}
		}
	}
	for _, p := range files {
		addWorkflow(f, p)
	}
}

func addWorkflow(f *folder, p string) {
	s, ok := f.shallow(f.read(p))
	if !ok {
		return
	}
	doc, err := yamlDocument(s.text)
	if err != nil {
		f.report(s.path, Error, "%v", err)
		return
	}
	if jobs, isMap := yamlEntries(yamlGet(doc, "jobs")); !isMap || len(jobs) == 0 {
		f.report(s.path, Error, "No jobs found")
		return
	}
	name, _ := yamlText(yamlGet(doc, "name"))
	stem := strings.TrimSuffix(path.Base(p), path.Ext(p))
	f.add(s, Target{
		Name: stem, Description: name, Argv: []string{"act", "-W", p}, tool: actRunner().Tools[0], takes: anyArguments,
	})
}
