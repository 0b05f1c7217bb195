package evidence

import (
	"bytes"
	"cmp"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/printer"
	"go/token"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/gantry-run/gantry/internal/lazyregexp"
	"github.com/gantry-run/gantry/launch/dossier"
)

// goAPI reads the exported names of every package that others can import.
func (g *gatherer) goAPI() (modules []dossier.APIModule, reason string) {
	broken := 0
	folders := map[string][]string{}
	for _, file := range g.inv.Paths {
		if file.Role == "source" && file.Language == "Go" && !inDir(file.Path, "internal", "testdata", "vendor") && !hidden(file.Path) {
			dir := path.Dir(file.Path)
			folders[dir] = append(folders[dir], file.Path)
		}
	}
	dirs := slices.SortedFunc(maps.Keys(folders), func(a, b string) int {
		return cmp.Or(cmp.Compare(g.importPath(a), g.importPath(b)), cmp.Compare(a, b))
	})
	for _, dir := range dirs {
		if enough(modules) {
			break
		}
		module, failed := g.goPackage(dir, folders[dir])
		broken += failed
		if len(module.Symbols) > 0 {
			modules = append(modules, trimmed(module))
		}
	}
	if broken > 0 {
		reason = "Some Go files could not be parsed."
	}
	return modules, reason
}

// hidden reports whether the go command ignores a folder on the way.
func hidden(name string) bool {
	return slices.ContainsFunc(strings.Split(path.Dir(name), "/"), func(part string) bool {
		return part != "." && (strings.HasPrefix(part, ".") || strings.HasPrefix(part, "_"))
	})
}

// goPackage reads one folder. Files for several platforms may declare a name
// more than once; the first by path counts.
func (g *gatherer) goPackage(dir string, names []string) (module dossier.APIModule, failed int) {
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range names {
		data, ok := g.read(name, maxSource)
		if !ok {
			failed++
			continue
		}
		file, err := parser.ParseFile(fset, name, data, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			failed++
			continue
		}
		if file.Name.Name == "main" || strings.HasSuffix(file.Name.Name, "_test") || len(files) > 0 && file.Name.Name != files[0].Name.Name || ignoredByBuild(file) {
			continue
		}
		withoutBodies(file)
		if file.Doc != nil && generatedHeader.MatchString(file.Doc.Text()) {
			file.Doc = nil
		}
		files = append(files, file)
	}
	if len(files) == 0 {
		return module, failed
	}
	importPath := g.importPath(dir)
	pkg, err := doc.NewFromFiles(fset, files, importPath)
	if err != nil {
		return module, failed + 1
	}
	g.packages[importPath] = pkg.Name
	module = dossier.APIModule{Name: importPath, Path: dir, Doc: escapeDoc(pkg.Synopsis(pkg.Doc))}
	r := &goSymbols{fset: fset, pkg: pkg, module: &module}
	r.all()
	return module, failed
}

// withoutBodies drops what functions do, which is most of a file.
func withoutBodies(file *ast.File) {
	var inside []ast.Node
	for _, decl := range file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Body != nil {
			inside, f.Body = append(inside, f.Body), nil
		}
	}
	file.Comments = slices.DeleteFunc(file.Comments, func(c *ast.CommentGroup) bool {
		i, _ := slices.BinarySearchFunc(inside, c.Pos(), func(body ast.Node, at token.Pos) int { return cmp.Compare(body.End(), at) })
		return i < len(inside) && inside[i].Pos() < c.Pos()
	})
}

// generatedHeader matches the note of a generator that stands where a package's
// documentation would.
var generatedHeader = lazyregexp.New(`^Code generated .*DO NOT EDIT`)

func ignoredByBuild(file *ast.File) bool {
	for _, group := range file.Comments {
		for _, c := range group.List {
			if c.Pos() < file.Package && strings.HasPrefix(c.Text, "//go:build ignore") {
				return true
			}
		}
	}
	return false
}

// importPath is the path of the nearest module with the rest of the folder.
func (g *gatherer) importPath(dir string) string {
	best, name := "", ""
	for _, m := range g.inv.Profile.Manifests {
		base := path.Dir(m.Path)
		within := base == "." || dir == base || strings.HasPrefix(dir, base+"/")
		if m.Kind == "go" && within && (name == "" || len(base) > len(best)) {
			best, name = base, m.Name.Value
		}
	}
	switch {
	case name == "":
		return dir
	case best == ".":
		return path.Join(name, dir)
	}
	return path.Join(name, strings.TrimPrefix(strings.TrimPrefix(dir, best), "/"))
}

// goSymbols collects the names of one package.
type goSymbols struct {
	fset   *token.FileSet
	pkg    *doc.Package
	module *dossier.APIModule
}

func (r *goSymbols) all() {
	r.values(r.pkg.Consts, "const")
	r.values(r.pkg.Vars, "var")
	r.funcs("", r.pkg.Funcs, "func")
	for _, t := range r.pkg.Types {
		r.typeSymbol(t)
		r.values(t.Consts, "const")
		r.values(t.Vars, "var")
		r.funcs("", t.Funcs, "func")
		r.funcs(t.Name+".", t.Methods, "method")
	}
}

func (r *goSymbols) add(name, kind, signature, docText string, pos token.Pos) {
	at := r.fset.Position(pos)
	r.module.Symbols = append(r.module.Symbols, dossier.APISymbol{
		Name: name, Kind: kind, Signature: signature, Doc: escapeDoc(r.pkg.Synopsis(docText)), Path: at.Filename, Line: at.Line,
	})
}

func (r *goSymbols) funcs(prefix string, funcs []*doc.Func, kind string) {
	for _, f := range funcs {
		if f.Level > 0 {
			continue // promoted from an embedded field
		}
		decl := *f.Decl
		decl.Body, decl.Doc = nil, nil
		r.add(prefix+f.Name, kind, r.print(&decl), f.Doc, f.Decl.Name.Pos())
	}
}

func (r *goSymbols) typeSymbol(t *doc.Type) {
	for _, spec := range t.Decl.Specs {
		ts, ok := spec.(*ast.TypeSpec)
		if !ok || ts.Name.Name != t.Name || !token.IsExported(t.Name) {
			continue
		}
		kind, signature := "type", "type "+t.Name
		if ts.TypeParams != nil {
			short := *ts
			short.Type, short.Doc, short.Comment = ast.NewIdent(""), nil, nil
			signature = "type " + strings.TrimSpace(r.print(&short))
		}
		switch ts.Type.(type) {
		case *ast.InterfaceType:
			kind, signature = "interface", signature+" interface"
		case *ast.StructType:
			signature += " struct"
		default:
			bare := *ts
			bare.Doc, bare.Comment = nil, nil
			signature = "type " + r.print(&bare)
		}
		r.add(t.Name, kind, signature, t.Doc, ts.Name.Pos())
	}
}

func (r *goSymbols) values(values []*doc.Value, kind string) {
	for _, v := range values {
		for _, spec := range v.Decl.Specs {
			vs, ok := spec.(*ast.ValueSpec)
			if !ok {
				continue
			}
			docText := vs.Doc.Text()
			if docText == "" && len(v.Decl.Specs) == 1 && len(vs.Names) == 1 {
				docText = v.Doc
			}
			for _, name := range vs.Names {
				if !token.IsExported(name.Name) {
					continue
				}
				signature := kind + " " + name.Name
				if vs.Type != nil {
					signature += " " + r.print(vs.Type)
				}
				r.add(name.Name, kind, signature, docText, name.Pos())
			}
		}
	}
}

// print returns a node in one line.
func (r *goSymbols) print(node any) string {
	var buf bytes.Buffer
	if err := printer.Fprint(&buf, r.fset, node); err != nil {
		return ""
	}
	return shorten(strings.Join(strings.Fields(buf.String()), " "))
}

// shorten cuts a signature at its bound.
func shorten(signature string) string {
	if len(signature) <= maxSignature {
		return signature
	}
	return strings.ToValidUTF8(signature[:maxSignature-3], "") + "..."
}
