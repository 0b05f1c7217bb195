// Package tool says what a tool is: its specification and a typed handler.
//
// The specification (specs/tools) is the contract, so a handler parses nothing: its
// arguments have been checked when it is called, and its In and Out structs are held
// against the schemas by [Tool.Mismatch]. A handler calls the domain and returns; what a
// failure looks like on the wire is decided elsewhere.
package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/specs"
	"github.com/gantry-run/gantry/validate"
)

// Tool is one tool: everything the server needs to offer it.
type Tool struct {
	Spec specs.Tool

	// Handle answers a call that the guards let pass, with a JSON object and, for
	// results whose bulk is content, a short text that stands for them.
	Handle func(ctx context.Context, c *guard.Call) (Result, error)

	in, out reflect.Type
}

// Result is what a tool answers.
type Result struct {
	JSON json.RawMessage
	Text string // for people; empty: the JSON itself
}

// Texter is an Out that has a short text to stand for it.
type Texter interface{ Text() string }

// New returns the tool that a specification and a handler make.
func New[In, Out any](spec specs.Tool, h func(context.Context, *guard.Call, In) (Out, error)) Tool {
	return Tool{
		Spec: spec, in: reflect.TypeFor[In](), out: reflect.TypeFor[Out](),
		Handle: func(ctx context.Context, c *guard.Call) (Result, error) {
			var in In
			if err := validate.Decode(c.Arguments, &in); err != nil {
				return Result{}, err // a number such as 50.0, which is an integer to the schema
			}
			out, err := h(ctx, c, in)
			if err != nil {
				return Result{}, err
			}
			raw, err := json.Marshal(out)
			if err != nil {
				return Result{}, fmt.Errorf("encode the result of %s: %w", spec.Name, err)
			}
			r := Result{JSON: raw}
			if t, ok := any(out).(Texter); ok {
				r.Text = t.Text()
			}
			return r, nil
		},
	}
}

// Mismatch returns how the fields of In and Out differ from the properties of the
// schemas, both ways, a sentence for each difference.
func (t Tool) Mismatch() []string {
	var out []string
	for _, side := range []struct {
		what   string
		schema json.RawMessage
		fields []string
	}{
		{"input", t.Spec.Input, fields(t.in)}, {"output", t.Spec.Output, fields(t.out)},
	} {
		var s struct {
			Properties map[string]json.RawMessage `json:"properties"`
		}
		if err := json.Unmarshal(side.schema, &s); err != nil {
			return []string{side.what + ": " + err.Error()}
		}
		for name := range s.Properties {
			key := slices.Contains(t.Spec.Idempotency, name) // the guard reads it
			if !key && !slices.Contains(side.fields, name) {
				out = append(out, side.what+" schema has "+name+", the struct does not")
			}
		}
		for _, name := range side.fields {
			if _, ok := s.Properties[name]; !ok {
				out = append(out, side.what+" struct has "+name+", the schema does not")
			}
		}
	}
	slices.Sort(out)
	return out
}

// fields returns the JSON names of a struct's fields, those of embedded structs
// included.
func fields(t reflect.Type) []string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	var out []string
	for f := range fieldsOf(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported() && !f.Anonymous:
		case f.Anonymous && name == "":
			out = append(out, fields(f.Type)...)
		default:
			out = append(out, name)
		}
	}
	return out
}

func fieldsOf(t reflect.Type) func(func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		if t.Kind() != reflect.Struct {
			return
		}
		for i := range t.NumField() {
			if !yield(t.Field(i)) {
				return
			}
		}
	}
}
