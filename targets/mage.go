package targets

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// mageRunner finds the targets of mage: exported functions of magefile.go or of the
// folder magefiles. What the go command itself does with a package is no target.
func mageRunner() Runner {
	return Runner{
		Kind: "mage",
		Tools: []Tool{{
			Name: "mage", Program: "mage", Hint: "Install mage: go install github.com/magefile/mage@latest",
			elsewhere: func(t Target, up string) []string {
				return []string{"mage", "-d", up, "-w", ".", t.Name}
			},
		}},
		find: findMage,
	}
}

func findMage(f *folder) {
	if f.has("magefile.go") {
		addMage(f, "magefile.go")
		return
	}
	if !f.has("magefiles") {
		return
	}
	names, _ := f.entries("magefiles") // a file of that name has none
	for _, name := range names {
		if strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			addMage(f, path.Join("magefiles", name))
		}
	}
}

func addMage(f *folder, name string) {
	s, ok := f.read(name)
	if !ok {
		return
	}
	file, err := parser.ParseFile(token.NewFileSet(), path.Base(name), s.text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		f.report(s.path, Error, "the Go is not valid: %v", err)
		return
	}
	spaces := namespaces(file)
	for _, d := range file.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || !fn.Name.IsExported() || fn.Type.TypeParams != nil {
			continue
		}
		target := lowerFirst(fn.Name.Name)
		if fn.Recv != nil {
			of, isNamed := fn.Recv.List[0].Type.(*ast.Ident)
			if !isNamed || !spaces[of.Name] {
				continue
			}
			target = lowerFirst(of.Name) + ":" + target
		}
		takes, ok := mageArguments(fn.Type)
		if !ok {
			continue
		}
		f.add(s, Target{
			Name: target, SourceName: fn.Name.Name, Argv: []string{"mage", target}, takes: takes,
			Description: new(doc.Package).Synopsis(fn.Doc.Text()), tool: mageRunner().Tools[0],
		})
	}
}

// namespaces returns the types of a file that are declared as mg.Namespace.
func namespaces(file *ast.File) map[string]bool {
	found := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.TypeSpec); ok {
			sel, isSel := spec.Type.(*ast.SelectorExpr)
			found[spec.Name.Name] = isSel && sel.Sel.Name == "Namespace"
		}
		return true
	})
	return found
}

// mageArguments returns how many arguments a function takes, and whether its type is one
// that mage calls: nothing or an error as result, and a context, texts, numbers, switches
// and durations as parameters.
func mageArguments(t *ast.FuncType) (int, bool) {
	if t.Results != nil {
		if len(t.Results.List) != 1 || typeName(t.Results.List[0].Type) != "error" {
			return 0, false
		}
	}
	n := 0
	for i, p := range t.Params.List {
		switch typeName(p.Type) {
		case "context.Context":
			if i > 0 {
				return 0, false
			}
		case "string", "int", "bool", "float64", "time.Duration":
			n += max(1, len(p.Names))
		default:
			return 0, false
		}
	}
	return n, true
}

func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return typeName(e.X) + "." + e.Sel.Name
	}
	return ""
}

func lowerFirst(name string) string {
	r, size := utf8.DecodeRuneInString(name)
	return string(unicode.ToLower(r)) + name[size:]
}
