package agents

import (
	"encoding/json"
	"fmt"
	"time"
)

// EntryKind says what an entry holds.
type EntryKind string

// The kinds of entry.
const (
	NormalizedEntry EntryKind = "NORMALIZED_ENTRY" // something that happened, in the model that all agents share
	StdoutEntry     EntryKind = "STDOUT"           // a line of standard output, as it was
	StderrEntry     EntryKind = "STDERR"           // a line of standard error, as it was
	DiffEntry       EntryKind = "DIFF"             // a patch
)

// Entry is one thing in the history of a turn. Its JSON is {"type", "content"}: an
// object for a normalized entry, else a string. An entry does not change once it is
// written: how a tool's use ended is an entry of its own, with the same call_id in its
// metadata.
type Entry struct {
	Kind EntryKind
	Text string      // of every kind but NormalizedEntry
	Norm *Normalized // of NormalizedEntry
}

// Normalized is something that happened in a turn.
type Normalized struct {
	Timestamp time.Time // UTC, milliseconds
	Type      EntryType
	Content   string    // the text, bounded; for a tool a line that says what it did
	Metadata  *Metadata // nil when there is nothing to say
}

// Metadata is what else is known of an entry.
type Metadata struct {
	CallID    string `json:"call_id,omitempty"`   // the agent's name of a tool's use
	Truncated bool   `json:"truncated,omitempty"` // something of the entry was longer
	Usage     *Usage `json:"usage,omitempty"`     // the tokens of the turn, with its end
}

// EntryName names what happened.
type EntryName string

// What can happen in a turn.
const (
	UserMessage      EntryName = "user_message"
	UserFeedback     EntryName = "user_feedback" // a tool was denied
	AssistantMessage EntryName = "assistant_message"
	ToolUse          EntryName = "tool_use"
	SystemMessage    EntryName = "system_message"
	ErrorMessage     EntryName = "error_message"
	Thinking         EntryName = "thinking"
	Loading          EntryName = "loading"
	NextAction       EntryName = "next_action"
)

// EntryType says what happened; which fields count depends on Name.
type EntryType struct {
	Name EntryName `json:"type"`

	// Of ToolUse; DeniedTool of UserFeedback.
	ToolName   string      `json:"tool_name,omitempty"`
	Action     *Action     `json:"action_type,omitempty"`
	Status     *ToolStatus `json:"status,omitempty"`
	DeniedTool string      `json:"denied_tool,omitempty"`

	// Of ErrorMessage.
	ErrorType *ErrorType `json:"error_type,omitempty"`

	// Of NextAction.
	Failed             bool `json:"failed,omitempty"`
	ExecutionProcesses int  `json:"execution_processes,omitempty"`
	NeedsSetup         bool `json:"needs_setup,omitempty"`
}

// ErrorType says what kind of error it was: setup_required (the CLI must be set up,
// such as a login) or other.
type ErrorType struct {
	Name string `json:"type"`
}

// The kinds of error.
const (
	SetupRequired = "setup_required"
	OtherError    = "other"
)

// ToolState is how far the use of a tool is.
type ToolState string

// The states of a tool's use.
const (
	ToolCreated         ToolState = "created"
	ToolSucceeded       ToolState = "success"
	ToolFailed          ToolState = "failed"
	ToolDenied          ToolState = "denied"
	ToolPendingApproval ToolState = "pending_approval"
	ToolTimedOut        ToolState = "timed_out"
)

// ToolStatus is the state of a tool's use.
type ToolStatus struct {
	State  ToolState `json:"status"`
	Reason string    `json:"reason,omitempty"` // of ToolDenied

	// Of ToolPendingApproval.
	ApprovalID  string     `json:"approval_id,omitempty"`
	RequestedAt *time.Time `json:"requested_at,omitempty"`
	TimeoutAt   *time.Time `json:"timeout_at,omitempty"`
}

// ActionName names what a tool does.
type ActionName string

// What a tool can do.
const (
	FileRead         ActionName = "file_read"
	FileEdit         ActionName = "file_edit"
	CommandRun       ActionName = "command_run"
	Search           ActionName = "search"
	WebFetch         ActionName = "web_fetch"
	AnyTool          ActionName = "tool"
	TaskCreate       ActionName = "task_create"
	PlanPresentation ActionName = "plan_presentation"
	TodoManagement   ActionName = "todo_management"
	OtherAction      ActionName = "other"
)

// Action is what a tool does; which fields count depends on Name.
type Action struct {
	Name ActionName `json:"action"`

	Path        string          `json:"path,omitempty"`        // FileRead, FileEdit: as the agent wrote it, under the working directory made relative
	Changes     []FileChange    `json:"changes,omitempty"`     // FileEdit
	Command     string          `json:"command,omitempty"`     // CommandRun
	Run         *RunResult      `json:"-"`                     // CommandRun, when it is over; "result"
	Query       string          `json:"query,omitempty"`       // Search
	URL         string          `json:"url,omitempty"`         // WebFetch
	ToolName    string          `json:"tool_name,omitempty"`   // AnyTool
	Arguments   json.RawMessage `json:"arguments,omitempty"`   // AnyTool: as the agent sent it
	Tool        *ToolResult     `json:"-"`                     // AnyTool, when it is over; "result"
	Description string          `json:"description,omitempty"` // TaskCreate, OtherAction
	Plan        string          `json:"plan,omitempty"`        // PlanPresentation
	Todos       []Todo          `json:"todos,omitempty"`       // TodoManagement
	Operation   string          `json:"operation,omitempty"`   // TodoManagement: write, update
}

// FileChange is one change to a file.
type FileChange struct {
	Action      string `json:"action"`                 // write, edit, delete, rename
	Content     string `json:"content,omitempty"`      // of write
	UnifiedDiff string `json:"unified_diff,omitempty"` // of edit
	NewPath     string `json:"new_path,omitempty"`     // of rename
}

// RunResult is how a command ended.
type RunResult struct {
	ExitStatus *ExitStatus `json:"exit_status,omitempty"`
	Output     string      `json:"output,omitempty"` // bounded, the end of it
}

// ExitStatus is an exit code ("exit_code") or, where the agent tells no more,
// whether it went well ("success").
type ExitStatus struct {
	Name    string `json:"type"`
	Code    *int   `json:"code,omitempty"`
	Success *bool  `json:"success,omitempty"`
}

// ToolResult is what a tool answered: markdown text, or json.
type ToolResult struct {
	Type  string          `json:"type"` // markdown, json
	Value json.RawMessage `json:"value"`
}

// markdown returns the result that is a text, bounded.
func markdown(text string) *ToolResult {
	b, _ := json.Marshal(short(text)) // a string always encodes
	return &ToolResult{Type: "markdown", Value: b}
}

// Todo is an item of a to-do list.
type Todo struct {
	Content  string `json:"content"`
	Status   string `json:"status"` // pending, in_progress, completed, cancelled
	Priority string `json:"priority,omitempty"`
}

// MarshalJSON writes {"type", "content"}.
func (e Entry) MarshalJSON() ([]byte, error) {
	if e.Kind == NormalizedEntry {
		return json.Marshal(entryOut{e.Kind, e.Norm})
	}
	return json.Marshal(entryOut{e.Kind, e.Text})
}

type entryOut struct {
	Kind    EntryKind `json:"type"`
	Content any       `json:"content"`
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (e *Entry) UnmarshalJSON(b []byte) error {
	var in struct {
		Kind    EntryKind       `json:"type"`
		Content json.RawMessage `json:"content"`
	}
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	*e = Entry{Kind: in.Kind}
	switch in.Kind {
	case NormalizedEntry:
		e.Norm = new(Normalized)
		return json.Unmarshal(in.Content, e.Norm)
	case StdoutEntry, StderrEntry, DiffEntry:
		return json.Unmarshal(in.Content, &e.Text)
	}
	return fmt.Errorf("an entry of the unknown type %.40q", in.Kind)
}

type normalizedWire struct {
	Timestamp *time.Time `json:"timestamp,omitempty"`
	Type      EntryType  `json:"entry_type"`
	Content   string     `json:"content"`
	Metadata  *Metadata  `json:"metadata,omitempty"`
}

// MarshalJSON writes {"timestamp"?, "entry_type", "content", "metadata"?}.
func (n Normalized) MarshalJSON() ([]byte, error) {
	w := normalizedWire{Type: n.Type, Content: n.Content, Metadata: n.Metadata}
	if !n.Timestamp.IsZero() {
		at := n.Timestamp.UTC().Truncate(time.Millisecond)
		w.Timestamp = &at
	}
	return json.Marshal(w)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (n *Normalized) UnmarshalJSON(b []byte) error {
	var w normalizedWire
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	*n = Normalized{Type: w.Type, Content: w.Content, Metadata: w.Metadata}
	if w.Timestamp != nil {
		n.Timestamp = *w.Timestamp
	}
	return nil
}

type actionFields Action

type actionWire struct {
	actionFields
	Result json.RawMessage `json:"result,omitempty"`
}

// MarshalJSON writes the fields, and the result of a command or a tool as "result".
func (a Action) MarshalJSON() ([]byte, error) {
	w := actionWire{actionFields: actionFields(a)}
	var err error
	switch {
	case a.Run != nil:
		w.Result, err = json.Marshal(a.Run)
	case a.Tool != nil:
		w.Result, err = json.Marshal(a.Tool)
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(w)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (a *Action) UnmarshalJSON(b []byte) error {
	var w actionWire
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	*a = Action(w.actionFields)
	switch {
	case len(w.Result) == 0:
		return nil
	case a.Name == CommandRun:
		a.Run = new(RunResult)
		return json.Unmarshal(w.Result, a.Run)
	}
	a.Tool = new(ToolResult)
	return json.Unmarshal(w.Result, a.Tool)
}
