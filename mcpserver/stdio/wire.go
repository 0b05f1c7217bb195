package stdio

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// internalError is all that a client learns of a failure that nobody gave a code.
const internalError = "internal error"

// NotFoundCode becomes -32601 on the wire. The SDK replaces every error of that code
// by one of its own, which has lost the message and the data; a handler that has
// something to say about what was not found uses this code instead.
const NotFoundCode = -31601

// maxMessage is the longest message of the SDK that is passed on, in bytes.
const maxMessage = 512

// encodeAnswer returns the line of an answer under the client's own id text. The
// result is what the SDK encoded, so it holds no newline.
func encodeAnswer(id json.RawMessage, result json.RawMessage, failed *jsonrpc.Error) []byte {
	body, name := []byte(result), "result"
	if failed != nil {
		body, name = encodeError(failed), "error"
	}
	line := make([]byte, 0, len(id)+len(body)+40)
	line = append(line, `{"jsonrpc":"2.0","id":`...)
	line = append(line, id...)
	line = append(line, `,"`+name+`":`...)
	line = append(line, body...)
	return append(line, "}\n"...)
}

// encodeError encodes an error; one whose data is not JSON loses the data.
func encodeError(failed *jsonrpc.Error) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(failed) != nil {
		b.Reset()
		_ = enc.Encode(&jsonrpc.Error{Code: failed.Code, Message: failed.Message})
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// wireError returns the error to send for a call that the SDK failed. known is
// false if nobody gave err a code: what it says then stays here, except for the
// two refusals that the SDK forgot to give one, which a test holds against it.
func wireError(method string, err error) (failed *jsonrpc.Error, known bool) {
	var coded *jsonrpc.Error
	if errors.As(err, &coded) && coded.Code != 0 {
		if direct, ok := err.(*jsonrpc.Error); ok {
			if direct.Code == NotFoundCode {
				return &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: direct.Message, Data: direct.Data}, true
			}
			return direct, true
		}
		return &jsonrpc.Error{Code: coded.Code, Message: withoutEcho(err.Error())}, true
	}
	switch err.Error() {
	case fmt.Sprintf("method %q is invalid during session initialization", method):
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: fmt.Sprintf("invalid request: %q before initialize", clip(method, maxEcho))}, true
	case fmt.Sprintf("duplicate %q received", method):
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: fmt.Sprintf("invalid request: %q twice in one session", clip(method, maxEcho))}, true
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: internalError}, false
}

// withoutEcho cuts the whole params and the Go types out of the SDK's message
// about params that do not fit a method, and the rest to a sensible length.
func withoutEcho(text string) string { return clip(withoutParams(text), maxMessage) }

func withoutParams(text string) string {
	if before, _, found := strings.Cut(text, ": unmarshaling "); found {
		return before + ": the params do not fit the method"
	}
	return text
}

// rejected is the error of a message that was not queued. The code is the one by
// which the SDK knows that the session is sound all the same.
func rejected(why string) error { return &jsonrpc.Error{Code: -32005, Message: why} }
