package telemetry

import (
	"context"
	"encoding/json"
	"strconv"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/lazyregexp"
)

// Outcome is how a call ended.
type Outcome string

// The outcomes of a call.
const (
	Success   Outcome = "success"
	Failure   Outcome = "failure"
	Timeout   Outcome = "timeout"
	Cancelled Outcome = "cancelled"
)

// CallStart is what is known of a call when it arrives. Everything in it may come
// from a hostile client; it is cleaned before it is kept.
type CallStart struct {
	Method          string // default "tools/call"
	Toolset         string
	Tool            string // as the client wrote it
	RequestID       string // JSON-RPC id as text
	Traceparent     string // W3C, from params._meta
	Tracestate      string
	Link            string // W3C traceparent of what brought the call, such as an HTTP request
	ProtocolVersion string
	SessionID       string // older clients
	Transport       string // "pipe" or "tcp"
	Client          string // token name or self-reported name; kept in the record only
	Arguments       json.RawMessage
	Start           time.Time // default now
}

// CallEnd is how a call ended.
type CallEnd struct {
	Outcome     Outcome
	RPCCode     int  // JSON-RPC error code; 0 if the answer is a result
	ToolError   bool // the answer is a result with isError
	Code        fault.Code
	Summary     string // one sentence: what was given, or what went wrong
	ResultBytes int
	Detail      string // cause, panic and stack: goes to the log and nowhere else
}

// A Call is one tool call under way. Its methods may be called from several
// goroutines; after [Call.End] they do nothing.
type Call struct {
	t     *Telemetry
	ctx   context.Context // holds the span, for exemplars and the log line
	span  trace.Span
	in    CallStart // cleaned
	tool  string    // label
	tools string    // label of the toolset

	argumentBytes int

	mu      sync.Mutex
	ended   bool
	run     string
	reason  string
	guard   time.Duration
	guarded bool
}

// Limits, in bytes, on what is kept of a client's texts.
const (
	maxName      = 256
	maxSummary   = 1024
	maxArguments = 16 << 10
)

// StartCall begins the record of a tool call and returns a context with its span.
// The span's parent is the caller's traceparent; without a valid one it is the
// root of a new trace. A span already in ctx, and that of s.Link, become links.
func (t *Telemetry) StartCall(ctx context.Context, s CallStart) (context.Context, *Call) {
	if s.Start.IsZero() {
		s.Start = t.opts.Now()
	}
	if s.Method == "" {
		s.Method = "tools/call"
	}
	c := &Call{t: t, argumentBytes: len(s.Arguments), tool: t.labels.tool(s.Toolset, s.Tool), tools: t.labels.toolset(s.Toolset)}
	opts := []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindServer), trace.WithTimestamp(s.Start)}
	if link := trace.SpanContextFromContext(ctx); link.IsValid() {
		opts = append(opts, trace.WithLinks(trace.Link{SpanContext: link}))
	}
	if link := remoteParent(s.Link, ""); link.IsValid() {
		opts = append(opts, trace.WithLinks(trace.Link{SpanContext: link}))
	}
	if parent := remoteParent(s.Traceparent, s.Tracestate); parent.IsValid() {
		ctx = trace.ContextWithRemoteSpanContext(ctx, parent)
	} else {
		opts = append(opts, trace.WithNewRoot())
	}
	c.in = t.cleanStart(s)
	ctx, c.span = t.tracer.Start(ctx, methodLabel(s.Method)+" "+c.tool, opts...)
	c.ctx = ctx
	if c.span.IsRecording() {
		c.span.SetAttributes(c.startAttributes()...)
	}
	return ctx, c
}

func (t *Telemetry) cleanStart(s CallStart) CallStart {
	for _, field := range []*string{&s.Method, &s.Toolset, &s.Tool, &s.RequestID, &s.ProtocolVersion, &s.SessionID, &s.Client} {
		*field = t.clean(*field, maxName)
	}
	s.Arguments = t.cleanArguments(s.Arguments)
	return s
}

// clean prepares a text for keeping: at most limit bytes, whole characters.
func (t *Telemetry) clean(s string, limit int) string {
	// The cut comes last: a cut secret would no longer be recognised.
	return cut(t.redact.Clean(s), limit)
}

func cut(s string, limit int) string {
	const mark = "…"
	if len(s) <= limit {
		return s
	}
	end := limit - len(mark)
	for end > 0 && s[end]&0xc0 == 0x80 {
		end--
	}
	return s[:end] + mark
}

func (t *Telemetry) cleanArguments(raw json.RawMessage) json.RawMessage {
	clean := t.redact.CleanJSON(raw)
	if len(clean) <= maxArguments {
		return clean
	}
	return mustJSON(struct {
		Bytes     int    `json:"bytes"`
		Head      string `json:"head"`
		Truncated bool   `json:"truncated"`
	}{len(raw), cut(string(clean), maxSummary), true})
}

func (c *Call) startAttributes() []attribute.KeyValue {
	attrs := []attribute.KeyValue{keyMethod.String(c.in.Method), keyOperation.String("execute_tool"),
		keyTool.String(c.in.Tool), keyToolset.String(c.in.Toolset)}
	for _, a := range []attribute.KeyValue{keyProtocol.String(c.in.ProtocolVersion), keySession.String(c.in.SessionID),
		keyRequestID.String(c.in.RequestID), keyTransport.String(transportLabel(c.in.Transport))} {
		if a.Value.AsString() != "" {
			attrs = append(attrs, a)
		}
	}
	if c.t.opts.SpanArguments && len(c.in.Arguments) > 0 {
		attrs = append(attrs, keyArguments.String(string(c.in.Arguments)))
	}
	return attrs
}

// ID names the call's record: "call-<trace id>-<span id>". A journal event that
// the call causes carries it, so that a lost record can be rebuilt.
func (c *Call) ID() string { return "call-" + c.TraceID() + "-" + c.SpanID() }

// TraceID returns the call's trace id, 32 hex digits.
func (c *Call) TraceID() string { return c.span.SpanContext().TraceID().String() }

// SpanID returns the id of the call's span, 16 hex digits.
func (c *Call) SpanID() string { return c.span.SpanContext().SpanID().String() }

// TraceParent returns the W3C traceparent of the call's span, for children.
func (c *Call) TraceParent() string {
	return "00-" + c.TraceID() + "-" + c.SpanID() + "-" + c.span.SpanContext().TraceFlags().String()
}

var runIDForm = lazyregexp.New(`^[a-zA-Z0-9_-]{8,64}$`)

// SetRun says which run the call names or made; its record then belongs to that
// run. What is not a run id is ignored.
func (c *Call) SetRun(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if runIDForm.MatchString(id) {
		c.run = id
	}
}

// GuardDone says that the guards let the call through after d. The first one counts.
func (c *Call) GuardDone(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.guarded {
		c.guard, c.guarded = d, true
	}
}

// Rejected says that a guard refused the call: drain, limit, capacity, arguments,
// schema, access, idempotency, lock, timeout, unknown_tool or panic. The first
// reason counts. The call still ends with [Call.End].
func (c *Call) Rejected(reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reason == "" {
		c.reason = reasonLabel(reason)
	}
}

// End writes the call's span, samples, record and log line. The first End counts.
func (c *Call) End(e CallEnd) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return
	}
	c.ended = true
	end := c.t.opts.Now()
	took := max(0, end.Sub(c.in.Start))
	if !c.guarded {
		c.guard = took // it never got past the guards
	}
	e.Summary = c.t.clean(e.Summary, maxSummary)
	c.endSpan(e, end)
	c.measure(e, took)
	if c.t.queue != nil {
		c.t.queue.add(c.record(e, end, took))
	}
	c.log(e, took)
}

// errorType returns the conventions' error.type; "" is no error of the server's:
// what the client did wrong (-32700 … -32602) is not one.
func (e CallEnd) errorType() string {
	switch {
	case e.RPCCode == -32700, e.RPCCode <= -32600 && e.RPCCode >= -32602:
		return ""
	case e.RPCCode != 0:
		return strconv.Itoa(e.RPCCode)
	case e.ToolError:
		return "tool_error"
	case e.Outcome != Success:
		return outcomeLabel(e.Outcome)
	}
	return ""
}

// event returns the name of the event that the outcome calls for, or "".
func (e CallEnd) event() string {
	switch e.Outcome {
	case Failure:
		return EventToolFailed
	case Timeout:
		return EventToolTimeout
	}
	return ""
}

func (c *Call) endSpan(e CallEnd, end time.Time) {
	if !c.span.IsRecording() {
		c.span.End(trace.WithTimestamp(end))
		return
	}
	if c.run != "" {
		c.span.SetAttributes(keyRun.String(c.run))
	}
	if e.RPCCode != 0 {
		c.span.SetAttributes(keyStatusCode.String(strconv.Itoa(e.RPCCode)))
	}
	if e.Code != "" {
		c.span.SetAttributes(keyErrorCode.String(codeLabel(e.Code)))
	}
	if kind := e.errorType(); kind != "" {
		c.span.SetAttributes(keyErrorType.String(kind))
		c.span.SetStatus(codes.Error, e.Summary)
	}
	if name := e.event(); name != "" {
		c.span.AddEvent(name, trace.WithTimestamp(end), trace.WithAttributes(
			keyTool.String(c.in.Tool), keyErrorCode.String(codeLabel(e.Code))))
	}
	c.span.End(trace.WithTimestamp(end))
}

func (c *Call) measure(e CallEnd, took time.Duration) {
	c.t.measure(c.ctx, sample{
		method: c.in.Method, toolset: c.tools, tool: c.tool, errorType: e.errorType(), outcome: e.Outcome, code: e.Code,
		reason: c.reason, took: took, guard: c.guard,
	})
}
