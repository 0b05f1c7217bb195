package evidence

import (
	"path"
	"slices"
	"strings"

	"github.com/gantry-run/gantry/internal/lazyregexp"
	"github.com/gantry-run/gantry/launch/dossier"
)

const (
	jsReason   = "Read from the export declarations of the package's entry files; what is exported at run time by other means is missing."
	maxJSFiles = 100
)

// jsAPI reads what the entry files of the npm package export, following
// re-exports of files of the repository.
func (g *gatherer) jsAPI() (modules []dossier.APIModule, reason string) {
	for _, m := range g.mainManifests() {
		if m.Kind != "npm" || m.Error != "" {
			continue
		}
		r := &jsExports{g: g, seen: map[string]bool{}}
		for _, entry := range g.jsEntries(m) {
			r.file(entry)
		}
		if len(r.symbols) > 0 {
			name := firstOf(m.Name.Value != "", m.Name.Value, g.name)
			modules = append(modules, dossier.APIModule{Name: name, Path: path.Dir(m.Path), Symbols: r.symbols})
		}
	}
	if len(modules) == 0 {
		return nil, "The entry files that the package manifest names are not in the repository, or export nothing by declaration."
	}
	return modules, jsReason
}

// jsEntries returns the files that importing the package loads and that are in
// the tree: types first, for they say most.
func (g *gatherer) jsEntries(m dossier.Manifest) []string {
	file := g.npmFile(m.Path)
	named := append([]string{file.Types, file.Typings, file.Module, file.Main}, exportTargets(file.Exports, 0)...)
	named = append(named, "index.js", "index.mjs", "index.cjs", "index.ts", "src/index.ts", "src/index.js", "src/index.mjs", "lib/index.js", "source/index.js", "source/index.ts")
	var entries []string
	for _, name := range named {
		if name == "" || strings.Contains(name, "*") {
			continue
		}
		found := g.jsResolve(path.Join(path.Dir(m.Path), name))
		if found != "" && !slices.Contains(entries, found) {
			entries = append(entries, found)
		}
	}
	return entries
}

// exportTargets lists the files in an exports member, in the order of its keys' names.
func exportTargets(exports any, depth int) []string {
	switch v := exports.(type) {
	case string:
		return []string{v}
	case map[string]any:
		if depth > 5 {
			return nil
		}
		if main, ok := v["."]; ok {
			return exportTargets(main, depth+1) // what is under other keys has another name
		}
		keys := make([]string, 0, len(v))
		for key := range v {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		var targets []string
		for _, key := range keys {
			if strings.HasPrefix(key, "./") {
				continue
			}
			targets = append(targets, exportTargets(v[key], depth+1)...)
		}
		return targets
	}
	return nil
}

// jsDeclaration returns the declaration file that stands beside a script, or the
// script's own name.
func jsDeclaration(name string) string {
	for _, ext := range []string{".js", ".cjs", ".mjs"} {
		if stem, ok := strings.CutSuffix(name, ext); ok {
			return stem + ".d" + strings.Replace(ext, "js", "ts", 1)
		}
	}
	return name
}

func isDeclaration(name string) bool {
	return strings.HasSuffix(name, ".d.ts") || strings.HasSuffix(name, ".d.cts") || strings.HasSuffix(name, ".d.mts")
}

// jsImport returns the file that an import in another file means, or "". A
// declaration file imports declarations.
func (g *gatherer) jsImport(from, target string) string {
	name := path.Join(path.Dir(from), target)
	if isDeclaration(from) {
		if found := g.jsResolve(jsDeclaration(name)); found != "" {
			return found
		}
	}
	return g.jsResolve(name)
}

// jsResolve returns the file of the tree that an import of the path means, or "".
func (g *gatherer) jsResolve(name string) string {
	stem := strings.TrimSuffix(strings.TrimSuffix(name, ".js"), ".mjs")
	for _, candidate := range []string{name, name + ".ts", name + ".js", name + ".mjs", name + ".cjs", name + ".d.ts", stem + ".ts", name + "/index.ts", name + "/index.js"} {
		i, ok := slices.BinarySearchFunc(g.inv.Paths, candidate, func(f dossier.RepoFile, p string) int { return strings.Compare(f.Path, p) })
		if ok && slices.Contains([]string{".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"}, path.Ext(candidate)) && !g.inv.Paths[i].Binary {
			return candidate
		}
	}
	return ""
}

// jsExports collects names over the files that re-export one another.
type jsExports struct {
	g       *gatherer
	seen    map[string]bool
	symbols []dossier.APISymbol
}

var (
	jsDeclared = lazyregexp.New(`^export\s+(?:declare\s+)?(?:default\s+)?(?:abstract\s+)?(async\s+function|function|class|const|let|var|interface|type|enum)\s*\*?\s*([A-Za-z_$][\w$]*)`)
	jsArrow    = lazyregexp.New(`^export\s+const\s+[\w$]+\s*=\s*(?:async\s+)?(?:function\b|\w+\s*=>|\([^()]*\)\s*(?::[^=]+)?=>)`)
	jsList     = lazyregexp.New(`^export\s+(?:type\s+)?\{([^}]*)\}`)
	jsFrom     = lazyregexp.New(`\bfrom\s*["'](\.[^"']*)["']`)
	jsStar     = lazyregexp.New(`^export\s+\*\s+from\s*["'](\.[^"']*)["']`)
	jsCommon   = lazyregexp.New(`^(?:module\.)?exports\.([A-Za-z_$][\w$]*)\s*=`)
	jsRequire  = lazyregexp.New(`^module\.exports\s*=\s*require\(\s*["'](\.[^"']*)["']\s*\)`)
)

func (r *jsExports) file(name string) {
	if r.seen[name] || len(r.seen) >= maxJSFiles {
		return
	}
	r.seen[name] = true
	data, ok := r.g.read(name, maxSource)
	if !ok {
		return
	}
	for _, s := range jsStatements(string(data)) {
		r.statement(name, s)
	}
}

// statement reads one statement of the top level.
func (r *jsExports) statement(file string, s jsStatement) {
	follow := func(target string) {
		if found := r.g.jsImport(file, target); found != "" {
			r.file(found)
		}
	}
	switch {
	case jsDeclared.MatchString(s.text):
		m := jsDeclared.FindStringSubmatch(s.text)
		kind := jsKind(m[1])
		if jsArrow.MatchString(s.text) {
			kind = "func"
		}
		r.add(m[2], kind, file, s)
		if isDeclaration(file) && (kind == "class" || kind == "interface") {
			r.members(m[2], file, s)
		}
	case jsStar.MatchString(s.text):
		follow(jsStar.FindStringSubmatch(s.text)[1])
	case jsRequire.MatchString(s.text):
		follow(jsRequire.FindStringSubmatch(s.text)[1])
	case jsList.MatchString(s.text):
		r.list(file, s)
	case jsCommon.MatchString(s.text):
		name := jsCommon.FindStringSubmatch(s.text)[1]
		r.add(name, "var", file, jsStatement{text: "exports." + name, line: s.line}) // its comment says why it is exported, rarely what it is
	}
}

// list reads "export {a, b as c}". The names of another file of the repository
// are what that file says they are, if it declares them.
func (r *jsExports) list(file string, s jsStatement) {
	var declared []dossier.APISymbol
	if from := jsFrom.FindStringSubmatch(s.text); from != nil {
		if found := r.g.jsImport(file, from[1]); found != "" {
			other := &jsExports{g: r.g, seen: r.seen}
			if !r.seen[found] {
				other.file(found)
			}
			declared = other.symbols
		}
	}
	for _, item := range strings.Split(jsList.FindStringSubmatch(s.text)[1], ",") {
		item = strings.TrimPrefix(strings.TrimSpace(item), "type ")
		original, public, renamed := strings.Cut(item, " as ")
		if !renamed {
			public = original
		}
		public = strings.TrimSpace(public)
		if public == "" || public == "default" {
			continue
		}
		i := slices.IndexFunc(declared, func(d dossier.APISymbol) bool { return d.Name == public })
		if i >= 0 && !renamed {
			r.symbols = append(r.symbols, declared[i])
			continue
		}
		r.add(public, "var", file, jsStatement{text: public, line: s.line})
	}
}

// jsMethod matches a member that can be called; jsHidden those that are not public.
var (
	jsMethod = lazyregexp.New(`^(?:public\s+|static\s+|abstract\s+|async\s+|readonly\s+)*([A-Za-z$][\w$]*)\??\s*(?:[(<]|:\s*(?:<[^>]*>)?\([^()]*\)\s*=>)`)
	jsHidden = lazyregexp.New(`^(private|protected|constructor|get|set)\b`)
)

// members adds the methods that a declared class or interface has.
func (r *jsExports) members(owner, file string, s jsStatement) {
	for _, member := range jsStatements(s.body) {
		m := jsMethod.FindStringSubmatch(member.text)
		if m == nil || jsHidden.MatchString(member.text) {
			continue
		}
		member.line += s.bodyLine - 1
		r.add(owner+"."+m[1], "method", file, member)
	}
}

func (r *jsExports) add(name, kind, file string, s jsStatement) {
	if strings.HasPrefix(name, "_") || slices.ContainsFunc(r.symbols, func(x dossier.APISymbol) bool { return x.Name == name }) {
		return
	}
	signature, _, _ := strings.Cut(s.text, "{")
	if kind == "method" {
		signature = s.text
	}
	if kind == "const" || kind == "var" {
		signature, _, _ = strings.Cut(s.text, "=")
	}
	signature = strings.TrimRight(strings.Join(strings.Fields(signature), " "), " ;=")
	signature = shorten(jsSpace.Replace(jsNoise.ReplaceAllString(signature, "")))
	r.symbols = append(r.symbols, dossier.APISymbol{Name: name, Kind: kind, Signature: signature, Doc: s.doc, Path: file, Line: s.line})
}

// jsNoise is what every declaration of a public name begins with; jsSpace undoes
// the line breaks of long ones.
var (
	jsNoise = lazyregexp.New(`^export (default )?(declare )?`)
	jsSpace = strings.NewReplacer("( ", "(", ", )", ")", " )", ")", "< ", "<")
)

func jsKind(keyword string) string {
	switch {
	case strings.HasSuffix(keyword, "function"):
		return "func"
	case keyword == "let":
		return "var"
	case keyword == "enum":
		return "type"
	}
	return keyword // class, const, var, interface, type
}
