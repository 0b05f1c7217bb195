package runs

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"
)

// Event is one line of a run's journal. The journal adds seq, prev_hash and
// event_hash; the rest is made by [NewEvent].
type Event struct {
	Seq          int64           `json:"seq"`
	EventID      string          `json:"event_id"` // evt-<YYYYMMDDHHMMSS>-<8 hex>
	RunID        ID              `json:"run_id"`
	TS           time.Time       `json:"ts"` // UTC, milliseconds
	Type         EventType       `json:"type"`
	Payload      json.RawMessage `json:"payload"`
	TraceID      string          `json:"trace_id"`
	SpanID       string          `json:"span_id"`
	ParentSpanID string          `json:"parent_span_id,omitempty"`
	PrevHash     string          `json:"prev_hash"`
	EventHash    string          `json:"event_hash"`
}

// EventType names what happened.
type EventType string

// The types of event. The payload of each is the struct named beside it; those
// marked progress are not synced to disk by themselves.
const (
	RunCreated        EventType = "RUN_CREATED"        // Created
	NodeEntered       EventType = "NODE_ENTERED"       // Entered
	RunStateChanged   EventType = "RUN_STATE_CHANGED"  // StateChange
	TransitionRefused EventType = "TRANSITION_REFUSED" // StateChange
	WorkItemStarted   EventType = "WORK_ITEM_STARTED"  // ItemStarted (progress)
	WorkItemFinished  EventType = "WORK_ITEM_FINISHED" // ItemFinished
	WorkItemFailed    EventType = "WORK_ITEM_FAILED"   // ItemFailed
	ArtifactWritten   EventType = "ARTIFACT_WRITTEN"   // Artifact
	ArtifactChanged   EventType = "ARTIFACT_CHANGED"   // Artifact: its file is not what its worker wrote; without a hash, it is gone
	InputsCloned      EventType = "INPUTS_CLONED"      // InputsPinned
	GateRunStarted    EventType = "GATE_RUN_STARTED"   // GateRun (progress)
	GateRunFinished   EventType = "GATE_RUN_FINISHED"  // GateRun (progress)
	IssueOpened       EventType = "ISSUE_OPENED"       // IssueChange
	IssueResolved     EventType = "ISSUE_RESOLVED"     // IssueChange
	CommandReceived   EventType = "COMMAND_RECEIVED"   // Command
	CommandFinished   EventType = "COMMAND_FINISHED"   // Receipt
	RunPaused         EventType = "RUN_PAUSED"         // Pause
	ResumeRewind      EventType = "RESUME_REWIND"      // Rewind
	CommitCreated     EventType = "COMMIT_CREATED"     // Published
	PROpened          EventType = "PR_OPENED"          // Published
	ProcessStarted    EventType = "PROCESS_STARTED"    // Process
	ProcessAdopted    EventType = "PROCESS_ADOPTED"    // Process: found again after a crash
	ProcessEnded      EventType = "PROCESS_ENDED"      // Process
	RunNoted          EventType = "RUN_NOTED"          // Noted
	LLMCallStarted    EventType = "LLM_CALL_STARTED"   // ModelCall (progress)
	LLMCallFinished   EventType = "LLM_CALL_FINISHED"  // ModelAnswer
	LLMCallFailed     EventType = "LLM_CALL_FAILED"    // ModelFailure
	RunCompleted      EventType = "RUN_COMPLETED"      // Ended
	RunFailed         EventType = "RUN_FAILED"         // Failure
	RunCancelled      EventType = "RUN_CANCELLED"      // Ended
	JournalRepaired   EventType = "JOURNAL_REPAIRED"   // Repaired
)

// Created is the payload of RUN_CREATED: everything the run needs to go on
// without the process, or the binary, that started it.
type Created struct {
	Kind     Kind              `json:"kind"`
	Workflow Workflow          `json:"workflow"`
	Input    json.RawMessage   `json:"input"` // the effective configuration
	InputSHA string            `json:"input_sha256"`
	Root     string            `json:"root"`  // hash of the root that the run was started under
	Owner    string            `json:"owner"` // token that started it; "" for the local user
	Labels   map[string]string `json:"labels,omitempty"`
	Flags    map[string]bool   `json:"flags,omitempty"` // what Step.Auto asks for
	Once     *Once             `json:"once,omitempty"`
	CallID   string            `json:"call_id,omitempty"` // record of the call that started it
	Tool     string            `json:"tool,omitempty"`
}

// Once is an idempotency key and the hash of the effective request that it protects.
type Once struct {
	Key  string `json:"key"`
	Hash string `json:"hash"`
}

// Entered says that a run went on to a node.
type Entered struct {
	Node      string   `json:"node"`
	Visit     int      `json:"visit"`
	Items     []string `json:"items,omitempty"` // fan-out; empty: one item
	CommandID string   `json:"command_id,omitempty"`
}

// StateChange is a transition, done or refused.
type StateChange struct {
	OldState State `json:"old_state"`
	NewState State `json:"new_state"`
}

// ItemStarted says that a work item is being executed.
type ItemStarted struct {
	WorkItemID string `json:"work_item_id"`
	Worker     string `json:"worker"`
	Attempt    int    `json:"attempt"`
}

// ItemFinished is the result of a work item.
type ItemFinished struct {
	WorkItemID string            `json:"work_item_id"`
	Worker     string            `json:"worker"`
	Attempt    int               `json:"attempt"`
	Outcome    string            `json:"outcome,omitempty"`
	Items      []string          `json:"items,omitempty"` // what a later node fans out over
	Sections   map[string]string `json:"section_states,omitempty"`
	Data       json.RawMessage   `json:"data,omitempty"`
	Inputs     map[string]string `json:"inputs,omitempty"` // artifact → sha256 when it was read
	DurationMS int64             `json:"duration_ms"`
}

// ItemFailed is a failed attempt. Final says that there will be no other.
type ItemFailed struct {
	WorkItemID string `json:"work_item_id"`
	Worker     string `json:"worker"`
	Attempt    int    `json:"attempt"`
	Final      bool   `json:"final"`
	DurationMS int64  `json:"duration_ms"`
	Failure
}

// Failure is a fault as an event keeps it.
type Failure struct {
	Code      string          `json:"code"`
	Message   string          `json:"message"`
	Retryable bool            `json:"retryable"`
	Hint      string          `json:"hint,omitempty"`
	Details   json.RawMessage `json:"details,omitempty"`
	Node      string          `json:"node,omitempty"`
}

// Artifact is a file that a worker wrote. Path is relative to the run's folder.
type Artifact struct {
	Name     string `json:"name"`
	Path     string `json:"path"`
	SHA256   string `json:"sha256"`
	Size     int64  `json:"size_bytes"`
	SchemaID string `json:"schema_id,omitempty"`
	Writer   string `json:"writer_worker"`
}

// InputsPinned says which commits a launch works on.
type InputsPinned struct {
	RepoSHA string `json:"repo_sha"`
	SiteSHA string `json:"site_sha"`
}

// GateRun is one run of one gate.
type GateRun struct {
	Gate       string `json:"gate"`
	OK         bool   `json:"ok"`
	Skipped    string `json:"skipped,omitempty"`
	Issues     int    `json:"issues"`
	DurationMS int64  `json:"duration_ms"`
}

// IssueChange opens or resolves a finding.
type IssueChange struct {
	IssueID  string `json:"issue_id"`
	Severity string `json:"severity,omitempty"`
	Gate     string `json:"gate,omitempty"`
	Title    string `json:"title,omitempty"`
}

// Pause says that a run waits for a command, and for which.
type Pause struct {
	Reason string   `json:"reason"`
	Await  []string `json:"await"` // command types, sorted
}

// Rewind says from where a run goes on after an interruption, a failure or by force.
type Rewind struct {
	FromState State  `json:"from_state"`
	ToState   State  `json:"to_state"`
	Node      string `json:"node"`
	Redo      bool   `json:"redo"` // the node is visited anew instead of continued
	CommandID string `json:"command_id"`

	Anew []string `json:"anew,omitempty"` // with Redo, nodes that are executed anew when the run comes to them, whatever their inputs
}

// Published is a commit or a pull request.
type Published struct {
	URL       string `json:"pr_url,omitempty"`
	Branch    string `json:"branch"`
	CommitSHA string `json:"commit_sha"`
}

// Process is a process that a run is about. Key is its name at the supervisor.
type Process struct {
	Key      string `json:"key"`
	PID      int    `json:"pid"`
	State    string `json:"state"` // running, exited, failed
	ExitCode *int   `json:"exit_code,omitempty"`
	Signal   string `json:"signal,omitempty"`
	Note     string `json:"note,omitempty"` // what is to be said about its end

	OutputBytes int64 `json:"output_bytes,omitempty"` // that it had written when it ended
}

// Noted is what a worker found out that is worth knowing before its work is done. A later
// value of the same name counts.
type Noted struct {
	Notes map[string]string `json:"notes"`
}

// ModelCall is one request to a language model. What was asked and answered is in
// evidence/llm_calls/<call_id>.json.
type ModelCall struct {
	CallID          string  `json:"call_id"`
	Model           string  `json:"model"`
	ProviderBaseURL string  `json:"provider_base_url"`
	PromptHash      string  `json:"prompt_hash"`
	Temperature     float64 `json:"temperature"`
	MaxTokens       int     `json:"max_tokens"`
}

// ModelAnswer is what a call cost that was answered.
type ModelAnswer struct {
	CallID       string      `json:"call_id"`
	Model        string      `json:"model"`
	LatencyMS    int64       `json:"latency_ms"`
	TokenUsage   ModelTokens `json:"token_usage"`
	FinishReason string      `json:"finish_reason"` // stop, length, tool_calls, error
	OutputHash   string      `json:"output_hash"`
	CostUSD      *float64    `json:"api_cost_usd,omitempty"` // nil: the price is not known
}

// ModelTokens counts the tokens of a call.
type ModelTokens struct {
	Input  int64 `json:"input_tokens"`
	Output int64 `json:"output_tokens"`
	Total  int64 `json:"total_tokens"`
}

// ModelFailure is a call that got no answer.
type ModelFailure struct {
	CallID     string `json:"call_id"`
	Model      string `json:"model"`
	LatencyMS  int64  `json:"latency_ms"`
	ErrorClass string `json:"error_class"` // connection, timeout, rate_limited, server, refused, malformed, blocked, interrupted
	Summary    string `json:"error_summary"`
	Retryable  bool   `json:"retryable"`
	HTTPStatus int    `json:"http_status,omitempty"`
}

// Ended closes a run.
type Ended struct {
	Reason string `json:"reason,omitempty"`
}

// Repaired says that an incomplete last line was cut off a journal.
type Repaired struct {
	CutBytes int64 `json:"cut_bytes"`
	AfterSeq int64 `json:"after_seq"`
}

// Draft is an event before it has its place in a journal.
type Draft struct {
	Type    EventType
	Payload any
	Span    string // work item id that it belongs to; empty: the run
}

// Reportable fails unless a worker may report the event: it tells of what workers
// do, and its payload is the struct of its type. Anything else would steer the run, or
// break its journal.
func (d Draft) Reportable() error {
	var into any
	switch d.Type {
	case ArtifactWritten:
		into = new(Artifact)
	case InputsCloned:
		into = new(InputsPinned)
	case GateRunStarted, GateRunFinished:
		into = new(GateRun)
	case IssueOpened, IssueResolved:
		into = new(IssueChange)
	case CommitCreated, PROpened:
		into = new(Published)
	case ProcessStarted, ProcessAdopted, ProcessEnded:
		into = new(Process)
	case RunNoted:
		into = new(Noted)
	case LLMCallStarted:
		into = new(ModelCall)
	case LLMCallFinished:
		into = new(ModelAnswer)
	case LLMCallFailed:
		into = new(ModelFailure)
	default:
		return fmt.Errorf("a worker does not report %s", d.Type)
	}
	raw, err := json.Marshal(d.Payload)
	if err == nil {
		err = json.Unmarshal(raw, into)
	}
	if err != nil {
		return fmt.Errorf("the payload of %s: %w", d.Type, err)
	}
	return nil
}

// NewEvent makes an event of a draft. The payload must encode as JSON.
func NewEvent(run ID, d Draft, now time.Time) (Event, error) {
	payload, err := json.Marshal(d.Payload)
	if err != nil {
		return Event{}, fmt.Errorf("encode the payload of %s: %w", d.Type, err)
	}
	var b [4]byte
	rand.Read(b[:])
	now = now.UTC().Truncate(time.Millisecond)
	e := Event{
		EventID: "evt-" + now.Format("20060102150405") + "-" + hex.EncodeToString(b[:]),
		RunID:   run, TS: now, Type: d.Type, Payload: payload,
		TraceID: run.TraceID(), SpanID: run.SpanID(d.Span),
	}
	if d.Span != "" {
		e.ParentSpanID = run.SpanID("")
	}
	return e, nil
}

// Body returns the members of the event that its maker decides, as the JSON
// object that a journal appends.
func (e Event) Body() ([]byte, error) {
	return json.Marshal(struct {
		EventID      string          `json:"event_id"`
		RunID        ID              `json:"run_id"`
		TS           time.Time       `json:"ts"`
		Type         EventType       `json:"type"`
		Payload      json.RawMessage `json:"payload"`
		TraceID      string          `json:"trace_id"`
		SpanID       string          `json:"span_id"`
		ParentSpanID string          `json:"parent_span_id,omitempty"`
	}{e.EventID, e.RunID, e.TS, e.Type, e.Payload, e.TraceID, e.SpanID, e.ParentSpanID})
}

// ParseEvent reads a line of a journal.
func ParseEvent(line []byte) (Event, error) {
	var e Event
	if err := json.Unmarshal(line, &e); err != nil {
		return Event{}, fmt.Errorf("read event: %w", err)
	}
	return e, nil
}
