package agents

import (
	"context"
	"encoding/json"
	"strings"
)

// claude is Anthropic's CLI, Claude Code: claude -p with stream-json.
type claude struct{ o Options }

func (claude) Name() string      { return "CLAUDE_CODE" }
func (claude) SupportsMCP() bool { return true }

// The variants are the names of models, and the mode that plans and changes nothing.
func (claude) Variants() []string { return []string{"HAIKU", "OPUS", "PLAN", "SONNET"} }

func (c claude) Probe(ctx context.Context, env []string) Probe {
	return probe(ctx, c.Name(), "claude", env, "npm install -g @anthropic-ai/claude-code", "--version")
}

func (c claude) Turn(t Turn) (Invocation, error) {
	if err := t.check(c); err != nil {
		return Invocation{}, err
	}
	if err := t.noConfig(c); err != nil {
		return Invocation{}, err
	}
	args := []string{"-p", "--output-format", "stream-json", "--verbose"}
	variant, model := Normalize(t.Variant), t.Model
	switch {
	case variant == "PLAN":
		args = append(args, "--permission-mode", "plan")
	case c.o.FullAccess:
		args = append(args, "--dangerously-skip-permissions")
	default:
		args = append(args, "--permission-mode", "acceptEdits")
	}
	if variant != "" && variant != "PLAN" && model == "" {
		model = strings.ToLower(variant)
	}
	if model != "" {
		args = append(args, "--model", model)
	}
	if t.Thread != "" {
		args = append(args, "--resume", t.Thread)
	}
	return Invocation{Name: "claude", Args: args, Env: t.environment(c.o, "CLAUDE_", "ANTHROPIC_"), Stdin: []byte(t.Prompt)}, nil
}

func (claude) Decoder(dir string) Decoder { return &jsonl{notes: notes{dir: dir}, event: claudeEvent} }

type claudeLine struct {
	Type    string `json:"type"`
	Subtype string `json:"subtype"`
	Session string `json:"session_id"`
	Model   string `json:"model"`
	Message struct {
		Content json.RawMessage `json:"content"`
	} `json:"message"`

	// Of result.
	IsError bool     `json:"is_error"`
	Result  string   `json:"result"`
	Errors  []string `json:"errors"`
	Cost    float64  `json:"total_cost_usd"`
	Usage   struct {
		Input   int64 `json:"input_tokens"`
		Created int64 `json:"cache_creation_input_tokens"`
		Read    int64 `json:"cache_read_input_tokens"`
		Output  int64 `json:"output_tokens"`
	} `json:"usage"`
}

type claudeBlock struct {
	Type     string          `json:"type"`
	Text     string          `json:"text"`
	Thinking string          `json:"thinking"`
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	Input    json.RawMessage `json:"input"`
	UseID    string          `json:"tool_use_id"`
	Content  json.RawMessage `json:"content"`
	IsError  bool            `json:"is_error"`
}

func claudeEvent(n *notes, raw []byte) []Entry {
	var e claudeLine
	read(raw, &e)
	switch e.Type {
	case "system":
		if e.Subtype == "init" {
			n.sum.Thread, n.sum.Model = e.Session, e.Model
		}
	case "assistant", "user":
		var out []Entry
		for _, b := range claudeBlocks(e.Message.Content) {
			out = append(out, n.claudeBlock(b, e.Type == "user")...)
		}
		return out
	case "result":
		if e.Session != "" {
			n.sum.Thread = e.Session
		}
		n.sum.CostUSD = e.Cost
		n.sum.Usage = Usage{
			InputTokens: e.Usage.Input + e.Usage.Created + e.Usage.Read, CachedInputTokens: e.Usage.Read, OutputTokens: e.Usage.Output,
		}
		if e.IsError || strings.HasPrefix(e.Subtype, "error") {
			return n.claudeFailed(e)
		}
		n.sum.Completed = true
		if e.Result != "" { // it was said already
			n.sum.LastMessage = short(e.Result)
		}
	}
	return nil
}

func (n *notes) claudeFailed(e claudeLine) []Entry {
	why := e.Result
	if why == "" {
		why = strings.Join(e.Errors, "; ")
	}
	if why == "" {
		why = strings.ReplaceAll(e.Subtype, "_", " ")
	}
	return n.fail(why)
}

// claudeBlocks returns the content of a message, which is text or a list of blocks.
func claudeBlocks(raw json.RawMessage) []claudeBlock {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return []claudeBlock{{Type: "text", Text: text}}
	}
	var blocks []claudeBlock
	read(raw, &blocks)
	return blocks
}

// claudeBlock turns a block into entries. What the user says is only what answers tools:
// the prompt is the session's to record.
func (n *notes) claudeBlock(b claudeBlock, user bool) []Entry {
	switch {
	case b.Type == "tool_result":
		return []Entry{n.claudeResult(b)}
	case user:
		return nil
	case b.Type == "text":
		return n.answer(b.Text)
	case b.Type == "thinking":
		return n.think(b.Thinking)
	case b.Type == "tool_use":
		a, line := n.claudeTool(b.Name, b.Input)
		return []Entry{n.begin(b.ID, b.Name, line, a)}
	}
	return nil
}

func (n *notes) claudeResult(b claudeBlock) Entry {
	var text strings.Builder
	for _, part := range claudeBlocks(b.Content) {
		text.WriteString(part.Text)
	}
	e := n.finish(b.UseID, !b.IsError, text.String())
	if b.IsError && denied(text.String()) {
		*e.Norm.Type.Status = ToolStatus{State: ToolDenied, Reason: short(text.String())}
	}
	return e
}

// denied reports whether a tool was not used because nobody allowed it. There is no field
// that says so.
func denied(result string) bool {
	return strings.HasPrefix(result, "Claude requested permissions") || strings.Contains(result, "requires approval")
}

type claudeInput struct {
	Path     string `json:"file_path"`
	Notebook string `json:"notebook_path"`
	Old      string `json:"old_string"`
	New      string `json:"new_string"`
	Content  string `json:"content"`
	Edits    []struct {
		Old string `json:"old_string"`
		New string `json:"new_string"`
	} `json:"edits"`
	Command     string `json:"command"`
	Pattern     string `json:"pattern"`
	Query       string `json:"query"`
	URL         string `json:"url"`
	Description string `json:"description"`
	Plan        string `json:"plan"`
	Todos       []Todo `json:"todos"`
}

// claudeTool returns what a tool does, and a line that says so.
func (n *notes) claudeTool(name string, raw json.RawMessage) (Action, string) {
	var in claudeInput
	read(raw, &in)
	path := n.path(in.Path)
	switch name {
	case "Read":
		return Action{Name: FileRead, Path: path}, path
	case "Write":
		return Action{Name: FileEdit, Path: path, Changes: []FileChange{{Action: "write", Content: short(in.Content)}}}, path
	case "Edit", "MultiEdit":
		a := Action{Name: FileEdit, Path: path}
		if in.Old != "" || in.New != "" {
			a.Changes = append(a.Changes, edit(in.Old, in.New))
		}
		for _, e := range in.Edits[:min(len(in.Edits), maxOpen)] {
			a.Changes = append(a.Changes, edit(e.Old, e.New))
		}
		return a, path
	case "NotebookEdit":
		path = n.path(in.Notebook)
		return Action{Name: FileEdit, Path: path}, path
	case "Bash":
		return Action{Name: CommandRun, Command: short(in.Command)}, clip(in.Command, 200)
	case "Grep", "Glob":
		return Action{Name: Search, Query: short(in.Pattern)}, clip(in.Pattern, 200)
	case "WebSearch":
		return Action{Name: Search, Query: short(in.Query)}, clip(in.Query, 200)
	case "WebFetch":
		return Action{Name: WebFetch, URL: short(in.URL)}, clip(in.URL, 200)
	case "Task", "Agent":
		return Action{Name: TaskCreate, Description: short(in.Description)}, clip(in.Description, 200)
	case "ExitPlanMode":
		return Action{Name: PlanPresentation, Plan: short(in.Plan)}, "a plan"
	case "TodoWrite":
		return todos(in.Todos), "to-dos"
	}
	return Action{Name: AnyTool, ToolName: short(name), Arguments: jsonValue(raw)}, clip(name, 200)
}

// todos returns the action that writes a to-do list.
func todos(list []Todo) Action {
	a := Action{Name: TodoManagement, Operation: "write"}
	for _, t := range list[:min(len(list), maxOpen)] {
		a.Todos = append(a.Todos, Todo{clip(short(t.Content), 1000), clip(short(t.Status), 40), clip(short(t.Priority), 40)})
	}
	return a
}

// edit returns the change of one piece of text to another, as a patch without line
// numbers.
func edit(before, after string) FileChange {
	var b strings.Builder
	for _, side := range []struct{ sign, text string }{{"-", before}, {"+", after}} {
		for line := range strings.Lines(short(side.text)) {
			b.WriteString(side.sign + strings.TrimSuffix(line, "\n") + "\n")
		}
	}
	return FileChange{Action: "edit", UnifiedDiff: b.String()}
}
