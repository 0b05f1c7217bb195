// Package handles is the wire of the protocol's extension io.modelcontextprotocol/tasks: the
// answer to a call of a tool may be a handle, by which the client asks for the result later.
//
// The extension calls a handle a task. It exists in the era without sessions, where each
// request says for itself what its client can do; whoever does not declare the extension
// gets the result of the tool, and is refused the methods with -32021. [Declared] says which
// it is, [Task.Created] makes the answer to the call, and [Offer] adds the methods to a
// server: tasks/get, tasks/update and tasks/cancel, which hand over to one function. What is
// behind a handle, and who may hold it, is that function's matter.
//
// Status notifications, which the extension leaves to the server, are not sent: the SDK's
// subscriptions do not know them, and acknowledge none.
package handles

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Extension is the name of the extension.
const Extension = "io.modelcontextprotocol/tasks"

// The methods of the extension.
const (
	Get    = "tasks/get"
	Update = "tasks/update"
	Cancel = "tasks/cancel"
)

// Methods returns the methods of the extension.
func Methods() []string { return []string{Get, Update, Cancel} }

// firstRevision is the first revision of the protocol that has the extension. Revisions are
// dates, and compare as text.
const firstRevision = "2026-07-28"

// Status is how a task is.
type Status string

// The statuses of a task. The last three are for good.
const (
	Working       Status = "working"
	InputRequired Status = "input_required"
	Completed     Status = "completed"
	Failed        Status = "failed"
	Cancelled     Status = "cancelled"
)

// Defaults of what a client is told about keeping and asking.
const (
	TTL          = 7 * 24 * time.Hour // from creation; the least that a task can be asked for
	PollInterval = time.Second
)

// Task is a task as tasks/get answers it.
type Task struct {
	ID            string                  `json:"taskId"`
	Status        Status                  `json:"status"`
	StatusMessage string                  `json:"statusMessage,omitempty"`
	CreatedAt     time.Time               `json:"createdAt"`
	LastUpdatedAt time.Time               `json:"lastUpdatedAt"`
	TTLMs         int64                   `json:"ttlMs"`
	PollMs        int64                   `json:"pollIntervalMs"`
	InputRequests map[string]InputRequest `json:"inputRequests,omitempty"` // exactly when input is required
	Result        json.RawMessage         `json:"result,omitempty"`        // of the call, exactly when completed
	Error         *jsonrpc.Error          `json:"error,omitempty"`         // exactly when failed
}

// InputRequest is what a task wants to know, as the request that a server would send.
type InputRequest struct {
	Method string `json:"method"`
	Params any    `json:"params"`
}

// New returns a task that works, with the default times.
func New(id string, created time.Time) Task {
	return Task{ID: id, Status: Working, CreatedAt: created.UTC(), LastUpdatedAt: created.UTC(), TTLMs: TTL.Milliseconds(), PollMs: PollInterval.Milliseconds()}
}

// Created returns the answer to the call that has made the task: the task without what only
// tasks/get tells.
func (t Task) Created() mcp.Result {
	t.InputRequests, t.Result, t.Error = nil, nil, nil
	return &result{ResultType: "task", Task: t}
}

// result is a task in an answer.
type result struct {
	mcp.ResultBase
	ResultType string `json:"resultType"`
	Task
}

// done is the empty answer.
type done struct {
	mcp.ResultBase
	ResultType string `json:"resultType"`
}

// Params are the parameters of the methods.
type Params struct {
	mcp.ParamsBase
	TaskID         string                     `json:"taskId"`
	InputResponses map[string]json.RawMessage `json:"inputResponses,omitempty"` // of tasks/update
}

// Request is a request of one of the methods.
type Request = mcp.ServerRequest[*Params]

// request is what Declared reads: a request of any method.
type request interface {
	GetParams() mcp.Params
	ClientCapabilities() *mcp.ClientCapabilities
}

// Declared reports whether the client of a request can hold a task.
func Declared(r request) bool {
	p := r.GetParams()
	if p == nil {
		return false
	}
	version, _ := p.GetMeta()[mcp.MetaKeyProtocolVersion].(string)
	caps := r.ClientCapabilities()
	if version < firstRevision || caps == nil {
		return false
	}
	_, ok := caps.Extensions[Extension]
	return ok
}

// Elicits reports whether the client of a request can ask its user.
func Elicits(r request) bool {
	caps := r.ClientCapabilities()
	return caps != nil && caps.Elicitation != nil
}

// Has reports whether a method is the extension's.
func Has(method string) bool { return slices.Contains(Methods(), method) }
