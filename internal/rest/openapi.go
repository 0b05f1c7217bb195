package rest

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Info describes an API as a whole.
type Info struct{ Title, Version, Description string }

// object is a JSON object of the document: it is written with sorted members.
type object = map[string]any

// Document returns the routes as an OpenAPI 3.1 document, the same bytes for the same
// table. A problem of any status has the schema Problem.
func Document(info Info, routes []Route) ([]byte, error) {
	s := schemas{}
	s.of(reflect.TypeFor[Problem]())
	paths := map[string]object{}
	for _, r := range routes {
		path := strings.ReplaceAll(r.Path, "...}", "}")
		if paths[path] == nil {
			paths[path] = object{}
		}
		paths[path][strings.ToLower(r.Method)] = s.operation(r)
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(object{
		"openapi": "3.1.0",
		"info":    object{"title": info.Title, "version": info.Version, "description": info.Description},
		"paths":   paths,
		"components": object{
			"schemas":         s,
			"securitySchemes": object{"bearer": object{"type": "http", "scheme": "bearer"}},
		},
	})
	return out.Bytes(), err
}

func (s schemas) operation(r Route) object {
	op := object{"operationId": r.ID, "summary": r.Summary, "tags": []string{r.Tag}, "responses": s.responses(r)}
	if r.Scope != ScopeNone {
		op["security"] = []object{{"bearer": []string{r.Scope}}}
		op["description"] = "Needs a token with the scope " + r.Scope + "."
	} else {
		op["security"] = []object{}
	}
	if len(r.Params) > 0 {
		op["parameters"] = parameters(r.Params)
	}
	if r.Body != nil {
		op["requestBody"] = object{"required": true, "content": object{"application/json": object{"schema": s.of(reflect.TypeOf(r.Body))}}}
	}
	return op
}

func parameters(params []Param) (out []object) {
	for _, p := range params {
		schema := object{"type": p.Type}
		if p.Type == "date-time" {
			schema = object{"type": "string", "format": p.Type}
		}
		if len(p.Enum) > 0 {
			schema["enum"] = p.Enum
		}
		out = append(out, object{"name": p.Name, "in": p.In, "required": p.Required || p.In == "path", "description": p.Doc, "schema": schema})
	}
	return out
}

func (s schemas) responses(r Route) object {
	out := object{}
	statuses := slices.Clone(r.Problems)
	if r.Scope != ScopeNone {
		statuses = append(statuses, http.StatusForbidden)
		out[strconv.Itoa(http.StatusUnauthorized)] = object{"description": "No token, or an unknown one: a JSON-RPC error, which the front of all paths answers."}
	}
	for _, status := range append(statuses, http.StatusInternalServerError) {
		out[strconv.Itoa(status)] = object{
			"description": http.StatusText(status),
			"content":     object{"application/problem+json": object{"schema": s.of(reflect.TypeFor[Problem]())}},
		}
	}
	for _, a := range r.Answers {
		answer := object{"description": a.Doc}
		code := strconv.Itoa(a.Status)
		content := object{}
		if old, ok := out[code].(object); ok { // the same status in another media type
			content, _ = old["content"].(object)
			answer["description"] = old["description"].(string) + " " + a.Doc
		}
		switch {
		case a.Body != nil:
			content["application/json"] = object{"schema": s.of(reflect.TypeOf(a.Body))}
		case a.Type != "":
			content[a.Type] = object{"schema": object{"type": "string"}}
		}
		if len(content) > 0 {
			answer["content"] = content
		}
		out[code] = answer
	}
	return out
}

// schemas are the named types of the bodies, by name.
type schemas map[string]object

// of returns the schema of a type; that of a named struct is a reference.
func (s schemas) of(t reflect.Type) object {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	case t == reflect.TypeFor[json.RawMessage]():
		return object{"type": "object"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return s.of(t.Elem())
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Int, reflect.Int64, reflect.Int32:
		return object{"type": "integer"}
	case reflect.Float64:
		return object{"type": "number"}
	case reflect.Slice:
		return object{"type": "array", "items": s.of(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": s.of(t.Elem())}
	case reflect.Struct:
		if t.Name() == "" {
			return s.structure(t)
		}
		name := strings.ToUpper(t.Name()[:1]) + t.Name()[1:]
		if _, ok := s[name]; !ok {
			s[name] = object{} // ends a recursion
			s[name] = s.structure(t)
		}
		return object{"$ref": "#/components/schemas/" + name}
	case reflect.Interface:
		return object{}
	}
	return object{"type": "string"}
}

// structure returns the schema of a struct by its json tags; a doc tag describes a member.
func (s schemas) structure(t reflect.Type) object {
	properties, required := object{}, []string{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			inner := s.structure(f.Type)
			maps.Copy(properties, inner["properties"].(object))
			if of, ok := inner["required"].([]string); ok {
				required = append(required, of...)
			}
			continue
		case !f.IsExported() || name == "-" || name == "":
			continue
		}
		schema := s.of(f.Type)
		if doc := f.Tag.Get("doc"); doc != "" {
			schema = maps.Clone(schema)
			schema["description"] = doc
		}
		properties[name] = schema
		if !strings.Contains(options, "omit") {
			required = append(required, name)
		}
	}
	out := object{"type": "object", "properties": properties}
	if len(required) > 0 {
		slices.Sort(required)
		out["required"] = required
	}
	return out
}
