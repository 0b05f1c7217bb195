package targets

import (
	"fmt"
	"strings"

	"github.com/BurntSushi/toml"
)

// cargoRunner finds what cargo can do with a package: its own commands and the aliases of
// .cargo/config.toml.
func cargoRunner() Runner {
	return Runner{
		Kind:  "cargo",
		Tools: []Tool{{Name: "cargo", Program: "cargo", Hint: "Install cargo: see https://rustup.rs"}},
		find:  findCargo,
	}
}

var cargoCommands = []struct{ name, says string }{
	{"build", "Compile the package"}, {"check", "Check the package without compiling it"}, {"test", "Run the tests"},
	{"bench", "Run the benchmarks"}, {"doc", "Build the documentation"}, {"clean", "Remove what was built"},
}

func findCargo(f *folder) {
	s, ok := f.shallow(f.first("Cargo.toml"))
	if !ok {
		return
	}
	var manifest struct {
		Bin []map[string]any
	}
	if _, err := toml.Decode(s.text, &manifest); err != nil {
		f.report(s.path, Error, "%v", tomlFault(err))
		return
	}
	listed := map[string]bool{}
	add := func(s source, name, says string) {
		if !listed[name] {
			listed[name] = true
			f.add(s, Target{
				Name: name, Description: says, Argv: []string{"cargo", name}, tool: cargoRunner().Tools[0], takes: anyArguments,
				searched: []string{"Cargo.toml"},
			})
		}
	}
	for _, c := range cargoCommands {
		add(s, c.name, c.says)
	}
	if len(manifest.Bin) > 0 || f.exists(f.below("src/main.rs")) {
		add(s, "run", "Run the program")
	}
	for _, name := range []string{".cargo/config.toml", ".cargo/config"} {
		if f.has(".cargo") && f.exists(f.below(name)) {
			addAliases(f, name, add)
			return
		}
	}
}

func addAliases(f *folder, name string, add func(s source, name, says string)) {
	s, ok := f.shallow(f.read(name))
	if !ok {
		return
	}
	var config struct {
		Alias map[string]any
	}
	meta, err := toml.Decode(s.text, &config)
	if err != nil {
		f.report(s.path, Error, "%v", tomlFault(err))
		return
	}
	for _, alias := range tomlNames(meta, "alias") {
		switch v := config.Alias[alias].(type) {
		case string:
			add(s, alias, "alias for "+v)
		case []any:
			add(s, alias, "alias for "+strings.TrimSuffix(fmt.Sprintln(v...), "\n"))
		}
	}
}
