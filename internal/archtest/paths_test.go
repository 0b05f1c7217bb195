package archtest

import (
	"go/ast"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// tops are the folders of the checkout whose paths documents may name. They are
// written down: a list read from the tree would not miss a folder that is gone.
var tops = []string{".ci", "artifacts", "cmd", "docs", "internal", "launch", "mcpserver", "runs", "specs", "targets", "telemetry", "validate"}

func TestPathsTargetsAndCommandsNamedInDocumentsExist(t *testing.T) {
	names, err := documents(root())
	if err != nil {
		t.Fatal(err)
	}
	makefile, err := fs.ReadFile(root(), "Makefile")
	if err != nil {
		t.Fatal(err)
	}
	uses := commands(source(t), "cmd/gantry")
	for _, name := range names {
		raw, err := fs.ReadFile(root(), name)
		if err != nil {
			t.Fatal(err)
		}
		report(t, checkDocument(root(), name, string(raw), string(makefile), uses))
	}
}

// commands returns the first words of the commands that a program offers: the
// field Use of its cobra commands, and what cobra adds.
func commands(src *tree, pkg string) []string {
	list := []string{"completion", "help"}
	for _, f := range src.files {
		if f.pkg != pkg || f.test {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if kv, ok := n.(*ast.KeyValueExpr); ok {
				key, named := kv.Key.(*ast.Ident)
				use, isText := kv.Value.(*ast.BasicLit)
				if named && isText && key.Name == "Use" {
					word, _, _ := strings.Cut(strings.Trim(use.Value, "\"`"), " ")
					list = append(list, word)
				}
			}
			return true
		})
	}
	return list
}

// documents returns the documents of the checkout, sorted.
func documents(fsys fs.FS) ([]string, error) {
	var list []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md"} {
		names, err := fs.Glob(fsys, pattern)
		if err != nil {
			return nil, err
		}
		list = append(list, names...)
	}
	slices.Sort(list)
	return list, nil
}

var (
	codeSpan   = regexp.MustCompile("`([^`]+)`")
	link       = regexp.MustCompile(`\]\(([^)#\s]+)(?:#[^)]*)?\)`)
	makeTarget = regexp.MustCompile(`^make ([a-z]+)`)
	command    = regexp.MustCompile(`^(?:bin/)?gantry ([a-z]+)`)
	pathLike   = regexp.MustCompile(`^[A-Za-z0-9_.<>{},*/-]+$`)
	hole       = regexp.MustCompile(`<[^>]*>`)
)

// checkDocument holds what a document names against the tree: paths, make targets
// and commands of the program in code, and where its links lead. <words> in a path
// stand for any name, and {a,b} for each of them.
func checkDocument(fsys fs.FS, name, text, makefile string, uses []string) (problems []string) {
	fenced := false
	for n, line := range lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
			continue
		}
		var code []string
		if fenced {
			code = []string{strings.TrimSpace(line)}
		} else {
			for _, m := range codeSpan.FindAllStringSubmatch(line, -1) {
				code = append(code, m[1])
			}
			for _, m := range link.FindAllStringSubmatch(codeSpan.ReplaceAllString(line, ""), -1) {
				if to := path.Join(path.Dir(name), m[1]); !strings.Contains(m[1], ":") && !exists(fsys, to) {
					problems = append(problems, problem("%s:%d links to %s, which is not there", name, n, m[1]))
				}
			}
		}
		for _, c := range code {
			if m := makeTarget.FindStringSubmatch(c); m != nil && !strings.Contains("\n"+makefile, "\n"+m[1]+":") {
				problems = append(problems, problem("%s:%d names make %s, which the Makefile lacks", name, n, m[1]))
			}
			if m := command.FindStringSubmatch(c); m != nil && !slices.Contains(uses, m[1]) {
				problems = append(problems, problem("%s:%d names gantry %s, which is no command", name, n, m[1]))
			}
			for _, p := range missing(fsys, c) {
				problems = append(problems, problem("%s:%d names %s, which is not there", name, n, p))
			}
		}
	}
	return problems
}

// missing returns the paths of this tree in a piece of code that do not exist.
func missing(fsys fs.FS, code string) (list []string) {
	for _, word := range strings.Fields(code) {
		word = strings.TrimRight(strings.TrimPrefix(word, "./"), ".,;:")
		word = strings.TrimPrefix(strings.TrimSuffix(word, "/"), modulePath+"/")
		word = strings.TrimSuffix(word, "/...")
		top, _, nested := strings.Cut(word, "/")
		if !nested || !slices.Contains(tops, top) || !pathLike.MatchString(word) {
			continue
		}
		for _, p := range braces(hole.ReplaceAllString(word, "*")) {
			if !exists(fsys, p) {
				list = append(list, p)
			}
		}
	}
	return list
}

// exists reports whether the pattern finds a file or a folder.
func exists(fsys fs.FS, pattern string) bool {
	found, err := fs.Glob(fsys, pattern)
	return err == nil && len(found) > 0
}

// braces expands the first {a,b} of a path, and so each that follows.
func braces(p string) []string {
	before, rest, ok := strings.Cut(p, "{")
	choices, after, closed := strings.Cut(rest, "}")
	if !ok || !closed {
		return []string{p}
	}
	var list []string
	for _, c := range strings.Split(choices, ",") {
		list = append(list, braces(before+c+after)...)
	}
	return list
}
