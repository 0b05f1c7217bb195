package mcpserver

import (
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/stdio"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/specs"
)

// rpcData is error.data of the JSON-RPC style.
type rpcData struct {
	ErrorCode fault.Code `json:"error_code"`
	Retryable bool       `json:"retryable"`
	Hint      string     `json:"hint"`
	Details   any        `json:"details,omitempty"`
	Tool      string     `json:"tool_name,omitempty"`
}

// rpcInvalid is JSON-RPC's code for parameters that are wrong.
const rpcInvalid = -32602

// wireError is the only place where a fault becomes what a client receives: a
// JSON-RPC error or, for toolsets of the other style, a result with isError. The
// error must not be wrapped, for the SDK drops the data of wrapped ones. t is nil for
// an unknown tool.
func wireError(t *specs.Tool, f *fault.Fault) (*mcp.CallToolResult, error) {
	code, toolError := guard.Style(t, f)
	if toolError {
		text, err := json.Marshal(tool.FailureOf(f))
		if err != nil {
			return nil, err
		}
		// No structuredContent: clients check it against the output schema even here.
		return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: string(text)}}}, nil
	}
	return nil, rpcError(code, t, f)
}

func rpcError(code int, t *specs.Tool, f *fault.Fault) *jsonrpc.Error {
	data := rpcData{ErrorCode: f.Code, Retryable: f.Retryable, Hint: f.Hint, Details: f.Details}
	if t != nil {
		data.Tool = t.Name
	}
	raw, err := json.Marshal(data)
	if err != nil {
		raw = nil
	}
	if code == jsonrpc.CodeMethodNotFound {
		code = stdio.NotFoundCode
	}
	return &jsonrpc.Error{Code: int64(code), Message: f.Message, Data: raw}
}

// Refusal is the answer to a call that meets the shutdown of the server.
func Refusal(string) *jsonrpc.Error {
	f := fault.Retry(fault.ShuttingDown, "the server is shutting down")
	if info, ok := specs.Error(f.Code); ok {
		f = f.WithHint("%s", info.Hint)
	}
	code, _ := guard.Style(nil, f)
	return rpcError(code, nil, f)
}
