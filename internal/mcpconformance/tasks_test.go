package mcpconformance

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gantry-run/gantry/mcpserver/handles"
)

// The suite wants tools whose calls become tasks (the extension of package handles), and more
// of them than the shipped server has: tools that fail, that ask, and that refuse to be waited
// for. Behind the same wire, the fixture keeps such tasks in memory.

// lasting is a tool whose call may become a task.
type lasting struct {
	must  bool                            // there is no other way to call it
	first func(*mcp.CallToolRequest) bool // it has a question before it begins; nil: it has none
	do    func(context.Context, *held, *mcp.CallToolRequest) (*mcp.CallToolResult, error)
}

// lastingTools are the tools of the suite's tasks scenarios. A held that is nil stands for a
// call that is waited for.
func lastingTools() map[string]lasting {
	return map[string]lasting{
		"slow_compute": {do: computes},
		"failing_job": {must: true, do: func(ctx context.Context, _ *held, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return fails(ctx, r)
		}},
		"protocol_error_job": {must: true, do: breaks},
		"confirm_delete":     {do: asksFor("confirm")},
		"multi_input":        {do: asksFor("name", "confirm")},
		"test_tool_with_task": {must: true, first: func(r *mcp.CallToolRequest) bool { return len(r.Params.InputResponses) == 0 },
			do: func(ctx context.Context, _ *held, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return wantsName(ctx, r)
			}},
	}
}

func computes(ctx context.Context, _ *held, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	var in struct{ Seconds float64 }
	if err := json.Unmarshal(req.Params.Arguments, &in); err != nil {
		return nil, err
	}
	t := time.NewTimer(time.Duration(in.Seconds * float64(time.Second)))
	defer t.Stop()
	select {
	case <-t.C:
		return text("computed"), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func breaks(context.Context, *held, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "it broke on purpose"}
}

// asksFor waits for all of its questions, which are open at once.
func asksFor(fields ...string) func(context.Context, *held, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return func(ctx context.Context, h *held, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if h == nil {
			return text("nobody was asked"), nil
		}
		if err := h.ask(ctx, fields); err != nil {
			return nil, err
		}
		return text("all is answered"), nil
	}
}

// shelf holds the tasks of the fixture.
type shelf struct {
	mu    sync.Mutex
	tasks map[string]*held
}

// held is one of them. The shelf's lock is its own.
type held struct {
	shelf   *shelf
	task    handles.Task
	cancel  context.CancelFunc
	ended   bool // by tasks/cancel
	changed chan struct{}
}

// offerTasks makes tasks of the calls of clients that can hold them.
func offerTasks(s *mcp.Server) {
	all := &shelf{tasks: map[string]*held{}}
	tools := lastingTools()
	for name, tool := range tools {
		s.AddTool(&mcp.Tool{Name: name, Description: "Of the conformance suite", InputSchema: json.RawMessage(`{"type":"object"}`)},
			func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return tool.do(ctx, nil, r)
			})
	}
	handles.Offer(s, all.obey)
	s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			r, ok := req.(*mcp.CallToolRequest)
			if !ok {
				return next(ctx, method, req)
			}
			tool, lasts := tools[r.Params.Name]
			switch can := handles.Declared(r); {
			case lasts && tool.must && !can:
				return nil, handles.Missing()
			case !lasts || !can || tool.first != nil && tool.first(r):
				return next(ctx, method, req)
			}
			return all.start(func(ctx context.Context, h *held) (*mcp.CallToolResult, error) { return tool.do(ctx, h, r) }), nil
		}
	})
}

// start begins a task and returns its handle.
func (s *shelf) start(do func(context.Context, *held) (*mcp.CallToolResult, error)) mcp.Result {
	ctx, cancel := context.WithCancel(context.Background())
	h := &held{shelf: s, task: handles.New(rand.Text(), time.Now()), cancel: cancel, changed: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tasks[h.task.ID] = h
	go func() {
		defer cancel()
		res, err := do(ctx, h)
		h.end(res, err)
	}()
	return h.task.Created()
}

// end records what has come of a task.
func (h *held) end(res *mcp.CallToolResult, err error) {
	h.shelf.mu.Lock()
	defer h.shelf.mu.Unlock()
	h.task.LastUpdatedAt, h.task.InputRequests = time.Now().UTC(), nil
	var wire *jsonrpc.Error
	switch {
	case h.ended:
		h.task.Status = handles.Cancelled
	case errors.As(err, &wire):
		h.task.Status, h.task.Error, h.task.StatusMessage = handles.Failed, wire, wire.Message
	case err != nil:
		h.task.Status, h.task.Error = handles.Failed, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
	default:
		h.task.Status = handles.Completed
		h.task.Result, _ = json.Marshal(res)
	}
}

// ask opens a question for each field, and returns when all are answered.
func (h *held) ask(ctx context.Context, fields []string) error {
	h.shelf.mu.Lock()
	h.task.Status, h.task.InputRequests = handles.InputRequired, map[string]handles.InputRequest{}
	for i, field := range fields {
		h.task.InputRequests[fmt.Sprintf("question-%d", i)] = handles.InputRequest{Method: "elicitation/create", Params: form(field+"?", field, "string")}
	}
	h.shelf.mu.Unlock()
	select {
	case <-h.changed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// obey is what the methods of handles do.
func (s *shelf) obey(_ context.Context, method string, r *handles.Request) (handles.Task, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.tasks[r.Params.TaskID]
	if h == nil {
		return handles.Task{}, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "there is no such task"}
	}
	switch method {
	case handles.Cancel:
		h.ended = true
		h.cancel()
	case handles.Update:
		for key := range r.Params.InputResponses {
			delete(h.task.InputRequests, key)
		}
		if h.task.Status == handles.InputRequired && len(h.task.InputRequests) == 0 {
			h.task.Status = handles.Working
			close(h.changed)
		}
	}
	t := h.task
	t.InputRequests = maps.Clone(t.InputRequests) // it is written when nobody holds the lock
	return t, nil
}
