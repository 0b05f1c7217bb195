package stdio

import (
	"encoding/json"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxID is the longest id that is accepted, in bytes of JSON text. Ids are
// echoed, logged and put on spans.
const maxID = 1024

// maxExact is the largest integer that the SDK keeps exactly: it reads ids as float64.
const maxExact = 1 << 53

// null is the id of an answer to what has none.
var null = json.RawMessage("null")

// requestID is a valid id of a JSON-RPC request.
type requestID struct {
	text json.RawMessage // as the client wrote it, for the answer
	key  string          // equal for equal ids; 1 and "1" differ
	sdk  jsonrpc.ID      // what the SDK should know it by; not valid if it would lose digits
}

// parseID reads an id from valid JSON text: a string, or an integer that fits
// 64 bits and is written as one (not 1.0, not 1e2).
func parseID(raw json.RawMessage) (requestID, bool) {
	if len(raw) == 0 || len(raw) > maxID {
		return requestID{}, false
	}
	id := requestID{text: raw}
	if raw[0] == '"' {
		s, ok := unquote(raw)
		if !ok {
			return requestID{}, false
		}
		id.key = strconv.Quote(s)
		id.sdk, _ = jsonrpc.MakeID(s)
		return id, true
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		return requestID{}, false
	}
	id.key = strconv.FormatInt(n, 10)
	if -maxExact < n && n < maxExact {
		id.sdk, _ = jsonrpc.MakeID(float64(n))
	}
	return id, true
}

// unquote decodes a JSON string.
func unquote(raw []byte) (string, bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return s, err == nil
}
