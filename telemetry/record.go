package telemetry

import (
	"encoding/json"
	"time"
)

// JobType is what a record is about.
type JobType string

// The job types.
const (
	JobCall   JobType = "mcp_tool_call"
	JobLaunch JobType = "launch"            // a run of kind launch
	JobNode   JobType = "orchestrator_node" // a work item of a node
	JobWorker JobType = "worker"            // a run of another kind
	JobGate   JobType = "gate"
	JobLLM    JobType = "llm_call"
	JobCommit JobType = "commit_service"
)

// Status is how far a record's subject got.
type Status string

// The statuses of a record.
const (
	StatusRunning   Status = "running"
	StatusSuccess   Status = "success"
	StatusFailure   Status = "failure"
	StatusPartial   Status = "partial"
	StatusTimeout   Status = "timeout"
	StatusCancelled Status = "cancelled"
)

// agentName is the agent_name of every record.
const agentName = "gantry"

// Record is one TelemetryRun: a call, a run, a work item, a gate or a commit. All
// of its texts are redacted. Metrics and Context are JSON objects with sorted
// members.
type Record struct {
	EventID       string          `json:"event_id"` // unique
	RunID         string          `json:"run_id"`   // the run, or <run>-<job type>-<id> for its parts
	ParentRunID   string          `json:"parent_run_id,omitempty"`
	AgentName     string          `json:"agent_name"`
	JobType       JobType         `json:"job_type"`
	StartTime     time.Time       `json:"start_time"`
	EndTime       *time.Time      `json:"end_time,omitempty"`
	DurationMS    int64           `json:"duration_ms"`
	Status        Status          `json:"status"`
	Product       string          `json:"product,omitempty"`
	ErrorSummary  string          `json:"error_summary,omitempty"`
	OutputSummary string          `json:"output_summary,omitempty"`
	Metrics       json.RawMessage `json:"metrics_json,omitempty"`
	Context       json.RawMessage `json:"context_json,omitempty"`

	rebuilt bool // made from a journal, and replaced by the call's own record
}

// callContext is the context_json of a call.
type callContext struct {
	Arguments     json.RawMessage `json:"arguments,omitempty"`
	Client        string          `json:"client,omitempty"`
	ErrorCode     string          `json:"error_code,omitempty"`
	ErrorType     string          `json:"error_type,omitempty"` // as on the span
	Events        []callEvent     `json:"events,omitempty"`
	Method        string          `json:"method"`
	Rebuilt       bool            `json:"rebuilt,omitempty"`
	Rejected      string          `json:"rejected,omitempty"`
	RequestID     string          `json:"request_id,omitempty"`
	ResultSummary string          `json:"result_summary,omitempty"`
	SpanID        string          `json:"span_id,omitempty"`
	Tool          string          `json:"tool"`
	Toolset       string          `json:"toolset,omitempty"`
	TraceID       string          `json:"trace_id,omitempty"`
	Transport     string          `json:"transport,omitempty"`
}

type callEvent struct {
	ErrorCode string    `json:"error_code"`
	Name      string    `json:"name"`
	Tool      string    `json:"tool"`
	TS        time.Time `json:"ts"`
}

type callMetrics struct {
	ArgumentBytes int     `json:"argument_bytes"`
	DurationMS    float64 `json:"duration_ms"`
	GuardMS       float64 `json:"guard_ms"`
	ResultBytes   int     `json:"result_bytes"`
}

// record makes the call's record. Its texts are clean already.
func (c *Call) record(e CallEnd, end time.Time, took time.Duration) Record {
	end = end.UTC()
	ctx := callContext{
		Arguments: c.in.Arguments, Client: c.in.Client, ErrorCode: codeLabel(e.Code), ErrorType: e.errorType(), Method: c.in.Method,
		Rejected: c.reason, RequestID: c.in.RequestID, ResultSummary: e.Summary, SpanID: c.SpanID(), Tool: c.in.Tool,
		Toolset: c.in.Toolset, TraceID: c.TraceID(), Transport: transportLabel(c.in.Transport),
	}
	if name := e.event(); name != "" {
		ctx.Events = []callEvent{{codeLabel(e.Code), name, c.in.Tool, end}}
	}
	r := Record{
		EventID: c.ID(), RunID: c.run, AgentName: agentName, JobType: JobCall, StartTime: c.in.Start.UTC(), EndTime: &end,
		DurationMS: took.Milliseconds(), Status: statusOf(e.Outcome), Context: mustJSON(ctx),
		Metrics: mustJSON(callMetrics{c.argumentBytes, milliseconds(took), milliseconds(c.guard), e.ResultBytes}),
	}
	if r.RunID == "" {
		r.RunID = r.EventID // a call of its own
	}
	if e.Outcome == Success {
		r.OutputSummary = e.Summary
	} else {
		r.ErrorSummary = e.Summary
	}
	return r
}

func statusOf(o Outcome) Status {
	switch o {
	case Success, Failure, Timeout, Cancelled:
		return Status(o)
	}
	return StatusFailure
}
