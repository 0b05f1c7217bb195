package stdio

import (
	"bytes"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/gantry-run/gantry/validate"
)

// Message is what [Judge] reads of a message.
type Message struct {
	ID     json.RawMessage // of a call, as the client wrote it; nil for all else
	Method string          // "" for an answer
	Params json.RawMessage // nil when there are none
}

// Judge holds one message against the rules for a line, for a transport whose messages are no
// lines. What is no message is refused with an error and the id to answer to, which may be
// null. An id that the SDK would not keep exactly is refused too: substitutes are for [Transport].
func Judge(raw []byte) (m Message, id json.RawMessage, refused *jsonrpc.Error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return m, null, &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: "parse error: there is no message"}
	}
	d, bad := decode(raw, validate.DefaultDepth)
	switch {
	case bad != nil:
		return m, bad.id, &jsonrpc.Error{Code: bad.code, Message: bad.text}
	case d.kind == nothing:
		return m, null, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "invalid request: the answer is malformed"}
	case d.kind != aNotification && !d.id.sdk.IsValid():
		return m, d.id.text, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "invalid request: an id that is a number is smaller than 2^53 here"}
	}
	m = Message{Method: d.method, Params: d.params}
	if d.kind == aCall {
		m.ID = d.id.text
	}
	return m, nil, nil
}

// Presentable returns an error of the SDK's as a client should see it: with a code where the
// SDK forgot one, without Go types and parameters, and with [NotFoundCode] translated.
func Presentable(method string, failed *jsonrpc.Error) *jsonrpc.Error {
	shown, _ := wireError(method, failed)
	return &jsonrpc.Error{Code: shown.Code, Message: withoutParams(shown.Message), Data: shown.Data}
}
