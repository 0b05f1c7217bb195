// Package mcpserver speaks MCP: it offers tools and resources to a client, puts
// every call to the guard, and gives results and faults their form on the wire.
//
// It knows no domain. [New] joins a list of tools with a guard into a server for
// any transport of the SDK; package stdio has the one for standard input and
// output. A call has one way in, [server.call], whatever its transport and whether
// its tool exists or not, so that what the guard promises holds for every call. A
// fault has one way out, [wireError].
package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/handles"
	"github.com/gantry-run/gantry/mcpserver/stdio"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/specs"
	"github.com/gantry-run/gantry/telemetry"
)

// Options say what to serve.
type Options struct {
	Name         string // serverInfo.name
	Version      string
	Instructions string
	Tools        []tool.Tool // in the order in which they are listed
	ReadOnly     bool        // drop every tool whose effect is not read
	Guard        *guard.Guard
	Resources    tool.Resources // nil: none
	Handles      tool.Handles   // nil: every call is answered with its result
	Prompts      []tool.Prompt  // they lead to tools that change something: left out with ReadOnly
	Complete     tool.Completer // nil: nothing is completed
	Secret       string         // what its one client must show; empty: nothing
	Log          *slog.Logger
}

type server struct {
	o      Options
	tools  map[string]tool.Tool // by name
	listed []*mcp.Tool          // what tools/list answers
	door   door
}

// New returns a server that offers the tools behind the guard. The SDK never hears of
// them: it would parse every schema at each start, which costs more than all else that
// a client waits for, and would refuse by itself what the guard has to record.
func New(o Options) *mcp.Server {
	s := &server{o: o, tools: map[string]tool.Tool{}, listed: []*mcp.Tool{}, door: door{secret: o.Secret}}
	opts := &mcp.ServerOptions{
		Instructions: o.Instructions, Logger: o.Log,
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}, InitializedHandler: s.timeSession,
	}
	if o.ReadOnly {
		s.o.Prompts = nil
	}
	if len(s.o.Prompts) > 0 {
		opts.Capabilities.Prompts = &mcp.PromptCapabilities{}
	}
	if o.Complete != nil {
		opts.CompletionHandler = s.complete
	}
	if o.Handles != nil {
		handles.Declare(opts.Capabilities)
	}
	f := newFollowers(s)
	if o.Resources != nil {
		opts.SubscribeHandler, opts.UnsubscribeHandler = f.subscribe, f.unsubscribe
	}
	m := mcp.NewServer(&mcp.Implementation{Name: o.Name, Title: "Gantry", Version: o.Version}, opts)
	for _, t := range o.Tools {
		if o.ReadOnly && t.Spec.Effect != specs.Read {
			continue
		}
		s.tools[t.Spec.Name] = t
		s.listed = append(s.listed, advertise(t.Spec))
	}
	if o.Resources != nil {
		f.updated = m.ResourceUpdated
		s.offerResources(m)
	}
	s.offerPrompts(m)
	if o.Handles != nil {
		handles.Offer(m, s.handle)
	}
	m.AddReceivingMiddleware(s.admit, s.offer)
	return m
}

// advertise returns what a client is told of a tool. The schemas are the bytes of
// the specification.
func advertise(t specs.Tool) *mcp.Tool {
	no, destroys := false, t.Effect == specs.Destroy
	title := t.Title
	if t.Deprecated != "" {
		title += " (deprecated)"
	}
	return &mcp.Tool{
		Name: t.Name, Title: title, Description: t.Description.String(), InputSchema: t.Input, OutputSchema: t.Output,
		Annotations: &mcp.ToolAnnotations{
			Title: title, ReadOnlyHint: t.Effect == specs.Read, DestructiveHint: &destroys, OpenWorldHint: &no,
			IdempotentHint: t.Effect == specs.Read,
		},
	}
}

// offer answers tools/list and tools/call, and leaves all else to the SDK.
func (s *server) offer(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if r, ok := req.(*mcp.CallToolRequest); ok && r.Params != nil {
			return s.call(ctx, r)
		}
		began := time.Now()
		res, err := next(ctx, method, req)
		if !handles.Has(method) || handles.Refused(err) { // the guard has counted those
			s.o.Guard.Telemetry().Operation(ctx, method, time.Since(began), codeOf(err))
		}
		if list, ok := res.(*mcp.ListToolsResult); ok && err == nil {
			list.Tools = s.listed // the SDK has judged the request and knows no tools
		}
		return res, err
	}
}

// call is the one way in of every tools/call.
func (s *server) call(ctx context.Context, req *mcp.CallToolRequest) (mcp.Result, error) {
	c := &guard.Call{Unknown: !s.door.shown("tools/call", req), Caller: caller(req), Arguments: req.Params.Arguments, Start: start(req), Progress: progress(ctx, req)}
	t, ok := s.tools[strings.ReplaceAll(req.Params.Name, ".", "_")] // a dotted name is not listed, and yet good
	if ok {
		c.Tool, c.Start.Toolset, c.Start.Tool = &t.Spec, t.Spec.Toolset, t.Spec.Name
	}
	var handle mcp.Result
	raw, text, err := s.o.Guard.Do(ctx, c, func(ctx context.Context) (json.RawMessage, string, error) {
		r, err := t.Handle(ctx, c)
		if err == nil {
			handle = s.goes(ctx, req, c, r.Goes)
		}
		return r.JSON, r.Text, err
	})
	switch {
	case err != nil:
		res, err := wireError(c.Tool, fault.From(err))
		if err != nil {
			return nil, err // not a typed nil in the interface
		}
		return complete(req, res), nil
	case handle != nil:
		return handle, nil
	}
	return complete(req, resultOf(raw, text)), nil
}

// resultOf returns the result of a call. Without a text, the JSON stands for itself.
func resultOf(raw json.RawMessage, text string) *mcp.CallToolResult {
	if text == "" {
		text = string(raw)
	}
	return &mcp.CallToolResult{StructuredContent: raw, Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

// caller says who calls, from what the transport established.
func caller(req *mcp.CallToolRequest) guard.Caller {
	var c guard.Caller
	if req.Session != nil {
		c.Session = req.Session.ID()
	}
	if req.Extra == nil || req.Extra.TokenInfo == nil {
		return c
	}
	c.Token, c.Scopes = req.Extra.TokenInfo.UserID, []guard.Scope{}
	for _, scope := range req.Extra.TokenInfo.Scopes {
		c.Scopes = append(c.Scopes, guard.Scope(scope))
	}
	return c
}

// start collects what the telemetry records of a call's arrival.
func start(req *mcp.CallToolRequest) telemetry.CallStart {
	header := http.Header{}
	if req.Extra != nil && req.Extra.Header != nil {
		header = req.Extra.Header
	}
	s := telemetry.CallStart{
		Tool: req.Params.Name, RequestID: header.Get(stdio.RequestIDHeader), Transport: transportOf(req.Extra),
		Link: header.Get("Traceparent"), Traceparent: metaText(req, "traceparent"), Tracestate: metaText(req, "tracestate"),
		ProtocolVersion: metaText(req, "io.modelcontextprotocol/protocolVersion"),
	}
	if req.Session == nil {
		return s
	}
	s.SessionID = req.Session.ID()
	if p := req.Session.InitializeParams(); p != nil {
		if p.ClientInfo != nil {
			s.Client = p.ClientInfo.Name + " " + p.ClientInfo.Version
		}
		if s.ProtocolVersion == "" {
			s.ProtocolVersion = p.ProtocolVersion
		}
	}
	return s
}

func metaText(req *mcp.CallToolRequest, key string) string {
	text, _ := req.Params.Meta[key].(string)
	return text
}

// progress returns how to tell the client how far a call is, or nil when it did
// not ask to be told.
func progress(ctx context.Context, req *mcp.CallToolRequest) func(string) {
	token := req.Params.GetProgressToken()
	if token == nil || req.Session == nil {
		return nil
	}
	steps := 0.0
	return func(message string) {
		steps++
		// A client that is gone is no reason to fail the call.
		_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Message: message, Progress: steps})
	}
}

// Describe returns the tools/list of a toolset as the server advertises it, for
// golden files and documents.
func Describe(tools []specs.Tool) ([]byte, error) {
	list := make([]*mcp.Tool, len(tools))
	for i, t := range tools {
		list[i] = advertise(t)
	}
	raw, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("describe tools: %w", err)
	}
	return append(raw, '\n'), nil
}
