// Bare is the least server that the Go SDK for MCP makes: one tool, registered as the
// SDK's own examples do it, over the SDK's own stdio transport, and no Gantry anywhere.
//
// It is what Gantry's figures are compared with. Its tool answers what it is given,
// --result FILE, so that both servers send as many bytes.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// arguments are those of Gantry's tool of the same name.
type arguments struct {
	RunID string `json:"run_id"`
}

func main() {
	path := flag.String("result", "", "file with the JSON object that the tool answers")
	flag.Parse()
	if err := serve(context.Background(), *path); err != nil {
		fmt.Fprintln(os.Stderr, "bare:", err)
		os.Exit(1)
	}
}

// serve answers until its input ends.
func serve(ctx context.Context, path string) error {
	answer := json.RawMessage(`{}`)
	if path != "" {
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		answer = raw
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "bare", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "get_run_status", Description: "The status of a run."},
		func(context.Context, *mcp.CallToolRequest, arguments) (*mcp.CallToolResult, any, error) {
			return nil, answer, nil
		})
	return server.Run(ctx, &mcp.StdioTransport{})
}
