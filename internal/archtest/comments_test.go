package archtest

import (
	"go/ast"
	"go/token"
	"path"
	"strings"
	"testing"
)

func TestEveryPackageSaysWhatItIs(t *testing.T) {
	report(t, checkPackageComments(source(t)))
}

func TestEveryExportedNameIsDocumented(t *testing.T) {
	report(t, checkExportedComments(source(t)))
}

// checkPackageComments wants one package comment a package, "Package x …", or
// for a program its name, "Gantry …".
func checkPackageComments(src *tree) (problems []string) {
	comments := map[string][]string{}
	for _, f := range src.files {
		if f.ast.Doc != nil && !f.test {
			comments[f.pkg] = append(comments[f.pkg], f.path)
			name, want := f.ast.Name.Name, "Package "+f.ast.Name.Name+" "
			if name == "main" {
				name = path.Base(f.pkg)
				want = strings.ToUpper(name[:1]) + name[1:] + " "
			}
			if !strings.HasPrefix(f.ast.Doc.Text(), want) {
				problems = append(problems, problem("%s: the package comment begins %q", f.path, want))
			}
		}
	}
	for _, pkg := range src.packages() {
		if n := len(comments[pkg]); n != 1 {
			problems = append(problems, problem("%s has %d package comments: %v", pkg, n, comments[pkg]))
		}
	}
	return problems
}

// checkExportedComments wants a comment on every exported function, type,
// constant and variable, on the exported methods of exported types and on the
// methods of exported interfaces. A group's comment speaks for its members, and an
// interface's for its only method.
func checkExportedComments(src *tree) (problems []string) {
	for _, f := range src.files {
		if f.test {
			continue
		}
		missing := func(n *ast.Ident, kind string) {
			problems = append(problems, problem("%s:%d: %s %s has no comment", f.path, src.line(n.Pos()), kind, n.Name))
		}
		for _, d := range f.ast.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && d.Doc.Text() == "" && (d.Recv == nil || receiver(d).IsExported()) {
					missing(d.Name, "function")
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					undocumented(d, s, missing)
				}
			}
		}
	}
	return problems
}

// receiver returns the name of the type that a method belongs to.
func receiver(d *ast.FuncDecl) *ast.Ident {
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x
		default:
			return ast.NewIdent("_")
		}
	}
}

func undocumented(d *ast.GenDecl, s ast.Spec, missing func(*ast.Ident, string)) {
	switch s := s.(type) {
	case *ast.ValueSpec:
		for _, n := range s.Names {
			if n.IsExported() && d.Doc.Text()+s.Doc.Text()+s.Comment.Text() == "" {
				missing(n, d.Tok.String())
			}
		}
	case *ast.TypeSpec:
		if !s.Name.IsExported() {
			return
		}
		if s.Doc.Text() == "" && (d.Doc.Text() == "" || d.Lparen != token.NoPos) {
			missing(s.Name, "type")
		}
		if i, ok := s.Type.(*ast.InterfaceType); ok && len(i.Methods.List) > 1 {
			for _, m := range i.Methods.List {
				for _, n := range m.Names {
					if n.IsExported() && m.Doc.Text()+m.Comment.Text() == "" {
						missing(n, "method "+s.Name.Name)
					}
				}
			}
		}
	}
}
