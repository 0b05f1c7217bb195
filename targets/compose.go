package targets

import (
	"path"
	"slices"
	"strings"
)

// composeRunner finds the services of the first Docker Compose file.
func composeRunner() Runner {
	return Runner{
		Kind: "compose",
		Tools: []Tool{{
			Name: "docker compose", Program: "docker", Hint: "Install docker compose: it comes with Docker Desktop, or see https://docs.docker.com/compose/install",
			elsewhere: func(t Target, up string) []string {
				verb := slices.IndexFunc(t.Argv, func(a string) bool { return a == "up" || a == "down" || a == "run" })
				return slices.Concat([]string{"docker", "compose", "-f", path.Join(up, path.Base(t.FilePath)), "--project-directory", up}, t.Argv[verb:])
			},
		}},
		find: findCompose,
	}
}

// composeFiles are the names that are looked for, before docker-compose.*.
var composeFiles = []string{"docker-compose.yml", "docker-compose.yaml", "compose.yml", "compose.yaml"}

// composeOrder is the order in which docker looks for its file.
var composeOrder = []string{"compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml"}

func findCompose(f *folder) {
	names := slices.Clone(composeFiles)
	for _, name := range f.names {
		if ext := path.Ext(name); strings.HasPrefix(name, "docker-compose.") && (ext == ".yml" || ext == ".yaml") && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	s, ok := f.shallow(f.first(names...))
	if !ok {
		return
	}
	doc, err := yamlDocument(s.text)
	if err != nil {
		f.report(s.path, Error, "%v", err)
		return
	}
	services, isMap := yamlEntries(yamlGet(doc, "services"))
	if _, top := yamlEntries(doc); !isMap || !top {
		f.report(s.path, Error, "services is not a mapping")
		return
	}
	argv := []string{"docker", "compose"}
	if file := path.Base(s.path); file != composeDefault(f) {
		argv = append(argv, "-f", file)
	}
	add := func(name, description string, words ...string) {
		f.add(s, Target{
			Name: name, Description: description, Argv: slices.Concat(argv, words), tool: composeRunner().Tools[0], takes: anyArguments,
		})
	}
	add("up", "Bring up all Docker Compose services", "up")
	add("down", "Bring down all Docker Compose services", "down")
	for _, e := range services {
		if !strings.HasPrefix(e.name, "-") { // up and down have other verbs before them
			add(e.name, composeSays(e), "run", e.name)
		}
	}
}

// composeDefault returns the file that docker takes by itself, or "".
func composeDefault(f *folder) string {
	for _, name := range composeOrder {
		if f.has(name) {
			return name
		}
	}
	return ""
}

func composeSays(e yamlEntry) string {
	text := "Docker Compose service " + e.name
	if image, ok := yamlText(yamlGet(e.value, "image")); ok {
		return text + " (image: " + image + ")"
	}
	build := yamlGet(e.value, "build")
	if build == nil {
		return text
	}
	where, ok := yamlText(build)
	if !ok {
		where, _ = yamlText(yamlGet(build, "context"))
	}
	return text + " (build: " + where + ")"
}
