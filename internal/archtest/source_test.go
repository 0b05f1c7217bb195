package archtest

import (
	"bufio"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const modulePath = "github.com/gantry-run/gantry"

// file is one parsed Go file.
type file struct {
	path string // slash-separated, from the root of the module
	pkg  string // folder that it is in: its package's place in the table
	test bool
	ast  *ast.File
	size int // lines
}

// tree is the module's source.
type tree struct {
	fset  *token.FileSet
	files []file // by path
}

// load parses every Go file of the module in fsys. Folders that the go command
// passes over are passed over here, and so are modules inside the module.
func load(fsys fs.FS) (*tree, error) {
	t := &tree{fset: token.NewFileSet()}
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if name != "." && foreign(fsys, name) {
				return fs.SkipDir
			}
			return nil
		case path.Ext(name) != ".go":
			return nil
		}
		src, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		return t.add(name, src)
	})
	return t, err
}

func foreign(fsys fs.FS, dir string) bool {
	base := path.Base(dir)
	if strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || base == "testdata" || base == "node_modules" {
		return true
	}
	_, err := fs.Stat(fsys, path.Join(dir, "go.mod"))
	return err == nil
}

func (t *tree) add(name string, src []byte) error {
	f, err := parser.ParseFile(t.fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	t.files = append(t.files, file{
		path: name, pkg: path.Dir(name), test: strings.HasSuffix(name, "_test.go"),
		ast: f, size: t.fset.File(f.FileStart).LineCount(),
	})
	return nil
}

// packages returns the folders that hold code which is not only tests, sorted.
func (t *tree) packages() []string {
	var list []string
	for _, f := range t.files {
		if !f.test {
			list = append(list, f.pkg)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// line returns the line of a position.
func (t *tree) line(p token.Pos) int { return t.fset.Position(p).Line }

// imports returns the import paths of the file, in its order.
func (f file) imports() []string {
	var list []string
	for _, i := range f.ast.Imports {
		p, err := strconv.Unquote(i.Path.Value)
		if err == nil {
			list = append(list, p)
		}
	}
	return list
}

// selects calls visit for each use of a name of an imported package, such as
// os.Getenv: the import path, the name and where. A dot import is a use of ".".
func (f file) selects(visit func(importPath, name string, at token.Pos)) {
	imported := map[string]string{} // name in the file → import path
	for _, i := range f.ast.Imports {
		p, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			continue
		}
		switch {
		case i.Name == nil:
			imported[path.Base(p)] = p
		case i.Name.Name == ".":
			visit(p, ".", i.Pos())
		default:
			imported[i.Name.Name] = p
		}
	}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && imported[x.Name] != "" {
				visit(imported[x.Name], s.Sel.Name, s.Pos())
			}
		}
		return true
	})
}

// root is the checkout.
func root() fs.FS { return os.DirFS("../..") }

var parsed = sync.OnceValues(func() (*tree, error) { return load(root()) })

// source is the checkout's source.
func source(t *testing.T) *tree {
	t.Helper()
	src, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	if len(src.files) < 50 {
		t.Fatalf("%d files are not the whole source", len(src.files))
	}
	return src
}

// lines yields the lines of a text with their numbers, from 1.
func lines(text string) func(yield func(int, string) bool) {
	return func(yield func(int, string) bool) {
		s := bufio.NewScanner(strings.NewReader(text))
		s.Buffer(nil, len(text)+1)
		for n := 1; s.Scan(); n++ {
			if !yield(n, s.Text()) {
				return
			}
		}
	}
}

// report fails the test with each problem.
func report(t *testing.T, problems []string) {
	t.Helper()
	for _, p := range problems {
		t.Error(p)
	}
}

func problem(format string, args ...any) string { return fmt.Sprintf(format, args...) }
