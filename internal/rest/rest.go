// Package rest serves a table of routes: HTTP for people and programs beside MCP.
//
// A [Route] is data besides its handler: path, scope, parameters, bodies. [Handler] serves
// the table, [Document] writes the same table as OpenAPI 3.1, so the description cannot
// differ from what is served. A handler returns an error instead of writing it; [Handler]
// makes a problem document (RFC 9457) of it, in one place. Nothing of a request is echoed
// unless it was checked.
//
// Who asks is found by the front that stands before the handler; scopes are held here,
// route by route.
package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
)

// The scopes of a token that routes ask for.
const (
	ScopeNone = "" // anybody that the front lets through
	ScopeRead = "read"
	ScopeRun  = "run"
)

// Caller is who asks.
type Caller struct {
	Token  string   // the token's name; "" for a local caller
	Scopes []string // nil: all of them
}

// Route is one operation.
type Route struct {
	Method, Path string // Path as in [http.ServeMux], with {names}
	ID           string // operationId: unique, camel case
	Tag          string
	Summary      string
	Scope        string
	Params       []Param
	Body         any // a value of the type of the request's JSON; nil: there is none
	Answers      []Answer
	Problems     []int // statuses of problems beside 401, 403 and 500
	Handle       func(*Request) error
}

// Param is a parameter of the query, the path or a header.
type Param struct {
	Name, In string // In is "path", "query" or "header"
	Type     string // "string", "integer", "date-time"
	Enum     []string
	Doc      string
	Required bool
}

// Answer is a successful answer.
type Answer struct {
	Status int
	Doc    string
	Type   string // media type; "" is JSON
	Body   any    // a value of the type of the JSON; nil for other media types
}

// Request is a request for a route.
type Request struct {
	*http.Request
	W      http.ResponseWriter
	Caller Caller
	End    <-chan struct{} // closed when the server wants long answers to end
	Redact func([]byte) []byte
}

// Options are what a handler needs besides the table.
type Options struct {
	Caller func(*http.Request) Caller // who asks; default: a local caller with all scopes
	Redact func([]byte) []byte        // on every way out; default: nothing is hidden
	End    <-chan struct{}            // closed when long answers are to end
	Log    *slog.Logger
}

// Handler serves the routes. Anything else is a problem of status 404 or 405.
func Handler(routes []Route, o Options) http.Handler {
	if o.Caller == nil {
		o.Caller = func(*http.Request) Caller { return Caller{} }
	}
	if o.Redact == nil {
		o.Redact = func(b []byte) []byte { return b }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	mux := http.NewServeMux()
	methods := map[string][]string{}
	for _, r := range routes {
		methods[r.Path] = append(methods[r.Path], r.Method)
		mux.HandleFunc(r.Method+" "+r.Path, func(w http.ResponseWriter, req *http.Request) { o.serve(r, w, req) })
	}
	for path, served := range methods {
		slices.Sort(served)
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			for _, m := range served {
				w.Header().Add("Allow", m)
			}
			o.problem(w, Problem{Status: http.StatusMethodNotAllowed, Detail: "the path does not have the method"})
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		o.problem(w, Problem{Status: http.StatusNotFound, Detail: "there is nothing at the path"})
	})
	return mux
}

func (o Options) serve(route Route, w http.ResponseWriter, req *http.Request) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	r := &Request{Request: req, W: w, Caller: o.Caller(req), End: o.End, Redact: o.Redact}
	if route.Scope != ScopeNone && r.Caller.Scopes != nil && !slices.Contains(r.Caller.Scopes, route.Scope) {
		o.problem(w, problemOf(fault.New(fault.AuthInsufficientScope, "this needs a token with the scope %s", route.Scope)))
		return
	}
	err := route.Handle(r)
	if err == nil || req.Context().Err() != nil && errors.Is(err, context.Canceled) {
		return
	}
	p := problemOf(err)
	if p.Status == http.StatusInternalServerError {
		o.Log.Error("a request failed", "operation", route.ID, "error", err.Error())
	}
	o.problem(w, p)
}

// JSON answers with a value.
func (r *Request) JSON(status int, v any) error {
	body, err := encode(v)
	if err != nil {
		return err
	}
	body = r.Redact(body)
	r.W.Header().Set("Content-Type", "application/json")
	r.W.Header().Set("Content-Length", strconv.Itoa(len(body)))
	r.W.WriteHeader(status)
	_, _ = r.W.Write(body) // nobody is left to be told that the client is gone
	return nil
}

func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return b.Bytes(), err
}

// Read reads the body, at most limit bytes, into v. An empty body leaves v as it is.
func (r *Request) Read(limit int64, v any) error {
	raw, err := io.ReadAll(http.MaxBytesReader(r.W, r.Body, limit))
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return Problem{Status: http.StatusRequestEntityTooLarge, Detail: fmt.Sprintf("the body is longer than %d bytes", limit)}
	}
	if err != nil {
		return Problem{Status: http.StatusBadRequest, Detail: "the body could not be read"}
	}
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil
	}
	if err := json.Unmarshal(raw, v); err != nil {
		var kind *json.UnmarshalTypeError
		if errors.As(err, &kind) && kind.Field != "" {
			field := kind.Field[strings.LastIndexByte(kind.Field, '.')+1:]
			return Invalid(FieldError{field, "is a " + kind.Value + " and must not be"})
		}
		return Problem{Status: http.StatusBadRequest, Detail: "the body is no JSON object of the right form"}
	}
	return nil
}

// Int reads an integer of the query; byDefault if it is not there.
func (r *Request) Int(name string, byDefault, least, most int64) (int64, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return byDefault, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < least || n > most {
		return 0, Invalid(FieldError{name, fmt.Sprintf("must be a number from %d to %d", least, most)})
	}
	return n, nil
}

// Time reads a time with its zone of the query; zero if it is not there.
func (r *Request) Time(name string) (time.Time, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return time.Time{}, nil
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return at, Invalid(FieldError{name, "must be a time with its zone, such as 2026-11-20T10:00:00Z"})
	}
	return at, nil
}
