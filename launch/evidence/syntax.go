package evidence

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	goparser "go/parser"
	"go/token"
	"io"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/goccy/go-yaml/parser"

	"github.com/gantry-run/gantry/internal/lazyregexp"
)

const (
	valid     = "valid"
	invalid   = "invalid"
	unchecked = "unchecked"
)

// checkSyntax parses a snippet of a language that has a parser here. Nothing is
// executed. The problem is the parser's first line.
func checkSyntax(lang, content string) (syntax, problem string) {
	check := map[string]func(string) error{
		"go": goSyntax, "golang": goSyntax, "json": jsonSyntax, "yaml": yamlSyntax, "yml": yamlSyntax,
		"toml": tomlSyntax, "xml": xmlSyntax,
	}[lang]
	if check == nil || deeplyNested(content) {
		return unchecked, ""
	}
	if err := guarded(check, content); err != nil {
		line, _, _ := strings.Cut(err.Error(), "\n")
		return invalid, strings.ToValidUTF8(line[:min(len(line), 200)], "")
	}
	return valid, ""
}

// guarded turns a parser's panic into an error.
func guarded(check func(string) error, content string) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the parser failed: %v", r)
		}
	}()
	return check(content)
}

// deeplyNested reports brackets or indents beyond what a person writes: parsers recurse.
func deeplyNested(content string) bool {
	depth := 0
	for _, c := range content {
		switch c {
		case '[', '{', '(':
			depth++
		case ']', '}', ')':
			depth = max(depth-1, 0)
		}
		if depth > 200 {
			return true
		}
	}
	for line := range strings.Lines(content) {
		if indent(line) > 400 || strings.Count(line, "- ") > 200 {
			return true
		}
	}
	return false
}

var goImports = lazyregexp.New(`(?s)^(\s*(?://[^\n]*\n\s*)*import\s+(?:\([^)]*\)|(?:\w+\s+)?"[^"]*")\s*)`)

// goSyntax accepts a file, declarations, statements, and imports followed by either.
func goSyntax(content string) error {
	parse := func(src string) error {
		_, err := goparser.ParseFile(token.NewFileSet(), "", src, goparser.SkipObjectResolution)
		return err
	}
	err := parse(content)
	if err == nil {
		return nil
	}
	if parse("package p\n"+content) == nil || parse("package p\nfunc _() {\n"+content+"\n}") == nil {
		return nil
	}
	head, body := "", content
	for m := goImports.FindString(body); m != ""; m = goImports.FindString(body) {
		head, body = head+m, body[len(m):]
	}
	if head != "" && parse("package p\n"+head+"\nfunc _() {\n"+body+"\n}") == nil {
		return nil
	}
	return err
}

// jsonSyntax accepts one document or several after one another.
func jsonSyntax(content string) error {
	dec := json.NewDecoder(strings.NewReader(content))
	for {
		var v json.RawMessage
		if err := dec.Decode(&v); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

func yamlSyntax(content string) error {
	_, err := parser.ParseBytes([]byte(content), 0)
	if err != nil {
		line, _, _ := strings.Cut(err.Error(), "\n")
		return errors.New(line)
	}
	return nil
}

func tomlSyntax(content string) error {
	var v map[string]any
	_, err := toml.Decode(content, &v)
	return err
}

func xmlSyntax(content string) error {
	dec := xml.NewDecoder(strings.NewReader(content))
	dec.CharsetReader = func(_ string, input io.Reader) (io.Reader, error) { return input, nil }
	for {
		if _, err := dec.Token(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}
