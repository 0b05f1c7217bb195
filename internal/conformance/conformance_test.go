package conformance

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write docs/conformance.md")

const document = "docs/conformance.md"

func root() fs.FS { return os.DirFS("../..") }

func TestEveryClauseIsHeldByATestThatExists(t *testing.T) {
	for _, p := range check(tests{fsys: root()}, lists()) {
		t.Error(p)
	}
}

func TestTheDocumentSaysWhatTheListsSay(t *testing.T) {
	want := render(tests{fsys: root()}, lists())
	if *update {
		if err := os.WriteFile("../../"+document, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := fs.ReadFile(root(), document)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("go test ./internal/conformance -update writes it: %s", diff)
	}
}

func TestAClauseThatNothingHoldsIsFound(t *testing.T) {
	tree := tests{fsys: fstest.MapFS{
		"a/b/x_test.go": {Data: []byte("package b\nimport \"testing\"\nfunc TestHere(t *testing.T) {}\nfunc TestHelper(n int) {}\n// func TestNoted(t *testing.T) {}\ntype s int\nfunc (s) TestMethod(t *testing.T) {}\n")},
		"a/b/x.go":      {Data: []byte("package b\nimport \"testing\"\nfunc TestInCode(t *testing.T) {}\n")},
		"a/s.txtar":     {},
	}}
	for held, found := range map[string]bool{
		"a/b.TestHere": true, "a/s.txtar": true, "a/b.TestHere a/s.txtar": true, "a/b.TestHere a/b.TestGone": false, "a.TestHere": false, "a/t.txtar": false,
		"a/b.TestHelper": false, "a/b.TestNoted": false, "a/b.TestMethod": false, "a/b.TestInCode": false, "TestHere": false, "": false,
	} {
		one := []list{{parts: []part{{clauses: []clause{{"it is so", held, ""}}}}}}
		if problems := check(tree, one); (len(problems) == 0) != found {
			t.Errorf("%q: %q", held, problems)
		}
	}
	twice := part{clauses: []clause{{"it is so", "a/b.TestHere", ""}, {"it is so", "a/b.TestHere", ""}}}
	if problems := check(tree, []list{{parts: []part{twice}}}); len(problems) != 1 {
		t.Errorf("a clause that is there twice: %q", problems)
	}
	if problems := check(tree, []list{{parts: []part{{clauses: []clause{{"it is otherwise", "", "for a reason"}}}}}}); len(problems) != 0 {
		t.Errorf("a reason is an answer: %q", problems)
	}
}

// check returns what is wrong with the lists: clauses without an answer, or whose tests
// are not there.
func check(tree tests, all []list) (problems []string) {
	for _, l := range all {
		for _, p := range l.parts {
			seen := map[string]bool{}
			for _, c := range p.clauses {
				at := fmt.Sprintf("%s, %s: %q", l.title, p.heading, c.says)
				if seen[c.says] {
					problems = append(problems, at+" is there twice")
				}
				seen[c.says] = true
				if c.held == "" && c.but == "" {
					problems = append(problems, at+" is held by nothing")
				}
				for _, name := range strings.Fields(c.held) {
					if tree.file(name) == "" {
						problems = append(problems, at+" names "+name+", which is no test")
					}
				}
			}
		}
	}
	return problems
}

// tests finds tests in a tree.
type tests struct{ fsys fs.FS }

// file returns the file that a test or a script is in, "" if there is none.
func (t tests) file(name string) string {
	if path.Ext(name) == ".txtar" {
		if _, err := fs.Stat(t.fsys, name); err != nil {
			return ""
		}
		return name
	}
	dot := strings.LastIndex(name, ".")
	if dot < 0 {
		return ""
	}
	files, err := fs.Glob(t.fsys, name[:dot]+"/*_test.go")
	if err != nil {
		return ""
	}
	i := slices.IndexFunc(files, func(file string) bool { return t.defines(file, name[dot+1:]) })
	if i < 0 {
		return ""
	}
	return files[i]
}

// defines reports whether a file has a test function of the name.
func (t tests) defines(file, name string) bool {
	src, err := fs.ReadFile(t.fsys, file)
	if err != nil || !bytes.Contains(src, []byte("func "+name+"(")) {
		return false
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), file, src, parser.SkipObjectResolution)
	return err == nil && slices.ContainsFunc(parsed.Decls, func(d ast.Decl) bool {
		f, ok := d.(*ast.FuncDecl)
		return ok && f.Recv == nil && f.Name.Name == name && takesTesting(f.Type)
	})
}

// takesTesting reports whether a function's one parameter is of package testing.
func takesTesting(f *ast.FuncType) bool {
	if len(f.Params.List) != 1 {
		return false
	}
	star, ok := f.Params.List[0].Type.(*ast.StarExpr)
	if !ok {
		return false
	}
	of, ok := star.X.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	pkg, ok := of.X.(*ast.Ident)
	return ok && pkg.Name == "testing"
}

// render returns the document.
func render(tree tests, all []list) string {
	var b strings.Builder
	b.WriteString("# Conformance\n\nWhich test holds each promise, and what is different on purpose.\n" +
		"Made from the lists in `internal/conformance` by `go test ./internal/conformance -update`; do not edit.\n")
	for _, l := range all {
		fmt.Fprintf(&b, "\n## %s\n", l.title)
		if l.intro != "" {
			fmt.Fprintf(&b, "\n%s\n", l.intro)
		}
		for _, p := range l.parts {
			if p.heading != "" {
				fmt.Fprintf(&b, "\n### %s\n", p.heading)
			}
			b.WriteString("\n| promise | held by | here |\n|---|---|---|\n")
			for _, c := range p.clauses {
				fmt.Fprintf(&b, "| %s | %s | %s |\n", c.says, tree.links(c.held), c.but)
			}
		}
	}
	return b.String()
}

// links are the tests as links to their files, one a line of the cell.
func (t tests) links(held string) string {
	var list []string
	for _, name := range strings.Fields(held) {
		text := path.Base(name)
		if !strings.HasSuffix(name, ".txtar") {
			text = name[strings.LastIndex(name, ".")+1:]
		}
		list = append(list, fmt.Sprintf("[%s](../%s)", text, t.file(name)))
	}
	return strings.Join(list, "<br>")
}
