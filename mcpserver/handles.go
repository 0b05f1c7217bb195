package mcpserver

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/handles"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/specs"
)

// ofHandles are the methods of handles as the guard judges them: like tools, of the toolset
// [guard.Protocol].
func ofHandles(method string) *specs.Tool {
	const (
		get    = `{"type":"object","required":["taskId"],"properties":{"taskId":{"type":"string","maxLength":256}},"additionalProperties":false}`
		update = `{"type":"object","required":["taskId","inputResponses"],"properties":{"taskId":{"type":"string","maxLength":256},` +
			`"inputResponses":{"type":"object","maxProperties":100,"additionalProperties":{"type":"object"}}},"additionalProperties":false}`
	)
	t := &specs.Tool{Toolset: guard.Protocol, Name: method, Effect: specs.Read, TimeoutS: 30, Input: json.RawMessage(get)}
	switch method {
	case handles.Update:
		t.Effect, t.Input = specs.Run, json.RawMessage(update)
	case handles.Cancel:
		t.Effect = specs.Destroy
	}
	return t
}

// handle obeys one of the methods, behind the guard like a call of a tool.
func (s *server) handle(ctx context.Context, method string, r *handles.Request) (out handles.Task, err error) {
	named, err := json.Marshal(asked{r.Params.TaskID, r.Params.InputResponses})
	if err != nil {
		return out, err
	}
	like := &mcp.CallToolRequest{Session: r.Session, Extra: r.Extra, Params: &mcp.CallToolParamsRaw{Meta: r.Params.Meta, Name: method}}
	c := &guard.Call{Caller: caller(like), Arguments: named, Start: start(like)}
	c.Start.Method = method
	if t := ofHandles(method); t.Effect == specs.Read || !s.o.ReadOnly {
		c.Tool, c.Start.Toolset = t, t.Toolset
	}
	id := runs.ID(r.Params.TaskID)
	raw, _, err := s.o.Guard.Do(ctx, c, func(ctx context.Context) (json.RawMessage, string, error) {
		c.Record.SetRun(string(id))
		switch method {
		case handles.Update:
			return json.RawMessage(`{}`), "", s.answers(ctx, c, id, r.Params.InputResponses)
		case handles.Cancel:
			return json.RawMessage(`{}`), "", s.o.Handles.Cancel(ctx, c, id)
		}
		h, err := s.o.Handles.Handle(ctx, c.Caller, id)
		if err != nil {
			return nil, "", err
		}
		raw, err := json.Marshal(s.task(id, h, handles.Elicits(r)))
		return raw, h.Message, err
	})
	if err != nil {
		f := fault.From(err)
		code, _ := guard.Style(c.Tool, f)
		return out, rpcError(code, nil, f)
	}
	return out, json.Unmarshal(raw, &out)
}

// asked is what the guard sees of a request.
type asked struct {
	TaskID         string                     `json:"taskId"`
	InputResponses map[string]json.RawMessage `json:"inputResponses,omitempty"`
}

// answers passes on what the user has accepted. What was declined leaves the run waiting.
func (s *server) answers(ctx context.Context, c *guard.Call, id runs.ID, given map[string]json.RawMessage) error {
	if _, err := s.o.Handles.Handle(ctx, c.Caller, id); err != nil {
		return err
	}
	for key, raw := range given { // at most one is open
		var said struct {
			Action  string `json:"action"`
			Content struct {
				Next string `json:"next"`
			} `json:"content"`
		}
		if err := json.Unmarshal(raw, &said); err != nil || said.Action != "accept" {
			continue
		}
		if err := s.o.Handles.Answer(ctx, c, id, key, said.Content.Next); err != nil {
			return err
		}
	}
	return nil
}

// goes returns the answer to a call that a run goes on after, for a client that can hold a
// handle; nil when it is to get the result of the tool.
func (s *server) goes(ctx context.Context, req *mcp.CallToolRequest, c *guard.Call, id runs.ID) mcp.Result {
	if id == "" || s.o.Handles == nil || !handles.Declared(req) {
		return nil
	}
	h, err := s.o.Handles.Handle(ctx, c.Caller, id)
	if err != nil {
		return nil // the result of the tool says how to follow it
	}
	h.Message = s.o.Guard.Mask(h.Message)
	return s.task(id, h, false).Created()
}

// task gives a handle its form on the wire.
func (s *server) task(id runs.ID, h tool.Handle, elicits bool) handles.Task {
	t := handles.New(string(id), h.Created)
	t.LastUpdatedAt, t.StatusMessage = h.Updated.UTC(), h.Message
	switch {
	case h.Failure != nil:
		s.fail(&t, h)
	case h.Result != nil:
		t.Status, t.Result = handles.Completed, encode(resultOf(h.Result.JSON, h.Result.Text))
	case h.Cancelled:
		t.Status = handles.Cancelled
	case h.Question != nil && elicits:
		t.Status, t.InputRequests = handles.InputRequired, map[string]handles.InputRequest{h.Question.Key: elicitation(h.Question)}
	}
	return t
}

// fail says what has failed in the style of the toolset: as an error, or as a result that is
// one.
func (s *server) fail(t *handles.Task, h tool.Handle) {
	res, err := wireError(&specs.Tool{Toolset: h.Toolset, Name: h.Tool}, s.o.Guard.Present(h.Failure))
	if err == nil {
		t.Status, t.Result = handles.Completed, encode(res)
		return
	}
	t.Status = handles.Failed
	if wire, ok := err.(*jsonrpc.Error); ok {
		t.Error, t.StatusMessage = wire, wire.Message
	} else {
		t.Error = &jsonrpc.Error{Code: rpcInternal, Message: "internal error"}
	}
}

func encode(res *mcp.CallToolResult) json.RawMessage {
	raw, err := json.Marshal(res)
	if err != nil { // what a handler has encoded is JSON
		return json.RawMessage(`{"content":[],"isError":true}`)
	}
	return raw
}

// elicitation asks a user what a run waits for.
func elicitation(q *tool.Question) handles.InputRequest {
	type choice struct {
		Type  string   `json:"type"`
		Title string   `json:"title"`
		Enum  []string `json:"enum"`
	}
	type form struct {
		Type       string            `json:"type"`
		Properties map[string]choice `json:"properties"`
		Required   []string          `json:"required"`
	}
	return handles.InputRequest{Method: "elicitation/create", Params: struct {
		Mode    string `json:"mode"`
		Message string `json:"message"`
		Schema  form   `json:"requestedSchema"`
	}{"form", q.Message, form{"object", map[string]choice{"next": {"string", "What to do next", q.Choices}}, []string{"next"}}}}
}
