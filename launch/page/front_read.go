package page

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/gantry-run/gantry/internal/lazyregexp"
)

// yamlFields reads only the syntax tree, never the values that aliases expand to.
func yamlFields(content []byte) ([]Field, int, error) {
	file, err := parser.ParseBytes(content, 0)
	if err != nil {
		return nil, yamlErrorLine(err), fmt.Errorf("the YAML is not valid: %s", yamlMessage(err))
	}
	if len(file.Docs) > 1 {
		return nil, 1, errors.New("the front matter holds several YAML documents")
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		return nil, 0, nil
	}
	var entries []*ast.MappingValueNode
	switch body := file.Docs[0].Body.(type) {
	case *ast.MappingNode:
		entries = body.Values
	case *ast.MappingValueNode:
		entries = []*ast.MappingValueNode{body}
	case *ast.CommentGroupNode, *ast.NullNode:
	default:
		return nil, 1, errors.New("the front matter is not a mapping of keys to values")
	}
	fields := make([]Field, 0, len(entries))
	for _, entry := range entries {
		key := entry.Key.GetToken()
		kind, text := yamlValue(entry.Value)
		field := Field{Key: key.Value, Line: key.Position.Line, Type: kind, Text: text}
		if list, ok := entry.Value.(*ast.SequenceNode); ok {
			for _, item := range list.Values {
				if _, text := yamlValue(item); text != "" {
					field.Items = append(field.Items, text)
				}
			}
		}
		fields = append(fields, field)
	}
	return fields, 0, nil
}

func yamlValue(n ast.Node) (kind, text string) {
	switch v := n.(type) {
	case nil, *ast.NullNode:
		return Null, ""
	case *ast.StringNode:
		if v.GetToken().Type == token.StringType && dateText.MatchString(v.Value) {
			return Date, v.Value
		}
		return String, v.Value
	case *ast.LiteralNode:
		return String, v.Value.Value
	case *ast.BoolNode:
		return Boolean, v.GetToken().Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return Number, n.GetToken().Value
	case *ast.SequenceNode:
		return List, ""
	case *ast.MappingNode, *ast.MappingValueNode:
		return Map, ""
	case *ast.AnchorNode:
		return yamlValue(v.Value)
	case *ast.TagNode:
		return yamlValue(v.Value)
	}
	return "", ""
}

// yamlError is what the YAML parser's errors have in common.
type yamlError interface {
	error
	GetToken() *token.Token
	GetMessage() string
}

func yamlMessage(err error) string {
	var e yamlError
	if errors.As(err, &e) && e.GetMessage() != "" {
		return e.GetMessage()
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	return first
}

func yamlErrorLine(err error) int {
	var e yamlError
	if errors.As(err, &e) && e.GetToken() != nil && e.GetToken().Position != nil {
		return e.GetToken().Position.Line
	}
	return 1
}

var (
	tomlKey   = lazyregexp.New(`^\s*(?:"([^"]*)"|'([^']*)'|([A-Za-z0-9_-]+))\s*[.=]`)
	tomlTable = lazyregexp.New(`^\s*\[\[?\s*(?:"([^"]*)"|'([^']*)'|([A-Za-z0-9_-]+))`)
)

func tomlFields(content []byte) ([]Field, int, error) {
	var values map[string]any
	meta, err := toml.Decode(string(content), &values)
	if err != nil {
		var e toml.ParseError
		line := 1
		message := err.Error()
		if errors.As(err, &e) {
			line, message = e.Position.Line, e.Message
		}
		return nil, line, fmt.Errorf("the TOML is not valid: %s", message)
	}
	lines := tomlLines(content)
	var fields []Field
	seen := map[string]bool{}
	for _, key := range meta.Keys() {
		if seen[key[0]] {
			continue
		}
		seen[key[0]] = true
		kind, text := plainValue(values[key[0]])
		fields = append(fields, Field{Key: key[0], Line: max(lines[key[0]], 1), Type: kind, Text: text, Items: plainItems(values[key[0]])})
	}
	return fields, 0, nil
}

// tomlLines finds the line of each top-level key. The decoder does not tell.
func tomlLines(content []byte) map[string]int {
	lines := map[string]int{}
	top := true
	for i, line := range strings.Split(string(content), "\n") {
		m := tomlTable.FindStringSubmatch(line)
		if m != nil {
			top = false
		} else if m = tomlKey.FindStringSubmatch(line); m == nil || !top {
			continue
		}
		key := m[1] + m[2] + m[3]
		if lines[key] == 0 {
			lines[key] = i + 1
		}
	}
	return lines
}

func jsonFields(content []byte) ([]Field, int, error) {
	dec := json.NewDecoder(bytes.NewReader(content))
	dec.UseNumber()
	fail := func(err error) ([]Field, int, error) {
		return nil, lineAt(content, int(dec.InputOffset())), fmt.Errorf("the JSON is not valid: %w", err)
	}
	if _, err := dec.Token(); err != nil {
		return fail(err)
	}
	var fields []Field
	seen := map[string]bool{}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return fail(err)
		}
		line := lineAt(content, int(dec.InputOffset()))
		var value any
		if err := dec.Decode(&value); err != nil {
			return fail(err)
		}
		key, _ := name.(string)
		if seen[key] {
			return fail(fmt.Errorf("the key %q stands twice", key))
		}
		seen[key] = true
		kind, text := plainValue(value)
		fields = append(fields, Field{Key: key, Line: line, Type: kind, Text: text, Items: plainItems(value)})
	}
	if _, err := dec.Token(); err != nil && err != io.EOF {
		return fail(err)
	}
	return fields, 0, nil
}

// plainValue names the type of a decoded TOML or JSON value.
func plainValue(v any) (kind, text string) {
	switch v := v.(type) {
	case nil:
		return Null, ""
	case string:
		return String, v
	case bool, int64, float64, json.Number:
		if _, ok := v.(bool); ok {
			return Boolean, fmt.Sprint(v)
		}
		return Number, fmt.Sprint(v)
	case time.Time:
		return Date, v.Format(time.RFC3339)
	case map[string]any:
		return Map, ""
	}
	return List, ""
}

// plainItems returns the scalars of a decoded list.
func plainItems(v any) []string {
	list, _ := v.([]any)
	var items []string
	for _, item := range list {
		if _, text := plainValue(item); text != "" {
			items = append(items, text)
		}
	}
	return items
}
