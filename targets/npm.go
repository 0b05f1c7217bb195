package targets

import (
	"encoding/json"
	"strings"
)

// npmRunner finds the scripts of package.json. Which package manager runs them is said
// by the lock file, else by the field packageManager, else by what is installed.
func npmRunner() Runner {
	return Runner{
		Kind: "npm",
		Tools: []Tool{
			{Name: "npm", Program: "npm", Hint: "Install npm: it comes with Node.js, from https://nodejs.org"},
			{Name: "yarn", Program: "yarn", Hint: "Install yarn: corepack enable, or npm install -g yarn"},
			{Name: "pnpm", Program: "pnpm", Hint: "Install pnpm: corepack enable pnpm, or npm install -g pnpm"},
			{Name: "bun", Program: "bun", Hint: "Install bun: brew install oven-sh/bun/bun (macOS), or see https://bun.sh"},
		},
		find: findScripts,
	}
}

// locks says which package manager writes a lock file, in order of precedence.
var locks = []struct{ file, manager string }{
	{"package-lock.json", "npm"}, {"npm-shrinkwrap.json", "npm"}, {"yarn.lock", "yarn"},
	{"pnpm-lock.yaml", "pnpm"}, {"bun.lockb", "bun"}, {"bun.lock", "bun"},
}

func findScripts(f *folder) {
	s, ok := f.first("package.json")
	if !ok {
		return
	}
	var manifest struct {
		Scripts        json.RawMessage
		PackageManager json.RawMessage
	}
	if err := json.Unmarshal([]byte(s.text), &manifest); err != nil {
		f.report(s.path, Error, "the JSON is not valid: %v", err)
		return
	}
	members, err := jsonMembers(manifest.Scripts)
	if err != nil {
		f.report(s.path, Error, "scripts is not an object")
		return
	}
	scripts := map[string]string{}
	for _, m := range members {
		var text string
		if json.Unmarshal(m.value, &text) == nil {
			scripts[m.name] = text
		}
	}
	var wanted string
	json.Unmarshal(manifest.PackageManager, &wanted) // of another type: as if it were absent
	tool, suffix := f.packageManager(wanted)
	for _, m := range members {
		text, isText := scripts[m.name]
		if !isText {
			f.report(s.path, Warning, "the script %s is not a text", clip(m.name, 40))
			continue
		}
		argv := []string{tool.Name, "run", m.name}
		f.add(s, Target{
			Name: m.name, Description: text, Argv: argv, Command: display(argv) + hooks(m.name, scripts),
			tool: tool, suffix: suffix, takes: anyArguments, searched: []string{"package.json"},
			recipe: func() string { return digest(string(manifest.Scripts)) },
		})
	}
}

// packageManager returns the tool that runs the scripts, and the name that a suffix is
// made from. When only what is installed tells, the suffix does not depend on it.
func (f *folder) packageManager(wanted string) (Tool, string) {
	for _, l := range locks {
		if f.has(l.file) {
			return packageTool(l.manager), l.manager
		}
	}
	name, _, _ := strings.Cut(wanted, "@")
	if t := packageTool(name); t.Name == name {
		return t, name
	}
	for _, name := range []string{"bun", "pnpm", "yarn", "npm"} {
		if f.trace.installed(name) {
			return packageTool(name), "npm"
		}
	}
	return packageTool("npm"), "npm"
}

// packageTool returns the tool of a name, or npm.
func packageTool(name string) Tool {
	tools := npmRunner().Tools
	for _, t := range tools {
		if t.Name == name {
			return t
		}
	}
	return tools[0]
}

// hooks says, as a shell comment, which other scripts a script brings with it.
func hooks(name string, scripts map[string]string) string {
	var list []string
	for _, hook := range []string{"pre" + name, "post" + name} {
		if text, ok := scripts[hook]; ok {
			list = append(list, hook+": "+text)
		}
	}
	if len(list) == 0 {
		return ""
	}
	return "  # also runs " + strings.Join(list, "; ")
}
