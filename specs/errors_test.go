package specs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gantry-run/gantry/internal/fault"
)

// constants returns the codes of internal/fault/codes.go, by the name of the constant.
func constants(t *testing.T) map[string]fault.Code {
	t.Helper()
	codes := constantsOf(t, "../internal/fault/codes.go")
	if len(codes) < 40 {
		t.Fatalf("only %d constants found", len(codes))
	}
	return codes
}

func constantsOf(t *testing.T, path string) map[string]fault.Code {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	codes := map[string]fault.Code{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		for i, name := range spec.Names {
			lit, ok := spec.Values[i].(*ast.BasicLit)
			if !ok {
				t.Fatalf("%s is no literal", name.Name)
			}
			text, err := strconv.Unquote(lit.Value)
			if err != nil {
				t.Fatal(err)
			}
			codes[name.Name] = fault.Code(text)
		}
		return true
	})
	return codes
}

func TestRegistryAndConstantsAreTheSameCodes(t *testing.T) {
	codes := map[fault.Code]bool{}
	for _, path := range []string{"../internal/fault/codes.go", "../launch/gates/gates.go"} {
		for _, c := range constantsOf(t, path) {
			codes[c] = true
		}
	}
	source := slices.Sorted(maps.Keys(codes))
	var registry []fault.Code
	for _, e := range Errors() {
		registry = append(registry, e.Code)
	}
	slices.Sort(registry)
	for _, c := range source {
		if !slices.Contains(registry, c) {
			t.Errorf("specs/errors.json lacks %s", c)
		}
	}
	for _, c := range registry {
		if !slices.Contains(source, c) {
			t.Errorf("no source has %s", c)
		}
	}
	if len(slices.Compact(registry)) != len(Errors()) {
		t.Error("a code is there twice")
	}
}

func TestEveryErrorSaysWhatToDo(t *testing.T) {
	var areas []string
	for _, e := range Errors() {
		if !strings.HasSuffix(e.Meaning, ".") || !strings.HasSuffix(e.Hint, ".") || e.Area == "" {
			t.Errorf("%s is incomplete", e.Code)
		}
		if !slices.Contains([]Retry{RetryNo, RetryYes, RetrySometimes}, e.Retryable) {
			t.Errorf("%s: retryable %q", e.Code, e.Retryable)
		}
		if len(areas) == 0 || areas[len(areas)-1] != e.Area {
			if slices.Contains(areas, e.Area) {
				t.Errorf("area %s is in two places", e.Area)
			}
			areas = append(areas, e.Area)
		}
	}
}

func TestToolsDeclareRegisteredCodes(t *testing.T) {
	every(t, func(t *testing.T, tool Tool) {
		for _, c := range tool.MayReturn() {
			if _, ok := Error(c); !ok {
				t.Errorf("%s is not in the registry", c)
			}
		}
		if len(slices.Compact(slices.Sorted(slices.Values(tool.Errors)))) != len(tool.Errors) {
			t.Errorf("a code is there twice: %v", tool.Errors)
		}
	})
}

// misuses returns where a file makes a fault against the registry's retryable:
// fault.Retry of a code that is never, fault.New of one that always is.
func misuses(name string, src any, codes map[string]fault.Code) ([]string, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	local := file.Name.Name == "fault"
	var bad []string
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		maker, constant := inFault(call.Fun, local), inFault(call.Args[0], local)
		code, known := codes[constant]
		if !known || (maker != "New" && maker != "Retry") {
			return true
		}
		info, _ := Error(code)
		if wrong := map[string]Retry{"New": RetryYes, "Retry": RetryNo}[maker]; info.Retryable == wrong {
			bad = append(bad, fset.Position(call.Pos()).String()+": fault."+maker+" of "+string(code)+", whose retryable is "+string(info.Retryable))
		}
		return true
	})
	return bad, nil
}

// inFault returns the name that an expression takes from package fault, or "".
func inFault(e ast.Expr, local bool) string {
	switch e := e.(type) {
	case *ast.SelectorExpr:
		if pkg, ok := e.X.(*ast.Ident); ok && pkg.Name == "fault" {
			return e.Sel.Name
		}
	case *ast.Ident:
		if local {
			return e.Name
		}
	}
	return ""
}

func TestFaultsAreRetryableAsTheRegistrySays(t *testing.T) {
	codes, seen := constants(t), 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && d.Name() != "..") {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		seen++
		bad, _ := misuses(path, src, codes) // a file that does not parse is the compiler's to refuse
		for _, b := range bad {
			t.Error(b)
		}
		return nil
	})
	if err != nil || seen < 5 {
		t.Fatalf("%d files read: %v", seen, err)
	}
}

func TestMisuseOfRetryIsSeen(t *testing.T) {
	codes := constants(t)
	for src, want := range map[string]int{
		`package p; var _ = fault.Retry(fault.RunNotFound, "x")`: 1,
		`package p; var _ = fault.New(fault.RunLocked, "x")`:     1,
		`package p; var _ = fault.New(fault.RunNotFound, "x")`:   0,
		`package p; var _ = fault.Retry(fault.RunLocked, "x")`:   0,
		`package p; var _ = fault.Retry(fault.Cancelled, "x")`:   0,
		`package fault; var _ = New(RunLocked, "x")`:             1,
	} {
		bad, err := misuses("p.go", src, codes)
		if err != nil || len(bad) != want {
			t.Errorf("%s: %v, %v", src, bad, err)
		}
	}
}
