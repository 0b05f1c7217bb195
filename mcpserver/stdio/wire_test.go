package stdio

import (
	"encoding/json"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

func TestWhatWasNotFoundKeepsItsMessageAndData(t *testing.T) {
	data := json.RawMessage(`{"error_code":"UNKNOWN_TOOL"}`)
	got, known := wireError("tools/call", &jsonrpc.Error{Code: NotFoundCode, Message: "there is no tool", Data: data})
	if !known || got.Code != jsonrpc.CodeMethodNotFound || got.Message != "there is no tool" || string(got.Data) != string(data) {
		t.Errorf("%+v, %v", got, known)
	}
}
