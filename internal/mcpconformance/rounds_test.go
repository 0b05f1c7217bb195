package mcpconformance

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// roundTrips are the tools that answer with a question first (SEP-2322).
func roundTrips() map[string]mcp.ToolHandler {
	return map[string]mcp.ToolHandler{
		"test_input_required_result_elicitation":     wantsName,
		"test_input_required_result_sampling":        wantsAnswer,
		"test_input_required_result_list_roots":      wantsRoots,
		"test_input_required_result_request_state":   wantsConfirmation("request_state"),
		"test_input_required_result_tampered_state":  wantsConfirmation("tampered_state"),
		"test_input_required_result_multiple_inputs": wantsAll,
		"test_input_required_result_multi_round":     wantsTwice,
		"test_input_required_result_capabilities":    wantsWhatTheClientHas,
	}
}

// form asks for one field.
func form(message, field, kind string) *mcp.ElicitParams {
	schema, _ := json.Marshal(map[string]any{"type": "object", "properties": map[string]any{field: map[string]string{"type": kind}}, "required": []string{field}})
	return &mcp.ElicitParams{Message: message, RequestedSchema: json.RawMessage(schema)}
}

func nameForm() *mcp.ElicitParams { return form("What is your name?", "name", "string") }

// filled returns a form that the user accepted, or nil.
func filled(in mcp.InputResponseMap, key string) map[string]any {
	if r, ok := in[key].(*mcp.ElicitResult); ok && r.Action == "accept" {
		return r.Content
	}
	return nil
}

func said(in mcp.InputResponseMap, key string) (string, bool) {
	r, ok := in[key].(*mcp.CreateMessageWithToolsResult)
	if !ok {
		return "", false
	}
	for _, c := range r.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			return t.Text, true
		}
	}
	return "", true
}

func first(requests mcp.InputRequestMap, state string) (*mcp.CallToolResult, error) {
	return &mcp.CallToolResult{InputRequests: requests, RequestState: state}, nil
}

func wantsName(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if name, _ := filled(req.Params.InputResponses, "user_name")["name"].(string); name != "" {
		return text("Hello, %s!", name), nil
	}
	return first(mcp.InputRequestMap{"user_name": nameForm()}, "")
}

func wantsAnswer(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if answer, ok := said(req.Params.InputResponses, "capital_question"); ok {
		return text("Sampling response: %s", answer), nil
	}
	return first(mcp.InputRequestMap{"capital_question": question("What is the capital of France?")}, "")
}

func wantsRoots(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if r, ok := req.Params.InputResponses["client_roots"].(*mcp.ListRootsResult); ok {
		return text("%d roots", len(r.Roots)), nil
	}
	return first(mcp.InputRequestMap{"client_roots": &mcp.ListRootsParams{}}, "")
}

// wantsConfirmation gives out a state and takes back no other.
func wantsConfirmation(state string) mcp.ToolHandler {
	return func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		back, confirmed := req.Params.RequestState, filled(req.Params.InputResponses, "confirm") != nil
		switch {
		case (back != "" || confirmed) && back != state:
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the state is not one that was given out"}
		case confirmed:
			return text("state-ok: the state came back and the user confirmed"), nil
		}
		return first(mcp.InputRequestMap{"confirm": form("Please confirm", "ok", "boolean")}, state)
	}
}

func wantsAll(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	in := req.Params.InputResponses
	name, _ := filled(in, "user_name")["name"].(string)
	greeting, greeted := said(in, "greeting")
	roots, rooted := in["client_roots"].(*mcp.ListRootsResult)
	if name != "" && greeted && rooted {
		return text("%s %s, %d roots", greeting, name, len(roots.Roots)), nil
	}
	return first(mcp.InputRequestMap{"user_name": nameForm(), "greeting": question("Greet"), "client_roots": &mcp.ListRootsParams{}}, "multiple_inputs")
}

func wantsTwice(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	in := req.Params.InputResponses
	switch state := req.Params.RequestState; state {
	case "":
		return first(mcp.InputRequestMap{"step1": form("Step 1: what is your name?", "name", "string")}, "round=1")
	case "round=1":
		name, _ := filled(in, "step1")["name"].(string)
		return first(mcp.InputRequestMap{"step2": form("Step 2: what is your favourite colour?", "color", "string")}, "round=2;name="+name)
	default:
		color, _ := filled(in, "step2")["color"].(string)
		return text("%s likes %s", strings.TrimPrefix(state, "round=2;name="), color), nil
	}
}

func wantsWhatTheClientHas(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if len(req.Params.InputResponses) > 0 {
		return text("thank you"), nil
	}
	want := mcp.InputRequestMap{}
	if caps := req.ClientCapabilities(); caps != nil {
		if caps.Elicitation != nil {
			want["user_name"] = nameForm()
		}
		if caps.Sampling != nil {
			want["greeting"] = question("Greet")
		}
		if caps.RootsV2 != nil {
			want["client_roots"] = &mcp.ListRootsParams{}
		}
	}
	if len(want) == 0 {
		return text("the client has nothing to give"), nil
	}
	return first(want, "")
}
