package handles

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// nameHeader repeats the task's id over HTTP, so that what stands between can see where a
// request belongs; methodHeader is there in every request of that transport.
const (
	nameHeader   = "Mcp-Name"
	methodHeader = "Mcp-Method"
)

// Declare adds the extension to what a server can do.
func Declare(c *mcp.ServerCapabilities) { c.AddExtension(Extension, nil) }

// Offer adds the methods to a server. do obeys them for a client that has declared the
// extension; the task that it returns counts for tasks/get alone. An unknown task is its to
// refuse, with -32602.
func Offer(m *mcp.Server, do func(ctx context.Context, method string, r *Request) (Task, error)) {
	for _, method := range Methods() {
		// Never called: the middleware answers, which is told who asks. And never refused: the
		// SDK has no such methods itself.
		_ = mcp.AddReceivingCustomMethod(m, method, func(context.Context, *mcp.ServerSession, *Params) (*done, error) {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "internal error"}
		})
	}
	m.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			r, ok := req.(*Request)
			if !ok {
				return next(ctx, method, req)
			}
			if err := refusal(r); err != nil {
				return nil, err
			}
			t, err := do(ctx, method, r)
			switch {
			case err != nil:
				return nil, err
			case method == Get:
				return &result{ResultType: "complete", Task: t}, nil
			}
			return &done{ResultType: "complete"}, nil
		}
	})
}

// refusal says what is wrong with a request, whatever its task.
func refusal(r *Request) error {
	switch {
	case r.Params == nil || r.Params.TaskID == "":
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "params.taskId is missing"}
	case !Declared(r):
		return Missing()
	}
	if x := r.Extra; x != nil && x.Header.Get(methodHeader) != "" && x.Header.Get(nameHeader) != r.Params.TaskID {
		return &jsonrpc.Error{Code: mcp.CodeHeaderMismatch, Message: "header mismatch: Mcp-Name is not params.taskId"}
	}
	return nil
}

// Missing is the refusal of a client that has not declared the extension.
func Missing() error {
	return &jsonrpc.Error{
		Code: mcp.CodeMissingRequiredClientCapabilities, Message: "missing required client capability: " + Extension,
		Data: json.RawMessage(`{"requiredCapabilities":{"extensions":{"` + Extension + `":{}}}}`),
	}
}

// Refused reports whether an error is one that a request gets before it is looked at: nobody
// but the protocol has heard of it.
func Refused(err error) bool {
	var e *jsonrpc.Error
	return errors.As(err, &e) && (e.Code == mcp.CodeMissingRequiredClientCapabilities || e.Code == mcp.CodeHeaderMismatch)
}
