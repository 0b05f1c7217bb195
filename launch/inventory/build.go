package inventory

import (
	"path"
	"slices"
	"strings"

	"github.com/gantry-run/gantry/internal/lazyregexp"
	"github.com/gantry-run/gantry/launch/dossier"
)

// buildFile ties a file of the top level to the build system that reads it.
type buildFile struct{ name, system string }

// buildFiles lists what is recognised; "*.x" matches an extension.
func buildFiles() []buildFile {
	return []buildFile{
		{"BUILD.bazel", "bazel"}, {"MODULE.bazel", "bazel"}, {"WORKSPACE", "bazel"},
		{"CMakeLists.txt", "cmake"}, {"Cargo.toml", "cargo"}, {"Gemfile", "bundler"},
		{"Makefile", "make"}, {"GNUmakefile", "make"}, {"makefile", "make"},
		{"Package.swift", "swift"}, {"Rakefile", "rake"}, {"Taskfile.yml", "task"}, {"Taskfile.yaml", "task"},
		{"build.gradle", "gradle"}, {"build.gradle.kts", "gradle"}, {"composer.json", "composer"},
		{"go.mod", "go"}, {"justfile", "just"}, {"Justfile", "just"}, {"meson.build", "meson"},
		{"package.json", "npm"}, {"pnpm-lock.yaml", "pnpm"}, {"yarn.lock", "yarn"}, {"bun.lock", "bun"},
		{"poetry.lock", "poetry"}, {"uv.lock", "uv"}, {"pyproject.toml", "python"}, {"setup.py", "python"}, {"setup.cfg", "python"},
		{"pom.xml", "maven"}, {"tox.ini", "tox"}, {"noxfile.py", "nox"}, {"Dockerfile", "docker"},
		{"*.csproj", "dotnet"}, {"*.fsproj", "dotnet"}, {"*.sln", "dotnet"}, {"*.slnx", "dotnet"},
	}
}

func (t *tree) buildSystems() []string {
	found := map[string]bool{}
	for _, file := range t.files {
		for _, known := range buildFiles() {
			top := parent(file.Path) == "."
			suffix, wild := strings.CutPrefix(known.name, "*")
			if wild && strings.HasSuffix(file.Path, suffix) || top && file.Path == known.name {
				found[known.system] = true
			}
		}
	}
	return sortedKeys(found)
}

var makeTest = lazyregexp.New(`(?m)^(test|check)\s*:([^=]|$)`)

// testCommands recommends how to run the tests: what the caller prefers, then
// what build files state, then what the manifests imply.
func (t *tree) testCommands(opts Options) []string {
	commands := []string{}
	add := func(command string) {
		if command != "" && !slices.Contains(commands, command) {
			commands = append(commands, command)
		}
	}
	for _, command := range opts.PreferredTestCommands {
		add(strings.TrimSpace(command))
	}
	for _, name := range []string{"Makefile", "GNUmakefile", "makefile"} {
		data, err := t.read(name)
		if m := makeTest.FindSubmatch(data); err == nil && m != nil {
			add("make " + string(m[1]))
		}
	}
	for _, manifest := range t.manifests {
		if parent(manifest.Path) == "." && manifest.Error == "" {
			add(t.manifestTest(manifest))
		}
	}
	return commands
}

// manifestTest returns the conventional test command of a manifest's platform.
func (t *tree) manifestTest(m dossier.Manifest) string {
	switch m.Kind {
	case "npm":
		return t.npmTest()
	case "python":
		return t.pythonTest()
	case "go":
		return "go test ./..."
	case "maven":
		return firstThat(t.exists("mvnw"), "./mvnw test", "mvn test")
	case "gradle":
		return firstThat(t.exists("gradlew"), "./gradlew test", "gradle test")
	case "dotnet":
		return "dotnet test"
	case "cargo":
		return "cargo test"
	case "composer":
		return t.composerTest()
	case "rubygems":
		return firstThat(t.exists("spec"), "bundle exec rspec", "bundle exec rake test")
	case "swift":
		return "swift test"
	}
	return ""
}

func (t *tree) npmTest() string {
	data, err := t.read("package.json")
	if err != nil {
		return ""
	}
	doc, err := readJSON(data)
	if script := doc.at("scripts", "test").Value; err != nil || script == "" || strings.Contains(script, "no test specified") {
		return ""
	}
	switch {
	case t.exists("pnpm-lock.yaml"):
		return "pnpm test"
	case t.exists("yarn.lock"):
		return "yarn test"
	}
	return "npm test"
}

func (t *tree) pythonTest() string {
	switch {
	case t.exists("tox.ini"):
		return "tox"
	case t.exists("noxfile.py"):
		return "nox"
	case len(t.testRoots) > 0:
		return "python -m pytest"
	}
	return ""
}

func (t *tree) composerTest() string {
	data, err := t.read("composer.json")
	if err != nil {
		return ""
	}
	if doc, err := readJSON(data); err == nil && doc.has("scripts", "test") {
		return "composer test"
	}
	return firstThat(t.exists("phpunit.xml") || t.exists("phpunit.xml.dist"), "vendor/bin/phpunit", "")
}

func firstThat(holds bool, then, otherwise string) string {
	if holds {
		return then
	}
	return otherwise
}

// locator joins roots to the short text that says where to look.
func locator(roots []string) string {
	dirs := make([]string, len(roots))
	for i, root := range roots {
		dirs[i] = path.Clean(root) + "/"
	}
	return strings.Join(dirs, ", ")
}
