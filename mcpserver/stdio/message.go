package stdio

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/gantry-run/gantry/validate"
)

// kind is what a line is.
type kind int

const (
	aCall         kind = iota // a request with an id
	aNotification             // a request without one
	anAnswer                  // the client's answer to a call of the server
	nothing                   // a malformed answer, to be dropped
)

// message is one well-formed line.
type message struct {
	kind   kind
	id     requestID // of a call or an answer
	method string
	params json.RawMessage // an object, or nil
	result json.RawMessage // of an answer
	failed *jsonrpc.Error  // of an answer
}

// refusal is why a line is no message, and what to answer.
type refusal struct {
	id   json.RawMessage
	code int64
	text string
}

// decode judges one line that is not blank.
func decode(line []byte, depth int) (message, *refusal) {
	if err := validate.Strict(line, validate.Limits{Depth: depth}); err != nil {
		return message{}, refuseText(line, err)
	}
	switch line[0] {
	case '{':
	case '[':
		return message{}, &refusal{null, jsonrpc.CodeInvalidRequest, "batching not supported: send one message a line"}
	default:
		return message{}, &refusal{null, jsonrpc.CodeInvalidRequest, "invalid request: a message is a JSON object"}
	}
	return readEnvelope(line).message()
}

// refuseText explains what [validate.Strict] found. A broken syntax leaves no id
// to trust; after the other faults the id is looked for.
func refuseText(line []byte, err error) *refusal {
	var fault *validate.StrictError
	if !errors.As(err, &fault) {
		return &refusal{null, jsonrpc.CodeParseError, "parse error"}
	}
	switch fault.Kind {
	case validate.StrictSyntax:
		return &refusal{null, jsonrpc.CodeParseError, "parse error: " + fault.Error()}
	case validate.StrictUTF8:
		return &refusal{findID(line), jsonrpc.CodeParseError, "parse error: " + fault.Error()}
	}
	return &refusal{findID(line), jsonrpc.CodeInvalidRequest, "invalid request: " + fault.Error()}
}

// findID returns the id of a message that is refused as a whole: the only "id"
// member, if it is a valid id, else null.
func findID(line []byte) json.RawMessage {
	found, count := null, 0
	whole := members(line, func(name, value []byte) {
		if string(name) == "id" {
			count++
			if _, ok := parseID(value); ok && utf8.Valid(value) {
				found = value
			}
		}
	})
	if !whole || count != 1 {
		return null
	}
	return found
}

// envelope is the members of a message; nil is absent.
type envelope struct {
	jsonrpc, id, method, params, result, failed []byte
	unknown                                     []byte // the name of one that JSON-RPC does not have
}

func readEnvelope(line []byte) (e envelope) {
	members(line, func(name, value []byte) {
		plain := string(name)
		if bytes.IndexByte(name, '\\') >= 0 {
			plain, _ = unquote([]byte(`"` + plain + `"`))
		}
		switch plain { // exact: nothing folds to these names
		case "jsonrpc":
			e.jsonrpc = value
		case "id":
			e.id = value
		case "method":
			e.method = value
		case "params":
			e.params = value
		case "result":
			e.result = value
		case "error":
			e.failed = value
		default:
			e.unknown = []byte(plain)
		}
	})
	return e
}

// message checks the envelope.
func (e envelope) message() (message, *refusal) {
	if e.method == nil && (e.result != nil || e.failed != nil) {
		return e.answer(), nil
	}
	m := message{kind: aNotification}
	id := null
	if e.id != nil {
		var ok bool
		if m.id, ok = parseID(e.id); !ok {
			return m, &refusal{null, jsonrpc.CodeInvalidRequest, "invalid request: id must be a string, or an integer of 64 bits"}
		}
		m.kind, id = aCall, m.id.text
	}
	invalid := func(format string, args ...any) (message, *refusal) {
		return m, &refusal{id, jsonrpc.CodeInvalidRequest, "invalid request: " + fmt.Sprintf(format, args...)}
	}
	if version, _ := unquote(e.jsonrpc); version != "2.0" {
		return invalid(`jsonrpc must be "2.0"`)
	}
	if e.unknown != nil {
		return invalid("unknown member %q", clip(string(e.unknown), maxEcho))
	}
	if e.result != nil || e.failed != nil {
		return invalid("a request has no result and no error")
	}
	if m.method, _ = unquote(e.method); m.method == "" {
		return invalid("method must be a string that is not empty")
	}
	switch {
	case e.params == nil || string(e.params) == "null":
	case e.params[0] == '{':
		m.params = e.params
	default:
		return m, &refusal{id, jsonrpc.CodeInvalidParams, "invalid params: params must be an object"}
	}
	return m, nil
}

// answer reads a message with a result or an error and without a method.
func (e envelope) answer() message {
	m := message{kind: anAnswer, result: e.result}
	version, _ := unquote(e.jsonrpc)
	id, ok := parseID(e.id)
	if !ok || version != "2.0" || e.unknown != nil || e.params != nil || (e.result != nil) == (e.failed != nil) {
		return message{kind: nothing}
	}
	if m.id = id; e.failed != nil && json.Unmarshal(e.failed, &m.failed) != nil || e.failed != nil && m.failed == nil {
		return message{kind: nothing}
	}
	return m
}

// maxEcho is how much of a client's own text an error repeats, in bytes.
const maxEcho = 64

// clip cuts text to at most limit bytes of it.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit] + "…"
}
