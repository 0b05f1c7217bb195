// Package probe looks at programs from outside, to measure them: it is an MCP client of the
// standard library alone, for stdio and Streamable HTTP, with exact quantiles and the
// memory of a process tree.
//
// It shares no code with the servers that it measures, so it measures them alike. A
// [Transport] carries one request and its answer; a [Client] speaks MCP over it.
package probe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
)

// StatelessSince is the first protocol revision without an initialize handshake.
const StatelessSince = "2026-07-28"

type rpcError struct {
	Code    int64           `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

func (e *rpcError) Error() string { return fmt.Sprintf("rpc error %d: %s", e.Code, e.Message) }

// message is any JSON-RPC message.
type message struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

// Transport carries requests to a server and their answers back. Its methods may be
// called concurrently.
type Transport interface {
	roundTrip(ctx context.Context, id int64, req *message, m meta) (*message, error)
	notify(ctx context.Context, req *message, m meta) error
	onNotification(func(*message))

	// Kind is "stdio" or "http".
	Kind() string
	// Target is the server's command line or address.
	Target() string
	// PID is the server's process, 0 if it is not known.
	PID() int
	// Broken reports whether no further answer can come.
	Broken() bool
	// Close ends the conversation, and the server if it was started for it.
	Close()
}

// meta is what a transport needs besides the body.
type meta struct {
	protocol string // empty until negotiated
	name     string // tool name, for Mcp-Name
}

// Client is a conversation with a server. Its methods may be called concurrently.
type Client struct {
	Transport
	Protocol string          // revision that was agreed on
	Server   json.RawMessage // serverInfo as the server sent it

	ids      atomic.Int64
	progress atomic.Int64
}

// Open shakes hands with a server, asking for a protocol revision. The transport is
// closed if that fails.
func Open(ctx context.Context, t Transport, protocol string) (*Client, error) {
	c := &Client{Transport: t}
	t.onNotification(func(m *message) {
		if m.Method == "notifications/progress" {
			c.progress.Add(1)
		}
	})
	if err := c.handshake(ctx, protocol); err != nil {
		t.Close()
		return nil, fmt.Errorf("handshake: %w", err)
	}
	return c, nil
}

// Progress returns how many progress notifications have come.
func (c *Client) Progress() int64 { return c.progress.Load() }

var clientInfo = map[string]string{"name": "mcpbench", "version": "1"}

// requestMeta is the _meta every request of a stateless revision must carry.
func (c *Client) requestMeta(m map[string]any) map[string]any {
	if c.Protocol < StatelessSince {
		return m
	}
	if m == nil {
		m = map[string]any{}
	}
	m["io.modelcontextprotocol/protocolVersion"] = c.Protocol
	m["io.modelcontextprotocol/clientCapabilities"] = map[string]any{}
	m["io.modelcontextprotocol/clientInfo"] = clientInfo
	return m
}

func (c *Client) request(ctx context.Context, method, name string, params map[string]any, extra map[string]any) (json.RawMessage, error) {
	if m := c.requestMeta(extra); m != nil {
		if params == nil {
			params = map[string]any{}
		}
		params["_meta"] = m
	}
	var raw json.RawMessage
	if params != nil {
		b, err := json.Marshal(params)
		if err != nil {
			return nil, err
		}
		raw = b
	}
	id := c.ids.Add(1)
	req := &message{JSONRPC: "2.0", ID: json.RawMessage(fmt.Sprint(id)), Method: method, Params: raw}
	res, err := c.roundTrip(ctx, id, req, meta{protocol: c.Protocol, name: name})
	if err != nil {
		return nil, err
	}
	if res.Error != nil {
		return nil, res.Error
	}
	return res.Result, nil
}

func (c *Client) handshake(ctx context.Context, want string) error {
	if want >= StatelessSince {
		c.Protocol = want
		res, err := c.request(ctx, "server/discover", "", nil, nil)
		if err != nil {
			return err
		}
		var d struct {
			Meta map[string]json.RawMessage `json:"_meta"`
		}
		_ = json.Unmarshal(res, &d)
		c.Server = d.Meta["io.modelcontextprotocol/serverInfo"]
		return nil
	}
	res, err := c.request(ctx, "initialize", "", map[string]any{
		"protocolVersion": want,
		"capabilities":    map[string]any{},
		"clientInfo":      clientInfo,
	}, nil)
	if err != nil {
		return err
	}
	var init struct {
		ProtocolVersion string          `json:"protocolVersion"`
		ServerInfo      json.RawMessage `json:"serverInfo"`
	}
	if err := json.Unmarshal(res, &init); err != nil {
		return fmt.Errorf("initialize answer: %w", err)
	}
	if init.ProtocolVersion == "" {
		return errors.New("initialize answer has no protocolVersion")
	}
	c.Protocol, c.Server = init.ProtocolVersion, init.ServerInfo
	return c.notify(ctx, &message{JSONRPC: "2.0", Method: "notifications/initialized"}, meta{protocol: c.Protocol})
}

// ListTools follows the cursor to the end and returns the number of tools.
func (c *Client) ListTools(ctx context.Context) (int, error) {
	n, cursor := 0, ""
	for {
		params := map[string]any{}
		if cursor != "" {
			params["cursor"] = cursor
		}
		res, err := c.request(ctx, "tools/list", "", params, nil)
		if err != nil {
			return n, err
		}
		var page struct {
			Tools      []json.RawMessage `json:"tools"`
			NextCursor string            `json:"nextCursor"`
		}
		if err := json.Unmarshal(res, &page); err != nil {
			return n, err
		}
		n += len(page.Tools)
		if page.NextCursor == "" {
			return n, nil
		}
		cursor = page.NextCursor
	}
}

// Outcome is how a call ended.
type Outcome int

// The outcomes of a call.
const (
	OK              Outcome = iota
	RPCError                // a JSON-RPC error
	ToolError               // a result with isError
	TransportFailed         // no usable answer
)

// Answer is what a call gave.
type Answer struct {
	Outcome Outcome
	Text    string          // what went wrong; "" when OK
	Result  json.RawMessage // structuredContent, when OK
}

// Call calls a tool. With progress it asks to be notified meanwhile.
func (c *Client) Call(ctx context.Context, name string, args json.RawMessage, progress bool) Answer {
	var extra map[string]any
	if progress {
		extra = map[string]any{"progressToken": c.ids.Load() + 1}
	}
	res, err := c.request(ctx, "tools/call", name, map[string]any{"name": name, "arguments": args}, extra)
	var refused *rpcError
	switch {
	case errors.As(err, &refused):
		return Answer{Outcome: RPCError, Text: refused.Error()}
	case err != nil:
		return Answer{Outcome: TransportFailed, Text: err.Error()}
	}
	var body struct {
		IsError    bool            `json:"isError"`
		Content    json.RawMessage `json:"content"`
		Structured json.RawMessage `json:"structuredContent"`
	}
	if err := json.Unmarshal(res, &body); err != nil {
		return Answer{Outcome: TransportFailed, Text: err.Error()}
	}
	if body.IsError {
		return Answer{Outcome: ToolError, Text: string(body.Content)}
	}
	return Answer{Result: body.Structured}
}
