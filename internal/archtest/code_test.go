package archtest

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strings"
	"testing"
)

// exception lets one file break one rule.
type exception struct{ file, rule, reason string }

var exceptions = []exception{
	{"internal/proc/proc_test.go", "time.Sleep", "no event tells of the end of a process that is not our child"},
	{"runs/lock.go", "time.Sleep", "no event tells that somebody who only looked at a file lock let go of it"},
	{"runs/local/local_test.go", "time.Sleep", "one helper waits for facts that nothing tells of, such as a lock that became free"},
	{"internal/bench/main.go", "os.Stdout", "a program of its own"},
	{"internal/bench/main.go", "os.Environ", "a program of its own"},
	{"internal/bench/mcpbench/main.go", "os.Stdout", "a program of its own"},
	{"internal/bench/mcpbench/main.go", "os.Environ", "a program of its own"},
	{"internal/agenttest/agenttest.go", "os.Stdout", "only tests import it"},
	{"internal/codextest/codextest.go", "os.Getenv", "only tests import it"},
	{"runs/runstest/host.go", "os.Stdout", "a host is a process of its own that answers over a pipe"},
}

// banned is a name that source does without, and where it may be used after all.
type banned struct {
	importPath, name string
	in               string // the one package that may
	tests            bool   // test files may
	why              string
}

var bans = []banned{
	{"context", "WithValue", "", false, "pass arguments"},
	{"os", "Getenv", "cmd/gantry", true, "values come from constructors"},
	{"os", "LookupEnv", "cmd/gantry", true, "values come from constructors"},
	{"os", "Environ", "cmd/gantry", true, "values come from constructors"},
	{"os", "Stdout", "cmd/gantry", true, "stdout belongs to the protocol"},
	{"fmt", "Print", "cmd/gantry", true, "stdout belongs to the protocol"},
	{"fmt", "Printf", "cmd/gantry", true, "stdout belongs to the protocol"},
	{"fmt", "Println", "cmd/gantry", true, "stdout belongs to the protocol"},
	{"regexp", "MustCompile", "internal/lazyregexp", true, "each start of the program would compile it: internal/lazyregexp"},
	{"time", "Sleep", "", false, "wait for facts: a channel, a sequence number, testing/synctest"},
}

var bannedPackages = []string{"util", "utils", "common", "helper", "helpers", "types", "models"}

func TestSourceDoesWithoutWhatIsBanned(t *testing.T) {
	report(t, checkBans(bans, exceptions, source(t)))
}

func TestNothingRunsBeforeMain(t *testing.T) {
	report(t, checkInit(source(t)))
}

func TestPackagesAreNamedForWhatTheyDo(t *testing.T) {
	report(t, checkPackageNames(source(t)))
}

// checkBans finds uses of banned names that no exception covers, and exceptions
// that cover nothing. Time in a testing/synctest file is fake, so sleeping there
// waits for nothing.
func checkBans(list []banned, except []exception, src *tree) (problems []string) {
	used := map[exception]bool{}
	for _, f := range src.files {
		fake := slices.Contains(f.imports(), "testing/synctest")
		refuse := func(importPath, name, why string, line int) {
			rule := importPath + "." + name
			i := slices.IndexFunc(except, func(e exception) bool { return e.file == f.path && e.rule == rule })
			if i >= 0 {
				used[except[i]] = true
				return
			}
			problems = append(problems, problem("%s:%d uses %s: %s", f.path, line, rule, why))
		}
		f.selects(func(importPath, name string, at token.Pos) {
			for _, b := range list {
				allowed := b.in != "" && f.pkg == b.in || b.tests && f.test || name == "Sleep" && fake
				if b.importPath == importPath && (b.name == name || name == ".") && !allowed {
					refuse(importPath, b.name, b.why, src.line(at))
				}
			}
		})
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if id, ok := call.Fun.(*ast.Ident); ok && (id.Name == "println" || id.Name == "print") {
					refuse("builtin", id.Name, "log instead", src.line(id.Pos()))
				}
			}
			return true
		})
	}
	for _, e := range except {
		if !used[e] {
			problems = append(problems, problem("the exception of %s for %s is not needed", e.rule, e.file))
		}
	}
	return problems
}

func checkInit(src *tree) (problems []string) {
	for _, f := range src.files {
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				problems = append(problems, problem("%s:%d has an init function: registries are lists", f.path, src.line(fn.Pos())))
			}
		}
	}
	return problems
}

func checkPackageNames(src *tree) (problems []string) {
	for _, f := range src.files {
		name := strings.TrimSuffix(f.ast.Name.Name, "_test")
		if slices.Contains(bannedPackages, name) {
			problems = append(problems, problem("%s: a package named %s says nothing", f.path, name))
		}
		if name != "main" && name != path.Base(f.pkg) && f.pkg != "." {
			problems = append(problems, problem("%s: package %s is not named like its folder", f.path, name))
		}
	}
	return problems
}
