package taskcards

import (
	"bytes"
	"errors"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

const (
	maxFront   = 64 << 10 // bytes
	maxNesting = 32       // brackets open at once, and indicators at a line's start
)

// The kinds of a value. A date is what YAML reads as one, which is no string.
const (
	kindString = "a string"
	kindDate   = "a date"
	kindList   = "a list"
	kindMap    = "a mapping"
	kindNull   = "empty"
	kindOther  = "no string"
)

// value is one value of the front matter.
type value struct {
	kind  string
	text  string  // of a string
	items []value // of a list
	line  int
}

// front is a card's front matter.
type front struct {
	fields map[string]value
	body   int    // line of the first line after it
	why    string // why it cannot be read; fields is then empty
	line   int    // where
}

func (f front) field(key string) (value, bool) {
	v, ok := f.fields[key]
	return v, ok
}

// readFront reads the mapping between two lines "---", of which the first is the
// first of the file.
func readFront(src []byte) front {
	lines := strings.Split(strings.TrimPrefix(string(src), "\ufeff"), "\n")
	if !isMark(lines[0]) {
		return front{body: 1, why: "the first line is not ---", line: 1}
	}
	for i, line := range lines[1:] {
		if !isMark(line) {
			continue
		}
		f := front{body: i + 3}
		f.fields, f.line, f.why = parse(strings.ReplaceAll(strings.Join(lines[1:i+1], "\n"), "\r", "") + "\n")
		return f
	}
	return front{body: 1, why: "no line --- closes it", line: 1}
}

func isMark(line string) bool { return strings.TrimRight(line, " \t\r") == "---" }

// parse reads the YAML, of which the first line is line 2 of the file.
func parse(text string) (fields map[string]value, line int, why string) {
	defer func() {
		if recover() != nil { // a parser that gives up is front matter that cannot be read
			fields, line, why = nil, 2, "the YAML cannot be read"
		}
	}()
	if line, why := tooMuch(text); why != "" {
		return nil, line, why
	}
	file, err := parser.ParseBytes([]byte(text), 0)
	if err != nil {
		line, why := yamlError(err)
		return nil, line, "the YAML is not valid: " + why
	}
	if len(file.Docs) != 1 || file.Docs[0].Body == nil {
		return nil, 2, "it is not one mapping"
	}
	var entries []*ast.MappingValueNode
	switch body := file.Docs[0].Body.(type) {
	case *ast.MappingNode:
		entries = body.Values
	case *ast.MappingValueNode:
		entries = []*ast.MappingValueNode{body}
	default:
		return nil, 2, "it is not one mapping"
	}
	fields = map[string]value{}
	for _, entry := range entries {
		key := entry.Key.GetToken()
		if _, twice := fields[key.Value]; twice {
			return nil, key.Position.Line + 1, "a key stands twice"
		}
		v := valueOf(entry.Value)
		v.line = key.Position.Line + 1
		fields[key.Value] = v
	}
	return fields, 0, ""
}

// tooMuch says why a parser should not see the text.
func tooMuch(text string) (int, string) {
	if len(text) > maxFront {
		return 1, "it is too large"
	}
	open, line := 0, 2
	for _, c := range text {
		switch c {
		case '\n':
			line++
		case '[', '{':
			open++
		case ']', '}':
			open--
		}
		if open > maxNesting {
			return line, "it nests too deeply"
		}
	}
	line = 2
	for row := range strings.Lines(text) {
		rest := strings.TrimLeft(row, " \t-?:&*!|>")
		if strings.Count(row[:len(row)-len(rest)], "- ")+strings.Count(row[:len(row)-len(rest)], "? ") > maxNesting {
			return line, "it nests too deeply"
		}
		line++
	}
	return 0, ""
}

// valueOf reads a node. It follows no alias.
func valueOf(n ast.Node) value {
	v := value{kind: kindOther}
	if n == nil {
		return value{kind: kindNull}
	}
	if t := n.GetToken(); t != nil && t.Position != nil {
		v.line = t.Position.Line + 1
	}
	switch n := n.(type) {
	case *ast.NullNode:
		v.kind = kindNull
	case *ast.StringNode:
		v.kind, v.text = kindString, n.Value
		if n.GetToken().Type == token.StringType && timestamp.MatchString(n.Value) {
			v.kind = kindDate
		}
	case *ast.LiteralNode:
		v.kind, v.text = kindString, n.Value.Value
	case *ast.SequenceNode:
		v.kind = kindList
		for _, item := range n.Values {
			v.items = append(v.items, valueOf(item))
		}
	case *ast.MappingNode, *ast.MappingValueNode:
		v.kind = kindMap
	case *ast.AnchorNode:
		return valueOf(n.Value)
	case *ast.TagNode:
		inner := valueOf(n.Value)
		if n.Start.Value == "!!str" && inner.kind == kindDate {
			inner.kind = kindString
		}
		return inner
	}
	return v
}

// yamlError takes the line and the sentence out of the parser's error, which also
// holds a drawing of the source.
func yamlError(err error) (int, string) {
	var e interface {
		error
		GetToken() *token.Token
		GetMessage() string
	}
	line, text := 2, err.Error()
	if errors.As(err, &e) {
		if t := e.GetToken(); t != nil && t.Position != nil {
			line = t.Position.Line + 1
		}
		if e.GetMessage() != "" {
			text = e.GetMessage()
		}
	}
	first, _, _ := bytes.Cut([]byte(text), []byte("\n"))
	return line, clip(string(first), 200)
}
