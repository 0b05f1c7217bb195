package targets

import (
	"slices"
	"strings"

	"github.com/gantry-run/gantry/internal/lazyregexp"
)

// rakeRunner finds the tasks of a Rakefile that are written out. Ruby can make others,
// which only rake knows.
func rakeRunner() Runner {
	return Runner{
		Kind: "rake",
		Tools: []Tool{{
			Name: "rake", Program: "rake", variables: envVariable, Hint: "Install rake: gem install rake",
		}},
		find: findRake,
	}
}

var rakefiles = []string{"rakefile", "Rakefile", "rakefile.rb", "Rakefile.rb"}

var (
	rakeTask      = lazyregexp.New(`^(?:multi)?task[\s(]+(?::([\w-]+[?!]?)|:?["']([^"'#]+)["']|([A-Za-z_]\w*):(?:\s|$))`)
	rakeNamespace = lazyregexp.New(`^namespace[\s(]+:?["']?([\w-]+)["']?\)?\s+do\b`)
	rakeDesc      = lazyregexp.New(`^desc[\s(]+(?:"([^"]*)"|'([^']*)')`)
)

func findRake(f *folder) {
	s, ok := f.first(rakefiles...)
	if !ok {
		return
	}
	type scope struct {
		name   string
		indent string
	}
	var scopes []scope
	listed := map[string]bool{}
	desc := ""
	for line := range strings.Lines(s.text) {
		code := strings.TrimSpace(line)
		indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
		switch {
		case strings.HasPrefix(code, "#") || code == "":
			continue
		case code == "__END__":
			return
		case code == "end" && len(scopes) > 0 && scopes[len(scopes)-1].indent == indent:
			scopes = scopes[:len(scopes)-1]
		case rakeNamespace.MatchString(code):
			if !strings.HasSuffix(code, " end") && len(scopes) < maxDepth {
				scopes = append(scopes, scope{rakeNamespace.FindStringSubmatch(code)[1] + ":", indent})
			}
		case rakeDesc.MatchString(code):
			desc = submatch(code, rakeDesc.FindStringSubmatchIndex(code))
			continue
		case rakeTask.MatchString(code):
			name := submatch(code, rakeTask.FindStringSubmatchIndex(code))
			for _, sc := range slices.Backward(scopes) {
				name = sc.name + name
			}
			if !listed[name] {
				listed[name] = true
				f.add(s, Target{Name: name, Description: desc, Argv: []string{"rake", name}, tool: rakeRunner().Tools[0], searched: rakefiles})
			}
		}
		desc = ""
	}
}
