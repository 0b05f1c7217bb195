package mcpconformance

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/handles"
	"github.com/gantry-run/gantry/specs"
	"github.com/gantry-run/gantry/telemetry"
)

// newFixture returns a server with what the suite asks for.
func newFixture(g *guard.Guard) *mcp.Server {
	caps := &mcp.ServerCapabilities{Logging: &mcp.LoggingCapabilities{}}
	handles.Declare(caps)
	s := mcp.NewServer(&mcp.Implementation{Name: "gantry-conformance-fixture", Version: "1.0.0"}, &mcp.ServerOptions{
		Capabilities: caps,
		CompletionHandler: func(context.Context, *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
			return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{}}}, nil
		},
		SubscribeHandler:   func(context.Context, *mcp.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
	})
	for name, tool := range tools(s) {
		schema := tool.schema
		if schema == "" {
			schema = `{"type":"object"}`
		}
		s.AddTool(&mcp.Tool{Name: name, Description: "Of the conformance suite", InputSchema: json.RawMessage(schema)}, tool.do)
	}
	addResources(s)
	addPrompts(s)
	offerTasks(s)
	s.AddReceivingMiddleware(guarded(g))
	return s
}

// guarded puts every call to the guard, as mcpserver does.
func guarded(g *guard.Guard) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (out mcp.Result, err error) {
			r, ok := req.(*mcp.CallToolRequest)
			if !ok {
				return next(ctx, method, req)
			}
			c := &guard.Call{
				Tool:      &specs.Tool{Toolset: "fixture", Name: r.Params.Name, Effect: specs.Read, TimeoutS: 60, Input: json.RawMessage(`{"type":"object"}`)},
				Arguments: r.Params.Arguments, Start: telemetry.CallStart{Tool: r.Params.Name, Transport: "tcp"},
			}
			_, _, refused := g.Do(ctx, c, func(ctx context.Context) (json.RawMessage, string, error) {
				out, err = next(ctx, method, req)
				return json.RawMessage(`{}`), "", nil
			})
			if refused != nil {
				return nil, refused
			}
			return out, err
		}
	}
}

// fixtureTool is a tool that the suite defines.
type fixtureTool struct {
	schema string // "": any object
	do     mcp.ToolHandler
}

func text(format string, args ...any) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf(format, args...)}}}
}

// says returns a tool that always answers the same.
func says(content ...mcp.Content) fixtureTool {
	return fixtureTool{do: func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: content}, nil
	}}
}

func does(do mcp.ToolHandler) fixtureTool { return fixtureTool{do: do} }

const (
	pixel   = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
	silence = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="
)

func bytesOf(text string) []byte {
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		panic(err)
	}
	return raw
}

func image() mcp.Content { return &mcp.ImageContent{Data: bytesOf(pixel), MIMEType: "image/png"} }

func embedded(uri string) mcp.Content {
	return &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: uri, MIMEType: "text/plain", Text: "This is an embedded resource"}}
}

func tools(s *mcp.Server) map[string]fixtureTool {
	all := map[string]fixtureTool{
		"test_simple_text":            says(&mcp.TextContent{Text: "This is a simple text response for testing."}),
		"test_image_content":          says(image()),
		"test_audio_content":          says(&mcp.AudioContent{Data: bytesOf(silence), MIMEType: "audio/wav"}),
		"test_embedded_resource":      says(embedded("test://embedded-resource")),
		"test_multiple_content_types": says(&mcp.TextContent{Text: "This is text content"}, image(), embedded("test://embedded-in-multiple")),
		"test_streaming_elicitation":  says(&mcp.TextContent{Text: "nothing but the result is on this stream"}),
		"test_x_mcp_header": {schema: `{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"level":{"type":"integer"}}}`,
			do: says(&mcp.TextContent{Text: "ok"}).do},
		"json_schema_2020_12_tool":          {schema: wideSchema, do: says(&mcp.TextContent{Text: "ok"}).do},
		"greet":                             does(greets),
		"test_error_handling":               does(fails),
		"test_tool_with_logging":            does(logs),
		"test_logging_tool":                 does(logs),
		"test_tool_with_progress":           does(progresses),
		"test_sampling":                     does(samples),
		"test_elicitation":                  does(elicits),
		"test_elicitation_sep1034_defaults": does(asks(defaultsSchema)),
		"test_elicitation_sep1330_enums":    does(asks(enumsSchema)),
		"test_missing_capability":           does(wantsSampling),
		"test_reconnection":                 does(reconnects),
		"test_trigger_tool_change": does(func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			s.AddTool(&mcp.Tool{Name: "transient", Description: "Comes and goes", InputSchema: json.RawMessage(`{"type":"object"}`)}, says().do)
			return text("the list of tools has changed"), nil
		}),
		"test_trigger_prompt_change": does(func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			s.AddPrompt(&mcp.Prompt{Name: "transient", Description: "Comes and goes"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
				return &mcp.GetPromptResult{}, nil
			})
			return text("the list of prompts has changed"), nil
		}),
	}
	for name, do := range roundTrips() {
		all[name] = does(do)
	}
	return all
}

func greets(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	var in struct{ Name string }
	if err := json.Unmarshal(req.Params.Arguments, &in); err != nil {
		return nil, err
	}
	return text("Hello, %s!", in.Name), nil
}

func fails(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	r := text("this tool intentionally returns an error for testing")
	r.SetError(errors.New("this tool intentionally returns an error for testing"))
	return r, nil
}

func logs(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	for _, step := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
		if err := req.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Data: step}); err != nil {
			return nil, err
		}
	}
	return text("Tool with logging executed successfully"), nil
}

func progresses(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	token := req.Params.GetProgressToken()
	for _, done := range []float64{0, 50, 100} {
		err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: done, Total: 100, Message: fmt.Sprintf("%.0f of 100", done)})
		if err != nil {
			return nil, err
		}
	}
	return text("%v", token), nil
}

func samples(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	var in struct{ Prompt string }
	if err := json.Unmarshal(req.Params.Arguments, &in); err != nil {
		return nil, err
	}
	out, err := req.Session.CreateMessage(ctx, question(in.Prompt))
	if err != nil {
		return nil, err
	}
	said, _ := out.Content.(*mcp.TextContent)
	if said == nil {
		return text("LLM response: (no text)"), nil
	}
	return text("LLM response: %s", said.Text), nil
}

func question(text string) *mcp.CreateMessageParams {
	return &mcp.CreateMessageParams{Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: text}}}, MaxTokens: 100}
}

func elicits(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	var in struct{ Message string }
	if err := json.Unmarshal(req.Params.Arguments, &in); err != nil {
		return nil, err
	}
	return asking(ctx, req, in.Message, `{"type":"object","properties":{"username":{"type":"string"}},"required":["username"]}`)
}

func asks(schema string) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return asking(ctx, req, "Please fill this in", schema)
	}
}

func asking(ctx context.Context, req *mcp.CallToolRequest, message, schema string) (*mcp.CallToolResult, error) {
	var asked map[string]any
	if err := json.Unmarshal([]byte(schema), &asked); err != nil {
		return nil, err
	}
	out, err := req.Session.Elicit(ctx, &mcp.ElicitParams{Message: message, RequestedSchema: asked})
	if err != nil {
		return nil, err
	}
	return text("Elicitation result: action=%s, content=%v", out.Action, out.Content), nil
}

func wantsSampling(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if caps := req.ClientCapabilities(); caps != nil && caps.Sampling != nil {
		return text("the client can sample"), nil
	}
	data, err := json.Marshal(mcp.MissingRequiredClientCapabilityData{RequiredCapabilities: &mcp.ClientCapabilities{Sampling: &mcp.SamplingCapabilities{}}})
	if err != nil {
		return nil, err
	}
	return nil, &jsonrpc.Error{Code: mcp.CodeMissingRequiredClientCapabilities, Message: "the client cannot sample", Data: data}
}

func reconnects(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if req.Extra != nil && req.Extra.CloseSSEStream != nil {
		req.Extra.CloseSSEStream(mcp.CloseSSEStreamArgs{RetryAfter: 10 * time.Millisecond})
	}
	return text("the client came back"), nil
}

const wideSchema = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
"$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},
"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},"contactMethod":{"type":"string","enum":["phone","email"]},"phone":{"type":"string"},"email":{"type":"string"}},
"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],
"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},"then":{"required":["phone"]},"else":{"required":["email"]},
"additionalProperties":false}`

const defaultsSchema = `{"type":"object","properties":{
"name":{"type":"string","default":"John Doe"},"age":{"type":"integer","default":30},"score":{"type":"number","default":95.5},
"status":{"type":"string","enum":["active","inactive","pending"],"default":"active"},"verified":{"type":"boolean","default":true}}}`

const enumsSchema = `{"type":"object","properties":{
"untitledSingle":{"type":"string","enum":["option1","option2","option3"]},
"titledSingle":{"type":"string","oneOf":[{"const":"value1","title":"First Option"},{"const":"value2","title":"Second Option"},{"const":"value3","title":"Third Option"}]},
"legacyEnum":{"type":"string","enum":["opt1","opt2","opt3"],"enumNames":["Option One","Option Two","Option Three"]},
"untitledMulti":{"type":"array","minItems":1,"maxItems":3,"items":{"type":"string","enum":["option1","option2","option3"]}},
"titledMulti":{"type":"array","minItems":1,"maxItems":3,"items":{"anyOf":[{"const":"value1","title":"First Option"},{"const":"value2","title":"Second Option"},{"const":"value3","title":"Third Option"}]}}}}`
