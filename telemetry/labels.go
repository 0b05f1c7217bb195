package telemetry

import (
	"slices"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/runs"
)

// labels decides which names may become metric labels, so that their number is
// bounded whatever clients send.
type labels struct {
	tools map[string][]string
	gates []string
}

func newLabels(o Options) labels { return labels{tools: o.Tools, gates: o.Gates} }

// toolset returns the name if it is a known toolset's.
func (l labels) toolset(name string) string {
	if _, ok := l.tools[name]; ok {
		return name
	}
	return other
}

// tool returns the name if the toolset has it, or, for an unknown toolset, any has.
func (l labels) tool(toolset, name string) string {
	if names, ok := l.tools[toolset]; ok {
		if slices.Contains(names, name) {
			return name
		}
		return other
	}
	for _, names := range l.tools {
		if slices.Contains(names, name) {
			return name
		}
	}
	return other
}

// gate returns the name of a known gate.
func (l labels) gate(name string) string {
	if l.gates == nil && name != "" && len(name) <= 64 && run(name, 0, alnum|underscore|dash|dot) == len(name) {
		return name
	}
	if slices.Contains(l.gates, name) {
		return name
	}
	return other
}

// methodLabel returns a method of the protocol.
func methodLabel(name string) string {
	switch name {
	case "tools/call", "tools/list", "initialize", "ping", "server/discover", "resources/list", "resources/read",
		"resources/templates/list", "resources/subscribe", "resources/unsubscribe", "subscriptions/listen", "tasks/get",
		"tasks/update", "tasks/cancel", "prompts/list", "prompts/get", "completion/complete", "logging/setLevel",
		"notifications/initialized", "notifications/cancelled", "notifications/progress":
		return name
	}
	return other
}

// reasonLabel returns the name of a guard.
func reasonLabel(reason string) string {
	switch reason {
	case "drain", "limit", "capacity", "arguments", "schema", "access", "idempotency", "lock", "timeout", "unknown_tool", "panic":
		return reason
	}
	return other
}

// codeLabel returns an error code as it is: codes are constants of package fault.
// What does not look like one, a message that lost its way for example, is _OTHER.
func codeLabel(code fault.Code) string {
	s := string(code)
	if len(s) <= 64 && run(s, 0, upper|digit|underscore) == len(s) {
		return s
	}
	return other
}

func outcomeLabel(o Outcome) string {
	switch o {
	case Success, Failure, Timeout, Cancelled:
		return string(o)
	}
	return other
}

func kindLabel(k runs.Kind) string {
	switch k {
	case runs.Launch, runs.Target, runs.Session:
		return string(k)
	}
	return other
}

func transportLabel(name string) string {
	switch name {
	case "pipe", "tcp", "":
		return name
	}
	return other
}

// stateLabel admits the states that a run of the kind can be in.
func stateLabel(k runs.Kind, s runs.State) string {
	if runs.Known(k, s) {
		return string(s)
	}
	return other
}

// revisionLabel admits the revisions of the protocol that have sessions.
func revisionLabel(revision string) string {
	switch revision {
	case "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25":
		return revision
	}
	return other
}

// executorLabel admits the agents that Gantry knows; those that users add are _OTHER.
func executorLabel(name string) string {
	switch name {
	case "CODEX", "CLAUDE_CODE", "GEMINI", "OPENCODE":
		return name
	}
	return other
}

// errorTypeLabel admits what [CallEnd.errorType] makes.
func errorTypeLabel(kind string) string {
	switch {
	case kind == "", kind == "tool_error", kind == outcomeLabel(Outcome(kind)):
		return kind
	case len(kind) <= 7 && kind[0] == '-' && run(kind, 1, digit) == len(kind):
		return kind
	}
	return other
}
