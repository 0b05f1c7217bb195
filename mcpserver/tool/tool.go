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

	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/runs"
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

	// Goes is the run that goes on after the call and that the client may follow by a
	// handle: see [Handles]. Empty: what was asked for is done.
	Goes runs.ID
}

// Texter is an Out that has a short text to stand for it.
type Texter interface{ Text() string }

// Goer is an Out of a call that a run goes on after: see [Result.Goes].
type Goer interface{ Goes() runs.ID }

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
			if g, ok := any(out).(Goer); ok {
				r.Goes = g.Goes()
			}
			return r, nil
		},
	}
}
