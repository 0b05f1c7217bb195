package archtest

import (
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/gantry-run/gantry/launch/fixes"
	"github.com/gantry-run/gantry/launch/gates"
)

var update = flag.Bool("update", false, "write docs/gates.md")

func TestEveryGateHasAFileOfItsOwn(t *testing.T) {
	report(t, checkGateFiles(source(t)))
}

func TestEveryFixRepairsACodeOfAGate(t *testing.T) {
	report(t, checkFixes(fixes.All(), gates.All()))
}

func TestEveryToolOfTheSpecsHasAHandler(t *testing.T) {
	problems, err := checkHandlers(root(), source(t))
	if err != nil {
		t.Fatal(err)
	}
	report(t, problems)
}

func TestGatesPageSaysWhatTheRegistriesSay(t *testing.T) {
	const name = "docs/gates.md"
	want := gatesPage(gates.All(), fixes.All())
	if *update {
		if err := os.WriteFile("../../"+name, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := fs.ReadFile(root(), name)
	if err != nil || string(got) != want {
		t.Errorf("%s is not what gates.All and fixes.All say (go test ./internal/archtest -update writes it): %v", name, err)
	}
}

// checkGateFiles wants each entry of gates.All made by a function in a file of
// its own.
func checkGateFiles(src *tree) (problems []string) {
	made := elements(src, "launch/gates", "All")
	if len(made) == 0 {
		return []string{"gates.All returns no list that can be read"}
	}
	homes := map[string]string{} // file → gate made in it
	for _, e := range made {
		call, ok := e.(*ast.CallExpr)
		if !ok {
			problems = append(problems, "an entry of gates.All is not a call")
			continue
		}
		id, ok := call.Fun.(*ast.Ident)
		if !ok {
			problems = append(problems, "an entry of gates.All is not made by a function of the package")
			continue
		}
		home := functionFile(src, "launch/gates", id.Name)
		switch {
		case home == "":
			problems = append(problems, problem("gates.All names %s, which is not there", id.Name))
		case homes[home] != "":
			problems = append(problems, problem("%s holds two gates: %s and %s", home, homes[home], id.Name))
		}
		homes[home] = id.Name
	}
	return problems
}

// checkFixes wants one fix a code, each with a title, for codes that gates have.
func checkFixes(all []fixes.Fix, checks []gates.Gate) (problems []string) {
	seen := map[string]bool{}
	for _, f := range all {
		if seen[f.Code] {
			problems = append(problems, problem("%s has two fixes", f.Code))
		}
		seen[f.Code] = true
		if f.Title == "" || f.Plan == nil {
			problems = append(problems, problem("the fix of %s has no title or no plan", f.Code))
		}
		if !slices.ContainsFunc(checks, func(g gates.Gate) bool { return slices.Contains(g.Codes, f.Code) }) {
			problems = append(problems, problem("no gate finds %s, which has a fix", f.Code))
		}
	}
	return problems
}

// checkHandlers wants each tool that is not another's name in the list of the
// package that serves its toolset, nothing else in that list, and each handler in
// a file of its own.
func checkHandlers(fsys fs.FS, src *tree) (problems []string, err error) {
	names, err := fs.Glob(fsys, "specs/tools/*/*.json")
	if err != nil || len(names) == 0 {
		return []string{"there are no tool specifications"}, err
	}
	handled := map[string]map[string]string{} // toolset → tool → file of its handler
	for toolset, pkg := range families {
		handled[toolset] = handlers(src, pkg)
	}
	specified := map[string]bool{}
	for _, name := range names {
		raw, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, err
		}
		var spec struct {
			SameAs string `json:"same_as"`
		}
		if err := json.Unmarshal(raw, &spec); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		toolset, tool := path.Base(path.Dir(name)), strings.TrimSuffix(path.Base(name), ".json")
		if pkg, ok := families[toolset]; ok && !slices.Contains(src.packages(), pkg) {
			continue
		}
		specified[toolset+" "+tool] = spec.SameAs == ""
		if spec.SameAs == "" && handled[toolset][tool] == "" {
			problems = append(problems, problem("%s has no handler in %q", name, families[toolset]))
		}
	}
	for _, toolset := range slices.Sorted(maps.Keys(handled)) {
		homes := map[string]string{}
		for _, tool := range slices.Sorted(maps.Keys(handled[toolset])) {
			home := handled[toolset][tool]
			if !specified[toolset+" "+tool] {
				problems = append(problems, problem("%s handles %s, which has no specification of its own", families[toolset], tool))
			}
			if home != "" && homes[home] != "" {
				problems = append(problems, problem("%s holds two handlers: %s and %s", home, homes[home], tool))
			}
			homes[home] = tool
		}
	}
	return problems, nil
}

// families names the package that serves each toolset.
var families = map[string]string{"launch": "mcpserver/launchtools", "tasks": "mcpserver/tasktools", "board": "mcpserver/boardtools",
	"worktree": "mcpserver/worktreetools", "agents": "mcpserver/agenttools"}

// handlers reads the list of a package: `"tool": d.method`. It returns the file
// that the method of each tool is in.
func handlers(src *tree, pkg string) map[string]string {
	list := map[string]string{}
	for _, f := range src.files {
		if f.pkg != pkg || f.test {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if kv, ok := n.(*ast.KeyValueExpr); ok {
				key, isText := kv.Key.(*ast.BasicLit)
				value, isMethod := kv.Value.(*ast.SelectorExpr)
				if isText && isMethod {
					list[strings.Trim(key.Value, "\"`")] = functionFile(src, pkg, value.Sel.Name)
				}
			}
			return true
		})
	}
	return list
}

// gatesPage returns docs/gates.md.
func gatesPage(checks []gates.Gate, all []fixes.Fix) string {
	var b strings.Builder
	b.WriteString("# Gates and fixes\n\nMade from `launch/gates` and `launch/fixes` by `go test ./internal/archtest -update`; do not edit.\n\n" +
		"Gates check what a launch made, in this order, and only read. A fix repairs the issues of one code, one issue a round;\n" +
		"the gates then run again. An issue without a fix is for a person: its `suggested_fix` says what to do.\n\n## Gates\n\n" +
		"| gate | what it holds | time limit, local profile | elsewhere | codes of its issues |\n|---|---|---|---|---|\n")
	for _, g := range checks {
		fmt.Fprintf(&b, "| `%s` | %s | %v | %v | `%s` |\n", g.Name, g.Title, g.Timeout("local"), g.Timeout("ci"), strings.Join(g.Codes, "`, `"))
	}
	fmt.Fprintf(&b, "\nA gate that runs out of time is an issue `%s`, one that fails or panics `%s`: both block.\n", gates.GateTimeout, gates.ValidatorGateExecutionFailed)
	b.WriteString("\n## Fixes\n\n| code | what the fix does |\n|---|---|\n")
	for _, f := range all {
		fmt.Fprintf(&b, "| `%s` | %s |\n", f.Code, f.Title)
	}
	return b.String()
}

// functionFile returns the file that a function or method of a package is in.
func functionFile(src *tree, pkg, name string) string {
	f, _ := function(src, pkg, name)
	return f.path
}

func function(src *tree, pkg, name string) (file, *ast.FuncDecl) {
	for _, f := range src.files {
		if f.pkg != pkg || f.test {
			continue
		}
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Name.Name == name {
				return f, fn
			}
		}
	}
	return file{}, nil
}

// elements returns the elements of the list that a registry's function returns.
func elements(src *tree, pkg, name string) (list []ast.Expr) {
	_, fn := function(src, pkg, name)
	if fn == nil {
		return nil
	}
	for _, s := range fn.Body.List {
		if r, ok := s.(*ast.ReturnStmt); ok && len(r.Results) == 1 {
			if lit, ok := r.Results[0].(*ast.CompositeLit); ok {
				list = lit.Elts
			}
		}
	}
	return list
}
