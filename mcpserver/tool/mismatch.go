package tool

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

// Mismatch returns how In and Out differ from the schemas, a sentence for each
// difference: a field without its property, a property without its field, at any
// depth, and a required property of the result that the struct may leave out. The
// arguments that carry the idempotency key are the guard's.
func (t Tool) Mismatch() []string {
	in := compare("input", t.Spec.Input, t.in, t.Spec.Idempotency)
	out := compare("output", t.Spec.Output, t.out, nil)
	out = append(out, omitted("output", t.Spec.Output, t.out)...)
	all := append(in, out...)
	slices.Sort(all)
	return all
}

// schema is what is compared of a JSON Schema.
type schema struct {
	Properties map[string]json.RawMessage `json:"properties"`
	Required   []string                   `json:"required"`
	Items      json.RawMessage            `json:"items"`
	Additional json.RawMessage            `json:"additionalProperties"`
}

// compare compares a type with its schema. A type that encodes itself, and an object
// whose members the schema does not name, are beyond comparison.
func compare(at string, raw json.RawMessage, t reflect.Type, skip []string) []string {
	var s schema
	if len(raw) == 0 || json.Unmarshal(raw, &s) != nil { // true and false are schemas too
		return nil
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case encodesItself(t):
		return nil
	case t.Kind() == reflect.Slice:
		return compare(at+"[]", s.Items, t.Elem(), nil)
	case t.Kind() == reflect.Map:
		return compare(at+".*", s.Additional, t.Elem(), nil)
	case t.Kind() != reflect.Struct || s.Properties == nil:
		return nil
	}
	var out []string
	fields := members(t)
	for name, property := range s.Properties {
		f, ok := fields[name]
		switch {
		case ok:
			out = append(out, compare(at+"."+name, property, f.kind, nil)...)
		case !slices.Contains(skip, name):
			out = append(out, at+" schema has "+name+", the struct does not")
		}
	}
	for name := range fields {
		if _, ok := s.Properties[name]; !ok {
			out = append(out, at+" struct has "+name+", the schema does not")
		}
	}
	return out
}

// omitted returns the required members of the result itself that the struct may
// leave out.
func omitted(at string, raw json.RawMessage, t reflect.Type) []string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	var s schema
	if json.Unmarshal(raw, &s) != nil || t.Kind() != reflect.Struct {
		return nil
	}
	var out []string
	for name, f := range members(t) {
		if f.omits && slices.Contains(s.Required, name) {
			out = append(out, at+" struct may leave out "+name+", the schema requires it")
		}
	}
	return out
}

func encodesItself(t reflect.Type) bool {
	marshaler := reflect.TypeFor[json.Marshaler]()
	return t.Implements(marshaler) || reflect.PointerTo(t).Implements(marshaler)
}

// field is a member of a struct's JSON.
type field struct {
	kind  reflect.Type
	omits bool
}

// members returns the members of a struct's JSON by name, those of embedded structs
// included.
func members(t reflect.Type) map[string]field {
	out := map[string]field{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		embedded := f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct
		switch {
		case embedded:
			for name, inner := range members(f.Type) {
				if _, hidden := out[name]; !hidden {
					out[name] = inner
				}
			}
		case name == "-" || !f.IsExported():
		default:
			if name == "" {
				name = f.Name
			}
			out[name] = field{f.Type, strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero")}
		}
	}
	return out
}
