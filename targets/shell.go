package targets

import (
	"path"
	"slices"
	"strings"
)

// shellRunner finds the shell scripts that lie directly in the folder. A script that can
// be executed is; another one is given to the shell that its first line names.
func shellRunner() Runner {
	return Runner{
		Kind: "shell",
		Tools: []Tool{{
			Name: "sh",
			elsewhere: func(t Target, up string) []string {
				argv := slices.Clone(t.Argv)
				argv[len(argv)-1] = path.Join(up, t.SourceName)
				return argv
			},
		}},
		find: findScriptsOfShell,
	}
}

func findScriptsOfShell(f *folder) {
	for _, name := range f.names {
		stem, ok := strings.CutSuffix(name, ".sh")
		if !ok || stem == "" {
			continue
		}
		s, ok := f.read(name)
		if !ok {
			continue
		}
		argv := []string{"./" + name}
		if info := f.trace.stamps[s.path]; info == nil || info.Mode()&0o111 == 0 || !strings.HasPrefix(s.text, "#!") {
			argv = []string{shellOf(s.text), "./" + name}
		}
		f.add(s, Target{
			Name: stem, SourceName: name, Argv: argv, Description: shellSays(s.text),
			tool: shellRunner().Tools[0], takes: anyArguments,
		})
	}
}

// shellOf returns the shell that the first line of a script names, or sh.
func shellOf(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	if words, ok := strings.CutPrefix(line, "#!"); ok {
		for _, w := range strings.Fields(words) {
			if base := path.Base(w); slices.Contains([]string{"bash", "dash", "ksh", "zsh"}, base) {
				return base
			}
		}
	}
	return "sh"
}

// shellSays returns the comment that a script begins with.
func shellSays(text string) string {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "#!") || line == "" || line == "#":
		case strings.HasPrefix(line, "#"):
			return strings.TrimSpace(strings.TrimLeft(line, "#"))
		default:
			return ""
		}
	}
	return ""
}
