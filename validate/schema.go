package validate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/gantry-run/gantry/internal/fault"
)

// Schema is a compiled JSON Schema. It may be used by several goroutines at once.
type Schema struct {
	name     string
	compiled *jsonschema.Schema
	source   any // the schema as a tree: says which members an object may have
}

// Compile compiles a schema of draft 2020-12. Formats are asserted; a reference
// that leads out of raw is an error. The name appears in errors only.
func Compile(name string, raw []byte) (*Schema, error) {
	c := jsonschema.NewCompiler()
	c.Draft = jsonschema.Draft2020
	c.AssertFormat = true
	c.LoadURL = func(url string) (io.ReadCloser, error) {
		return nil, fmt.Errorf("the reference %q leads out of the schema", url)
	}
	const url = "mem:///schema.json"
	if err := c.AddResource(url, bytes.NewReader(raw)); err != nil {
		return nil, fmt.Errorf("schema %s: %w", name, err)
	}
	compiled, err := c.Compile(url)
	if err != nil {
		return nil, fmt.Errorf("schema %s: %w", name, err)
	}
	source, err := decode(raw)
	if err != nil {
		return nil, fmt.Errorf("schema %s: %w", name, err)
	}
	return &Schema{name, compiled, source}, nil
}

// Check checks a JSON value. It returns no problems when the value obeys the
// schema. Numbers are compared exactly, whatever their size. The error is
// SCHEMA_VALIDATION_FAILED when raw is not one JSON value.
func (s *Schema) Check(raw json.RawMessage) ([]Problem, error) {
	value, err := decode(raw)
	if err != nil {
		return nil, err
	}
	if problems := hugeNumbers(value); len(problems) > 0 {
		return arrange(problems), nil
	}
	err = s.compiled.Validate(value)
	var invalid *jsonschema.ValidationError
	switch {
	case err == nil:
		return nil, nil
	case errors.As(err, &invalid):
		return arrange(s.problems(invalid, value)), nil
	}
	return nil, fmt.Errorf("validate against %s: %w", s.name, err)
}

func decode(raw json.RawMessage) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var value any
	if err := dec.Decode(&value); err != nil {
		return nil, fault.New(fault.SchemaValidationFailed, "not valid JSON").Because(err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fault.New(fault.SchemaValidationFailed, "more than one JSON value")
	}
	return value, nil
}

// Bounds of a number: a longer or larger one costs exact arithmetic without
// limit, and none of ours is near them.
const (
	maxDigits   = 64
	maxExponent = 400
)

// hugeNumbers returns the numbers that are refused before any schema sees them.
func hugeNumbers(value any) []Problem {
	var found []Problem
	var walk func(at string, v any)
	walk = func(at string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for key, member := range v {
				walk(at+"/"+escapePointer(key), member)
			}
		case []any:
			for i, item := range v {
				walk(at+"/"+strconv.Itoa(i), item)
			}
		case json.Number:
			if huge(v.String()) {
				found = append(found, Problem{at, "type", "the number has too many digits or too large an exponent"})
			}
		}
	}
	walk("", value)
	return found
}

func huge(number string) bool {
	mantissa, exponent, has := strings.Cut(strings.ToLower(number), "e")
	if len(mantissa) > maxDigits {
		return true
	}
	if !has {
		return false
	}
	n, err := strconv.Atoi(exponent)
	return err != nil || n > maxExponent || n < -maxExponent
}
