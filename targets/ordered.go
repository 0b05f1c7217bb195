package targets

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Files list their targets in an order that a map would lose. These are readers that
// keep it.

type jsonMember struct {
	name  string
	value json.RawMessage
}

var errNotObject = errors.New("it is not an object")

// jsonMembers returns the members of an object in their order; of two with one name the
// last value counts, at the place of the first. Nothing, and null, have none.
func jsonMembers(raw json.RawMessage) ([]jsonMember, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, errNotObject
	}
	var members []jsonMember
	at := map[string]int{}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		m := jsonMember{name: fmt.Sprint(key)}
		if err := dec.Decode(&m.value); err != nil {
			return nil, err
		}
		if i, again := at[m.name]; again {
			members[i] = m
			continue
		}
		at[m.name] = len(members)
		members = append(members, m)
	}
	return members, nil
}

// yamlEntry is one key of a YAML mapping.
type yamlEntry struct {
	name  string
	value ast.Node
}

// yamlDocument returns the first document of a YAML file. Aliases are never expanded.
func yamlDocument(text string) (ast.Node, error) {
	file, err := parser.ParseBytes([]byte(text), 0)
	if err != nil {
		return nil, yamlFault(err)
	}
	for _, d := range file.Docs {
		if d.Body != nil {
			if _, comment := d.Body.(*ast.CommentGroupNode); !comment {
				return d.Body, nil
			}
		}
	}
	return nil, nil
}

// yamlFault says in one line why YAML does not parse.
func yamlFault(err error) error {
	var e interface {
		GetToken() *token.Token
		GetMessage() string
	}
	if errors.As(err, &e) && e.GetMessage() != "" && e.GetToken() != nil && e.GetToken().Position != nil {
		return fmt.Errorf("the YAML is not valid: line %d: %s", e.GetToken().Position.Line, e.GetMessage())
	}
	line, _, _ := strings.Cut(err.Error(), "\n")
	return fmt.Errorf("the YAML is not valid: %s", line)
}

// yamlEntries returns the entries of a mapping in their order, and whether it is one.
// Nothing is an empty mapping.
func yamlEntries(n ast.Node) ([]yamlEntry, bool) {
	var values []*ast.MappingValueNode
	switch n := bare(n).(type) {
	case nil, *ast.NullNode:
		return nil, true
	case *ast.MappingNode:
		values = n.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{n}
	default:
		return nil, false
	}
	var entries []yamlEntry
	for _, v := range values {
		if v.Key != nil && v.Key.GetToken() != nil && v.Key.Type() != ast.MergeKeyType {
			entries = append(entries, yamlEntry{v.Key.GetToken().Value, v.Value})
		}
	}
	return entries, true
}

// yamlGet returns the value of a key of a mapping, or nil.
func yamlGet(n ast.Node, key string) ast.Node {
	entries, _ := yamlEntries(n)
	for _, e := range entries {
		if e.name == key {
			return bare(e.value)
		}
	}
	return nil
}

// yamlText returns the text of a scalar, and whether it is one.
func yamlText(n ast.Node) (string, bool) {
	switch n := bare(n).(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	case *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode:
		return n.GetToken().Value, true
	}
	return "", false
}

// yamlItems returns the items of a sequence, and whether it is one.
func yamlItems(n ast.Node) ([]ast.Node, bool) {
	list, ok := bare(n).(*ast.SequenceNode)
	if !ok {
		return nil, false
	}
	return list.Values, true
}

// bare takes anchors and tags off a node.
func bare(n ast.Node) ast.Node {
	for {
		switch outer := n.(type) {
		case *ast.AnchorNode:
			n = outer.Value
		case *ast.TagNode:
			n = outer.Value
		default:
			return n
		}
	}
}

// tomlFault says in one line why TOML does not parse.
func tomlFault(err error) error {
	var e toml.ParseError
	if errors.As(err, &e) {
		return fmt.Errorf("the TOML is not valid: line %d: %s", e.Position.Line, e.Message)
	}
	return fmt.Errorf("the TOML is not valid: %v", err)
}

// tomlNames returns the keys of a table, in their order.
func tomlNames(meta toml.MetaData, table ...string) []string {
	var names []string
	seen := map[string]bool{}
	for _, key := range meta.Keys() {
		if len(key) > len(table) && equalKeys(key[:len(table)], table) && !seen[key[len(table)]] {
			seen[key[len(table)]] = true
			names = append(names, key[len(table)])
		}
	}
	return names
}

func equalKeys(a toml.Key, b []string) bool {
	for i := range b {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
