package main

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gantry-run/gantry/internal/fault"
)

// client is a session with the app's own server, in this process: the command
// line goes the way that every client goes.
type client struct{ session *mcp.ClientSession }

func (a *app) connect(ctx context.Context) (*client, error) {
	near, far := mcp.NewInMemoryTransports()
	if _, err := a.server.Connect(ctx, far, nil); err != nil {
		return nil, err
	}
	s, err := mcp.NewClient(&mcp.Implementation{Name: "gantry-cli", Version: version}, nil).Connect(ctx, near, nil)
	if err != nil {
		return nil, err
	}
	return &client{s}, nil
}

func (c *client) close() { c.session.Close() }

// call calls a tool and returns its structured result. A refusal comes back as the
// fault that it was.
func (c *client) call(ctx context.Context, name string, args json.RawMessage) (json.RawMessage, error) {
	res, err := c.session.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: args})
	var rpc *jsonrpc.Error
	if errors.As(err, &rpc) {
		return nil, faultOf(rpc)
	}
	if err != nil {
		return nil, err
	}
	if res.IsError {
		text := ""
		if t, ok := res.Content[0].(*mcp.TextContent); ok {
			text = t.Text
		}
		return nil, toolFault(text)
	}
	return json.Marshal(res.StructuredContent)
}

// into calls a tool and decodes its result.
func (c *client) into(ctx context.Context, name string, args, out any) error {
	raw, err := json.Marshal(args)
	if err != nil {
		return err
	}
	res, err := c.call(ctx, name, raw)
	if err != nil {
		return err
	}
	return json.Unmarshal(res, out)
}

func faultOf(e *jsonrpc.Error) error {
	var data struct {
		Code      fault.Code      `json:"error_code"`
		Retryable bool            `json:"retryable"`
		Hint      string          `json:"hint"`
		Details   json.RawMessage `json:"details"`
	}
	if json.Unmarshal(e.Data, &data) != nil || data.Code == "" {
		return e
	}
	f := &fault.Fault{Code: data.Code, Message: e.Message, Retryable: data.Retryable, Hint: data.Hint}
	if data.Details != nil {
		f.Details = data.Details
	}
	return f
}

func toolFault(text string) error {
	var f fault.Fault
	if err := json.Unmarshal([]byte(text), &f); err != nil || f.Code == "" {
		return errors.New(text)
	}
	return &f
}
