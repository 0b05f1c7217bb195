package archtest

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"
)

// layer is one package and what it may import of this module. It may name only
// rows above its own. Test files may import every row above their own, and the
// test package in their own folder.
type layer struct{ pkg, may string }

// layers is the architecture, from the vocabulary down to the wiring.
var layers = []layer{
	{"internal/fault", ""},
	{"internal/lazyregexp", ""},
	{"internal/proc/proctest", ""},
	{"internal/proc", "internal/fault"},
	{"internal/git", "internal/fault internal/lazyregexp internal/proc"},
	{"internal/journal", "internal/fault"},
	{"internal/db", ""},
	{"internal/codextest", ""},
	{"internal/agenttest", ""},

	{"specs", "internal/fault internal/lazyregexp"},
	{"validate", "internal/fault internal/lazyregexp specs"},
	{"artifacts", "internal/fault"},

	{"runs", "internal/db internal/fault internal/journal internal/lazyregexp"},
	{"runs/runstest", "internal/fault runs"},
	{"runs/local", "internal/fault runs"},

	{"launch/egress", "internal/fault"},
	{"launch/github", "internal/fault internal/lazyregexp"},
	{"launch/github/githubtest", ""},
	{"launch/dossier", ""},
	{"launch/commitservice", "internal/fault launch/dossier"},
	{"launch/inventory", "internal/fault internal/lazyregexp launch/dossier"},
	{"launch/page", "internal/fault internal/lazyregexp"},
	{"launch/evidence", "internal/fault internal/lazyregexp launch/dossier"},
	{"launch/site", "internal/fault launch/dossier launch/page"},
	{"launch/model", "artifacts internal/fault launch/egress runs"},
	{"launch/model/reword", "internal/lazyregexp launch/model launch/page"},
	{"launch/pages", "internal/fault internal/lazyregexp launch/dossier launch/page"},
	{"launch/patch", "internal/fault internal/lazyregexp launch/dossier"},
	{"launch/gates", "internal/fault internal/lazyregexp internal/proc launch/dossier launch/page launch/site specs validate"},
	{"launch/gates/gatestest", "launch/dossier launch/gates"},
	{"launch/fixes", "internal/fault launch/dossier launch/gates launch/page launch/patch"},
	{"launch/quickstart", "internal/fault internal/lazyregexp launch/dossier"},
	{"launch/taskcards", "internal/fault internal/lazyregexp validate"},
	{"launch/workflow", "internal/fault internal/lazyregexp runs validate"},
	{"launch", "artifacts launch/commitservice internal/fault internal/git internal/lazyregexp internal/proc launch/dossier launch/egress launch/evidence launch/fixes launch/gates launch/github launch/inventory " +
		"launch/model launch/model/reword launch/pages launch/patch launch/site launch/quickstart launch/taskcards launch/workflow runs specs validate"},

	{"targets", "internal/fault internal/lazyregexp internal/proc"},
	{"targets/jobs", "internal/fault internal/proc runs specs targets"},
	{"worktree", "internal/fault internal/git internal/lazyregexp internal/proc runs targets targets/jobs"},
	{"clients", "internal/fault"},

	{"agents", "internal/fault internal/lazyregexp internal/proc"},
	{"agents/entries", "agents internal/fault"},
	{"agents/taskstore", "agents internal/fault internal/journal internal/lazyregexp internal/proc"},
	{"agents/sessions", "agents agents/entries agents/taskstore internal/fault internal/journal internal/proc runs specs"},
	{"agents/tasks", "agents/sessions agents/taskstore internal/fault internal/git runs"},

	{"board/changes", "internal/fault internal/git internal/lazyregexp"},
	{"board", "agents agents/sessions board/changes internal/db internal/fault internal/git internal/proc runs"},

	{"internal/rest", "internal/fault"},
	{"telemetry", "internal/db internal/fault internal/lazyregexp runs"},
	{"telemetry/outbox", "runs telemetry"},
	{"telemetry/api", "internal/fault internal/lazyregexp internal/rest runs telemetry"},
	{"telemetry/export/exporttest", ""},
	{"telemetry/export", "telemetry"},

	{"mcpserver/guard", "internal/fault runs specs telemetry validate"},
	{"mcpserver/tool", "internal/fault mcpserver/guard runs specs validate"},
	{"mcpserver/handles", ""},
	{"mcpserver/stdio", "internal/fault validate"},
	{"mcpserver/tokens", "internal/fault"},
	{"mcpserver/httpfront", "internal/fault mcpserver/tokens specs"},
	{"mcpserver/launchtools", "internal/fault launch launch/dossier launch/quickstart mcpserver/guard mcpserver/tool runs specs telemetry " +
		"validate"},
	{"mcpserver/fleet", ""},
	{"mcpserver/tasktools", "internal/fault mcpserver/guard mcpserver/tool runs specs targets targets/jobs"},
	{"mcpserver/agenttools", "agents/sessions agents/tasks agents/taskstore internal/fault mcpserver/guard mcpserver/tool runs specs"},
	{"mcpserver/worktreetools", "internal/fault mcpserver/guard mcpserver/tool specs targets/jobs worktree"},
	{"mcpserver/boardtools", "agents agents/entries agents/sessions board board/changes internal/fault mcpserver/guard mcpserver/tool runs " +
		"specs"},
	{"mcpserver", "internal/fault mcpserver/guard mcpserver/handles mcpserver/httpfront mcpserver/stdio mcpserver/tool runs specs telemetry"},

	{"web", "artifacts internal/fault internal/rest runs validate"},

	{"cmd/gantry", "launch/quickstart agents agents/entries agents/sessions agents/tasks board board/changes clients internal/fault internal/git internal/proc internal/rest launch launch/dossier launch/egress launch/workflow launch/gates " +
		"mcpserver mcpserver/agenttools mcpserver/boardtools mcpserver/fleet mcpserver/guard mcpserver/handles mcpserver/httpfront " +
		"mcpserver/launchtools mcpserver/stdio mcpserver/tasktools mcpserver/tokens mcpserver/tool mcpserver/worktreetools runs runs/local specs targets targets/jobs telemetry telemetry/api " +
		"telemetry/export telemetry/outbox validate web worktree"},

	{"internal/crashtest", ""},
	{"internal/bench/probe", ""},
	{"internal/bench/mcpbench", "internal/bench/probe"},
	{"internal/bench/bare", ""},
	{"internal/bench", "internal/bench/probe internal/journal runs runs/local telemetry"},
	{"internal/conformance", ""},
	{"internal/mcpconformance", ""},
	{"internal/archtest", ""}, // its tests read the registries of all others
}

// owner says which packages alone may import a library, or a package of the
// standard library. "tests" stands for the test files of every package and for the
// packages that only tests import, whose names end in "test".
type owner struct{ library, may string }

// owners holds every library that this module imports. One that it does not hold
// may not be imported: docs/decisions says what each is for.
var owners = []owner{
	{"github.com/modelcontextprotocol/go-sdk", "mcpserver mcpserver/handles mcpserver/stdio cmd/gantry internal/bench/bare internal/mcpconformance"},
	{"github.com/santhosh-tekuri/jsonschema/v5", "validate"},
	{"golang.org/x/time/rate", "mcpserver/guard mcpserver/httpfront"},
	{"go.opentelemetry.io/otel", "telemetry telemetry/export tests"},
	{"github.com/prometheus/client_golang", "telemetry/export"},
	{"github.com/go-logr/logr", "telemetry/export"},
	{"modernc.org/sqlite", "internal/db"},
	{"golang.org/x/sys/unix", "internal/journal internal/proc runs telemetry/outbox worktree"},

	{"github.com/BurntSushi/toml", "clients cmd/gantry launch/evidence launch/inventory launch/page launch/site targets"},
	{"github.com/goccy/go-yaml", "launch launch/evidence launch/page launch/patch launch/site launch/taskcards launch/workflow targets cmd/gantry"},
	{"github.com/yuin/goldmark", "launch/evidence launch/page launch/pages"},
	{"golang.org/x/mod", "launch/evidence launch/inventory"},
	{"golang.org/x/text", "launch/evidence launch/pages launch/quickstart targets"},

	{"github.com/google/go-github/v75", "launch/github"},

	{"github.com/bmatcuk/doublestar/v4", "worktree"},
	{"github.com/tailscale/hujson", "clients"},

	{"github.com/spf13/cobra", "cmd/gantry"},
	{"github.com/spf13/pflag", "cmd/gantry"},
	{"github.com/schollz/progressbar/v3", "cmd/gantry"},
	{"golang.org/x/term", "cmd/gantry"},

	{"github.com/google/go-cmp", "tests"},
	{"github.com/rogpeppe/go-internal", "tests"},
	{"go.uber.org/goleak", "tests"},
	{"golang.org/x/tools/txtar", "tests"},
	{"pgregory.net/rapid", "tests"},

	{"os/exec", "internal/proc internal/bench/probe tests"},
	{"testing", "tests"},
	{"plugin", ""},
	{"C", ""}, // the binary is static
}

func TestPackagesImportOnlyWhatTheirRowAllows(t *testing.T) {
	report(t, checkTable(layers))
	report(t, checkLayers(layers, source(t)))
}

func TestLibrariesAreImportedOnlyByTheirOwners(t *testing.T) {
	report(t, checkOwners(owners, source(t)))
}

func TestEveryLibraryHasItsLineInTheDecisions(t *testing.T) {
	doc, err := fs.ReadFile(root(), "docs/decisions/005-dependencies.md")
	if err != nil {
		t.Fatal(err)
	}
	report(t, checkDecided(owners, string(doc)))
}

// checkDecided wants a row of the document for each library from outside of the
// standard library; a row for a module speaks for its packages.
func checkDecided(table []owner, doc string) (problems []string) {
	for _, o := range table {
		decided := !strings.Contains(o.library, ".")
		for lib := strings.TrimPrefix(o.library, "github.com/"); lib != "." && !decided; lib = path.Dir(lib) {
			decided = strings.Contains(doc, "\n| "+lib+" ") || strings.Contains(doc, "\n| "+lib+",")
		}
		if !decided {
			problems = append(problems, problem("%s has no line in the decision on dependencies", o.library))
		}
	}
	return problems
}

// checkTable holds the table against itself: a row names rows above it, once.
func checkTable(table []layer) (problems []string) {
	above := map[string]bool{}
	for _, row := range table {
		if above[row.pkg] {
			problems = append(problems, problem("%s has two rows", row.pkg))
		}
		for _, p := range strings.Fields(row.may) {
			if !above[p] {
				problems = append(problems, problem("the row of %s names %s, which is not above it", row.pkg, p))
			}
		}
		above[row.pkg] = true
	}
	return problems
}

// checkLayers holds each file against the row of its package.
func checkLayers(table []layer, src *tree) (problems []string) {
	place, may := map[string]int{}, map[string][]string{}
	for i, row := range table {
		place[row.pkg], may[row.pkg] = i, strings.Fields(row.may)
	}
	for _, f := range src.files {
		row, known := place[f.pkg]
		if !known {
			problems = append(problems, problem("%s: package %s has no row in the import table", f.path, f.pkg))
			continue
		}
		for _, p := range f.imports() {
			p, inside := strings.CutPrefix(p, modulePath+"/")
			if !inside {
				continue
			}
			at, known := place[p]
			switch {
			case !known:
				problems = append(problems, problem("%s imports %s, which has no row", f.path, p))
			case f.test && p != f.pkg && at > row && !(path.Dir(p) == f.pkg && forTests(p)):
				problems = append(problems, problem("%s imports %s, which is below %s", f.path, p, f.pkg))
			case !f.test && !slices.Contains(may[f.pkg], p):
				problems = append(problems, problem("%s imports %s, which the row of %s does not allow", f.path, p, f.pkg))
			}
		}
	}
	return problems
}

// checkOwners holds each import from outside of this module against the owners.
func checkOwners(table []owner, src *tree) (problems []string) {
	for _, f := range src.files {
		for _, p := range f.imports() {
			if p == modulePath || strings.HasPrefix(p, modulePath+"/") {
				continue
			}
			i := slices.IndexFunc(table, func(o owner) bool { return p == o.library || strings.HasPrefix(p, o.library+"/") })
			switch {
			case i < 0 && strings.Contains(strings.Split(p, "/")[0], "."):
				problems = append(problems, problem("%s imports %s, which no row of the owners names", f.path, p))
			case i >= 0 && !owns(table[i], f):
				problems = append(problems, problem("%s imports %s, which only %s may", f.path, p, anybody(table[i])))
			}
		}
	}
	return problems
}

func owns(o owner, f file) bool {
	may := strings.Fields(o.may)
	return slices.Contains(may, f.pkg) || (f.test || forTests(f.pkg)) && slices.Contains(may, "tests")
}

func forTests(pkg string) bool { return strings.HasSuffix(pkg, "test") }

func anybody(o owner) string {
	if o.may == "" {
		return "nobody"
	}
	return o.may
}

// unusedRows returns what the two tables allow and nobody does.
func unusedRows(table []layer, libraries []owner, src *tree) (unused []string) {
	exists, does := map[string]bool{}, map[string]bool{}
	for _, f := range src.files {
		exists[f.pkg] = true
		for _, p := range f.imports() {
			if !f.test {
				does[f.pkg+" "+strings.TrimPrefix(p, modulePath+"/")] = true
			}
			if i := slices.IndexFunc(libraries, func(o owner) bool { return p == o.library || strings.HasPrefix(p, o.library+"/") }); i >= 0 {
				does[f.pkg+" "+libraries[i].library] = true
				does["tests "+libraries[i].library] = does["tests "+libraries[i].library] || f.test || forTests(f.pkg)
			}
		}
	}
	for _, row := range table {
		if !exists[row.pkg] {
			unused = append(unused, fmt.Sprintf("%s: no such package", row.pkg))
			continue
		}
		for _, p := range strings.Fields(row.may) {
			if !does[row.pkg+" "+p] {
				unused = append(unused, fmt.Sprintf("%s does not import %s", row.pkg, p))
			}
		}
	}
	for _, o := range libraries {
		for _, p := range strings.Fields(o.may) {
			if !does[p+" "+o.library] {
				unused = append(unused, fmt.Sprintf("%s does not import %s", p, o.library))
			}
		}
	}
	return unused
}
