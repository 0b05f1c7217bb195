package archtest

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"io"
	"slices"
	"strings"
	"testing"
)

// wireEdges are the packages where JSON of any form is at home.
var wireEdges = []string{"cmd/gantry", "mcpserver", "mcpserver/stdio", "validate"}

// TestReport prints what is to be looked at, and fails for none of it:
//
//	go test ./internal/archtest -run TestReport -v
func TestReport(t *testing.T) {
	src := source(t)
	out := t.Output()
	section(out, "files over 500 lines", longFiles(src, 500))
	section(out, "functions over 60 lines", longFunctions(src, 60))
	section(out, "packages over 1,500 lines, tests apart", bigPackages(src, 1500))
	section(out, "interfaces with more than 5 methods", wideInterfaces(src, 5))
	section(out, "package variables that change", mutableVariables(src))
	section(out, "map[string]any away from a wire edge", looseMaps(src, wireEdges))
	section(out, "allowed by the import tables, not used", unusedRows(layers, owners, src))
}

func section(w io.Writer, title string, found []string) {
	fmt.Fprintf(w, "%s: %d\n", title, len(found))
	for _, f := range found {
		fmt.Fprintf(w, "  %s\n", f)
	}
}

func longFiles(src *tree, limit int) (found []string) {
	for _, f := range src.files {
		if f.size > limit {
			found = append(found, fmt.Sprintf("%s: %d", f.path, f.size))
		}
	}
	return found
}

func longFunctions(src *tree, limit int) (found []string) {
	for _, f := range src.files {
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				if n := src.line(fn.End()) - src.line(fn.Pos()) + 1; n > limit {
					found = append(found, fmt.Sprintf("%s: %s, %d", f.path, fn.Name.Name, n))
				}
			}
		}
	}
	return found
}

func bigPackages(src *tree, limit int) (found []string) {
	size := map[string]int{}
	for _, f := range src.files {
		if !f.test {
			size[f.pkg] += f.size
		}
	}
	for _, pkg := range src.packages() {
		if size[pkg] > limit {
			found = append(found, fmt.Sprintf("%s: %d", pkg, size[pkg]))
		}
	}
	return found
}

func wideInterfaces(src *tree, limit int) (found []string) {
	for _, f := range src.files {
		ast.Inspect(f.ast, func(n ast.Node) bool {
			t, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if i, ok := t.Type.(*ast.InterfaceType); ok && i.Methods.NumFields() > limit {
				found = append(found, fmt.Sprintf("%s: %s, %d", f.path, t.Name.Name, i.Methods.NumFields()))
			}
			return true
		})
	}
	return found
}

// mutableVariables returns the package variables outside of tests that hold
// nothing when the program starts, or that some function writes. A variable that
// an embed directive fills is not among them.
func mutableVariables(src *tree) (found []string) {
	written := map[string]bool{} // package and name
	for _, f := range src.files {
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && !f.test {
				for _, name := range writes(fn) {
					written[f.pkg+" "+name] = true
				}
			}
		}
	}
	for _, f := range src.files {
		for _, d := range f.ast.Decls {
			gen, ok := d.(*ast.GenDecl)
			if !ok || gen.Tok != token.VAR || f.test {
				continue
			}
			for _, s := range gen.Specs {
				v := s.(*ast.ValueSpec)
				embedded := directive(gen.Doc) || directive(v.Doc)
				for _, n := range v.Names {
					if n.Name != "_" && !embedded && (len(v.Values) == 0 || written[f.pkg+" "+n.Name]) {
						found = append(found, fmt.Sprintf("%s:%d: %s", f.path, src.line(n.Pos()), n.Name))
					}
				}
			}
		}
	}
	return found
}

// writes returns the names that a function assigns to and does not declare.
func writes(fn *ast.FuncDecl) (names []string) {
	local := map[string]bool{}
	ast.Inspect(fn, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			for _, id := range n.Names {
				local[id.Name] = true
			}
		case *ast.ValueSpec:
			for _, id := range n.Names {
				local[id.Name] = true
			}
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				if id, ok := e.(*ast.Ident); ok && n.Tok == token.DEFINE {
					local[id.Name] = true
				} else {
					names = append(names, base(e))
				}
			}
		case *ast.RangeStmt:
			for _, e := range []ast.Expr{n.Key, n.Value} {
				if id, ok := e.(*ast.Ident); ok && n.Tok == token.DEFINE {
					local[id.Name] = true
				}
			}
		case *ast.IncDecStmt:
			names = append(names, base(n.X))
		}
		return true
	})
	return slices.DeleteFunc(names, func(name string) bool { return local[name] })
}

func directive(c *ast.CommentGroup) bool {
	return c != nil && slices.ContainsFunc(c.List, func(c *ast.Comment) bool { return strings.HasPrefix(c.Text, "//go:embed ") })
}

// base returns the name whose value an assignment to the expression changes.
func base(e ast.Expr) string {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x.Name
		case *ast.IndexExpr:
			e = x.X
		case *ast.SelectorExpr:
			e = x.X
		default:
			return ""
		}
	}
}

func looseMaps(src *tree, edges []string) (found []string) {
	count := map[string]int{}
	for _, f := range src.files {
		if f.test || slices.Contains(edges, f.pkg) {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			m, ok := n.(*ast.MapType)
			if !ok {
				return true
			}
			key, _ := m.Key.(*ast.Ident)
			value, _ := m.Value.(*ast.Ident)
			if key != nil && value != nil && key.Name == "string" && value.Name == "any" {
				count[f.path]++
			}
			return true
		})
	}
	for name, n := range count {
		found = append(found, fmt.Sprintf("%s: %d", name, n))
	}
	slices.SortFunc(found, cmp.Compare)
	return found
}
