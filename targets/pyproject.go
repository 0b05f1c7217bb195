package targets

import (
	"fmt"
	"strings"

	"github.com/BurntSushi/toml"
)

// pyprojectRunner finds the scripts and tasks of pyproject.toml.
func pyprojectRunner() Runner {
	return Runner{
		Kind: "pyproject",
		Tools: []Tool{
			{Name: "uv", Program: "uv", Hint: "Install uv: brew install uv (macOS), or see https://docs.astral.sh/uv"},
			{Name: "poetry", Program: "poetry", Hint: "Install poetry: pipx install poetry"},
			{Name: "poe", Program: "poe", Hint: "Install poe: pipx install poethepoet"},
		},
		find: findPython,
	}
}

// pyproject is the part of pyproject.toml that defines targets. The values have many
// forms.
type pyproject struct {
	Project struct {
		Scripts map[string]any
	}
	Tool struct {
		Poetry struct {
			Scripts map[string]any
		}
		Poe struct {
			Tasks map[string]any
		}
	}
}

func findPython(f *folder) {
	s, ok := f.shallow(f.first("pyproject.toml"))
	if !ok {
		return
	}
	var p pyproject
	meta, err := toml.Decode(s.text, &p)
	if err != nil {
		f.report(s.path, Error, "%v", tomlFault(err))
		return
	}
	tools := pyprojectRunner().Tools
	for _, part := range []struct {
		table  []string
		values map[string]any
		tool   Tool
		argv   []string
	}{
		{[]string{"project", "scripts"}, p.Project.Scripts, tools[0], []string{"uv", "run"}},
		{[]string{"tool", "poetry", "scripts"}, p.Tool.Poetry.Scripts, tools[1], []string{"poetry", "run"}},
		{[]string{"tool", "poe", "tasks"}, p.Tool.Poe.Tasks, tools[2], []string{"poe"}},
	} {
		for _, name := range tomlNames(meta, part.table...) {
			if part.tool.Name == "poe" && strings.HasPrefix(name, "_") {
				continue // poe does not run it by itself
			}
			f.add(s, Target{
				Name: name, Argv: append(part.argv[:len(part.argv):len(part.argv)], name), tool: part.tool,
				Description: pythonDescription(part.tool.Name, part.values[name]), takes: anyArguments,
				searched: []string{"pyproject.toml"},
			})
		}
	}
}

func pythonDescription(tool string, value any) string {
	if text, ok := value.(string); ok {
		if tool == "poe" {
			return "command: " + text
		}
		return "python script: " + text
	}
	if list, ok := value.([]any); ok {
		return fmt.Sprintf("sequence of %d tasks", len(list))
	}
	table, _ := value.(map[string]any)
	for _, form := range []struct{ key, says string }{
		{"script", "python script: "}, {"shell", "shell script: "}, {"cmd", "command: "}, {"reference", "python script: "},
		{"callable", "python script: "}, {"expr", "python expression: "}, {"ref", "reference: "},
	} {
		if text, ok := table[form.key].(string); ok {
			return form.says + text
		}
	}
	if list, ok := table["sequence"].([]any); ok {
		return fmt.Sprintf("sequence of %d tasks", len(list))
	}
	return ""
}
