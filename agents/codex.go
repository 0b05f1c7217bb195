package agents

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/gantry-run/gantry/internal/fault"
)

// codex is OpenAI's CLI: codex exec --json, and resume for follow-ups.
type codex struct{ o Options }

func (codex) Name() string      { return "CODEX" }
func (codex) SupportsMCP() bool { return true }

// The variants are the efforts of reasoning, and a sandbox that writes nothing.
func (codex) Variants() []string {
	return []string{"HIGH", "LOW", "MAX", "MEDIUM", "READ_ONLY", "XHIGH"}
}

func (c codex) Probe(ctx context.Context, env []string) Probe {
	return probe(ctx, c.Name(), "codex", env, "npm install -g @openai/codex", "--version")
}

func (c codex) Turn(t Turn) (Invocation, error) {
	if err := t.check(c); err != nil {
		return Invocation{}, err
	}
	args := []string{"exec", "--json", "--skip-git-repo-check", "--color", "never", "-C", t.Dir}
	switch variant := Normalize(t.Variant); {
	case variant == "READ_ONLY":
		args = append(args, "--sandbox", "read-only")
	case c.o.FullAccess:
		args = append(args, "--dangerously-bypass-approvals-and-sandbox")
	default:
		args = append(args, "--sandbox", "workspace-write")
	}
	if v := Normalize(t.Variant); v != "" && v != "READ_ONLY" {
		args = append(args, "-c", fmt.Sprintf("model_reasoning_effort=%q", strings.ToLower(v)))
	}
	if t.Model != "" {
		args = append(args, "--model", t.Model)
	}
	if t.Thread != "" {
		args = append(args, "resume", t.Thread)
	}
	env := t.environment(c.o, "CODEX_", "OPENAI_")
	if t.ConfigFile != "" {
		if filepath.Base(t.ConfigFile) != "config.toml" {
			return Invocation{}, fault.New(fault.InvalidInput, "the configuration file of codex is called config.toml")
		}
		env = with(env, "CODEX_HOME="+filepath.Dir(t.ConfigFile))
	}
	return Invocation{Name: "codex", Args: append(args, "-"), Env: env, Stdin: []byte(t.Prompt)}, nil
}

func (codex) Decoder(dir string) Decoder { return &jsonl{notes: notes{dir: dir}, event: codexEvent} }

type codexLine struct {
	Type     string `json:"type"`
	ThreadID string `json:"thread_id"`
	Message  string `json:"message"`
	Error    struct {
		Message string `json:"message"`
	} `json:"error"`
	Usage struct {
		Input     int64 `json:"input_tokens"`
		Cached    int64 `json:"cached_input_tokens"`
		Output    int64 `json:"output_tokens"`
		Reasoning int64 `json:"reasoning_output_tokens"`
	} `json:"usage"`
	Item codexItem `json:"item"`
}

type codexItem struct {
	ID      string `json:"id"`
	Type    string `json:"type"`
	Status  string `json:"status"`
	Text    string `json:"text"`
	Message string `json:"message"`

	Command string `json:"command"`
	Output  string `json:"aggregated_output"`
	Exit    *int   `json:"exit_code"`

	Changes []struct {
		Path string `json:"path"`
		Kind string `json:"kind"`
	} `json:"changes"`

	Server    string          `json:"server"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Result    json.RawMessage `json:"result"`
	Error     struct {
		Message string `json:"message"`
	} `json:"error"`

	Query string `json:"query"`
	Items []struct {
		Text      string `json:"text"`
		Completed bool   `json:"completed"`
	} `json:"items"`
}

func codexEvent(n *notes, raw []byte) []Entry {
	var e codexLine
	read(raw, &e)
	switch e.Type {
	case "thread.started":
		n.sum.Thread = e.ThreadID
	case "turn.completed":
		// What the CLI counts is the thread's, with its earlier turns.
		n.sum.Usage = Usage{e.Usage.Input, e.Usage.Cached, e.Usage.Output, e.Usage.Reasoning}
		n.sum.Completed, n.sum.Cumulative = true, true
	case "turn.failed":
		if e.Error.Message == n.sum.Failure { // it was said by an error before
			return nil
		}
		return n.fail(e.Error.Message)
	case "error":
		return n.fail(e.Message)
	case "item.started", "item.updated", "item.completed":
		return n.codexItem(e.Item, e.Type == "item.completed", e.Type == "item.started")
	}
	return nil
}

// codexItem turns an item into entries: tools when they begin and when they end, all
// else when it is complete.
func (n *notes) codexItem(it codexItem, completed, started bool) []Entry {
	switch it.Type {
	case "command_execution":
		if started {
			return []Entry{n.use(it.ID, "shell", clip(it.Command, 200), n.codexCommand(it), ToolCreated)}
		}
	case "file_change":
		if started {
			return nil // it is over at once
		}
	case "todo_list":
		return []Entry{n.codexTodos(it, completed)}
	case "mcp_tool_call", "collab_tool_call":
		if started {
			return []Entry{n.codexTool(it, ToolCreated)}
		}
	}
	if !completed {
		return nil
	}
	switch it.Type {
	case "agent_message":
		return n.answer(it.Text)
	case "reasoning":
		return n.think(it.Text)
	case "plan":
		return []Entry{n.use(it.ID, "plan", clip(it.Text, 200), Action{Name: PlanPresentation, Plan: short(it.Text)}, ToolSucceeded)}
	case "command_execution":
		return []Entry{n.use(it.ID, "shell", clip(it.Command, 200), n.codexCommand(it), codexState(it.Status))}
	case "file_change":
		return n.codexChanges(it)
	case "mcp_tool_call", "collab_tool_call":
		return []Entry{n.codexTool(it, codexState(it.Status))}
	case "web_search":
		return []Entry{n.use(it.ID, "web_search", clip(it.Query, 200), Action{Name: Search, Query: short(it.Query)}, ToolSucceeded)}
	case "error":
		return []Entry{n.say(ErrorMessage, it.Message)} // a warning; the turn goes on
	}
	return nil
}

func codexState(status string) ToolState {
	switch status {
	case "completed":
		return ToolSucceeded
	case "declined":
		return ToolDenied
	case "in_progress":
		return ToolCreated
	}
	return ToolFailed
}

func (n *notes) codexCommand(it codexItem) Action {
	a := Action{Name: CommandRun, Command: short(it.Command)}
	if it.Exit != nil {
		a.Run = &RunResult{ExitStatus: &ExitStatus{Name: "exit_code", Code: it.Exit}, Output: short(it.Output)}
	}
	return a
}

func (n *notes) codexChanges(it codexItem) (out []Entry) {
	for _, c := range it.Changes[:min(len(it.Changes), maxOpen)] {
		path := n.path(c.Path)
		change := FileChange{Action: "edit"}
		switch c.Kind {
		case "add":
			change.Action = "write"
		case "delete":
			change.Action = "delete"
		}
		out = append(out, n.use(it.ID, "apply_patch", path, Action{Name: FileEdit, Path: path, Changes: []FileChange{change}}, codexState(it.Status)))
	}
	return out
}

func (n *notes) codexTool(it codexItem, state ToolState) Entry {
	name := it.Tool
	if it.Server != "" {
		name = it.Server + "." + it.Tool
	}
	a := Action{Name: AnyTool, ToolName: short(name), Arguments: jsonValue(it.Arguments)}
	switch {
	case state == ToolCreated:
	case it.Error.Message != "":
		a.Tool = markdown(it.Error.Message)
	case len(it.Result) > 0 && string(it.Result) != "null":
		a.Tool = &ToolResult{Type: "json", Value: jsonValue(it.Result)}
	}
	return n.use(it.ID, name, clip(name, 200), a, state)
}

func (n *notes) codexTodos(it codexItem, completed bool) Entry {
	a, state := Action{Name: TodoManagement, Operation: "write"}, ToolCreated
	for _, i := range it.Items[:min(len(it.Items), maxOpen)] {
		todo := Todo{Content: clip(short(i.Text), 1000), Status: "pending"}
		if i.Completed {
			todo.Status = "completed"
		}
		a.Todos = append(a.Todos, todo)
	}
	if completed {
		state = ToolSucceeded
	}
	return n.use(it.ID, "todo_list", fmt.Sprintf("%d to-dos", len(a.Todos)), a, state)
}
