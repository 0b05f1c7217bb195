package mcpserver

import (
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// complete says of a result that nothing more is asked for, which the era without sessions
// wants to be told. The SDK does so for the tools that it knows, and keeps the field to itself
// but for JSON.
func complete(req *mcp.CallToolRequest, res *mcp.CallToolResult) *mcp.CallToolResult {
	if req.Session != nil {
		if p := req.Session.InitializeParams(); p != nil && p.ProtocolVersion < firstStateless {
			return res
		}
	}
	said := new(mcp.CallToolResult)
	if json.Unmarshal([]byte(`{"content":[],"resultType":"complete"}`), said) != nil {
		return res
	}
	said.Content, said.StructuredContent, said.IsError, said.Meta = res.Content, res.StructuredContent, res.IsError, res.Meta
	return said
}
