package specs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// field is one row of a documented schema: a member, or a member of a member.
type field struct {
	path     string // "runs[].run_id", "section_states.*"
	required bool
	form     string // type and bounds in words
	meaning  string
}

// node is the part of JSON Schema that the documentation shows.
type node struct {
	Type                 json.RawMessage   `json:"type"`
	Description          string            `json:"description"`
	Required             []string          `json:"required"`
	Properties           json.RawMessage   `json:"properties"`
	AdditionalProperties json.RawMessage   `json:"additionalProperties"`
	Items                json.RawMessage   `json:"items"`
	Enum                 []json.RawMessage `json:"enum"`
	Const                json.RawMessage   `json:"const"`
	Default              json.RawMessage   `json:"default"`
	Pattern              string            `json:"pattern"`
	Format               string            `json:"format"`
	MinLength            *int              `json:"minLength"`
	MaxLength            *int              `json:"maxLength"`
	MinItems             *int              `json:"minItems"`
	MaxItems             *int              `json:"maxItems"`
	Minimum              *json.Number      `json:"minimum"`
	Maximum              *json.Number      `json:"maximum"`
}

// fieldsOf lists the members of an object schema, in the order of the file.
func fieldsOf(schema []byte) ([]field, error) {
	var n node
	if err := json.Unmarshal(schema, &n); err != nil {
		return nil, err
	}
	return n.fields("")
}

func (n node) fields(prefix string) ([]field, error) {
	members, err := membersOf(n.Properties)
	if err != nil {
		return nil, err
	}
	var rows []field
	for _, m := range members {
		var child node
		if err := json.Unmarshal(m.value, &child); err != nil {
			return nil, err
		}
		row := field{prefix + m.name, slices.Contains(n.Required, m.name), child.form(), child.Description}
		if artifact := artifactOf(m.value); artifact != "" {
			row.form = "the artifact `" + artifact + "`"
			rows = append(rows, row)
			continue
		}
		below, err := child.below(prefix + m.name)
		if err != nil {
			return nil, err
		}
		rows = append(append(rows, row), below...)
	}
	return rows, nil
}

// below lists the members of what a field holds: of itself, of its items, of its values.
func (n node) below(path string) ([]field, error) {
	if n.Properties != nil {
		return n.fields(path + ".")
	}
	raw, suffix := n.Items, "[]"
	if raw == nil {
		raw, suffix = n.AdditionalProperties, ".*"
	}
	var inner node
	if json.Unmarshal(raw, &inner) != nil {
		return nil, nil // true or false, or nothing
	}
	return inner.below(path + suffix)
}

// form says in words what a value looks like.
func (n node) form() string {
	parts := []string{n.kind()}
	if n.Pattern != "" {
		parts = append(parts, "`"+n.Pattern+"`")
	}
	if n.Format != "" {
		parts = append(parts, n.Format)
	}
	parts = append(parts, span(n.MinLength, n.MaxLength, "characters"), span(n.MinItems, n.MaxItems, "items"), span(n.Minimum, n.Maximum, ""))
	if n.Default != nil {
		parts = append(parts, "default `"+string(n.Default)+"`")
	}
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), ", ")
}

func (n node) kind() string {
	switch {
	case n.Const != nil:
		return "`" + string(n.Const) + "`"
	case n.Enum != nil:
		return "one of " + alternatives(n.Enum)
	case n.Items != nil:
		var item node
		if json.Unmarshal(n.Items, &item) == nil && item.Properties == nil {
			return "array of " + item.kind()
		}
		return "array"
	}
	if values := (node{}); n.Properties == nil && json.Unmarshal(n.AdditionalProperties, &values) == nil {
		return "object, each value " + values.kind()
	}
	return typeName(n.Type)
}

func alternatives(values []json.RawMessage) string {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = "`" + strings.Trim(string(v), `"`) + "`"
	}
	return strings.Join(words, ", ")
}

func typeName(raw json.RawMessage) string {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return one
	}
	var several []string
	if json.Unmarshal(raw, &several) == nil {
		return strings.Join(several, " or ")
	}
	return "any"
}

// span says between which bounds a number or a length lies; "" for no bounds.
func span[N any](lo, hi *N, unit string) string {
	var text string
	switch {
	case lo != nil && hi != nil:
		text = fmt.Sprintf("%v to %v", *lo, *hi)
	case lo != nil:
		text = fmt.Sprintf("at least %v", *lo)
	case hi != nil:
		text = fmt.Sprintf("at most %v", *hi)
	default:
		return ""
	}
	return strings.TrimSpace(text + " " + unit)
}

// artifactOf returns the name of the artifact whose schema this is, or "".
func artifactOf(schema json.RawMessage) string {
	want := compact(schema)
	for _, a := range Artifacts() {
		if raw, _ := ArtifactSchema(a.Name); raw != nil && bytes.Equal(compact(raw), want) {
			return a.Name
		}
	}
	return ""
}

func compact(raw []byte) []byte {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}

type member struct {
	name  string
	value json.RawMessage
}

// membersOf returns the members of an object in their order.
func membersOf(object json.RawMessage) ([]member, error) {
	if object == nil {
		return nil, nil
	}
	dec := json.NewDecoder(bytes.NewReader(object))
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	var members []member
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		members = append(members, member{fmt.Sprint(name), value})
	}
	return members, nil
}
