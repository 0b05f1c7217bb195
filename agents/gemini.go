package agents

import (
	"context"
	"encoding/json"
	"strings"
)

// gemini is Google's CLI: gemini with --output-format stream-json.
type gemini struct{ o Options }

func (gemini) Name() string      { return "GEMINI" }
func (gemini) SupportsMCP() bool { return true }

// The variants are the names of models, and the mode that plans and changes nothing.
func (gemini) Variants() []string { return []string{"FLASH", "PLAN", "PRO"} }

func (g gemini) Probe(ctx context.Context, env []string) Probe {
	return probe(ctx, g.Name(), "gemini", env, "npm install -g @google/gemini-cli", "--version")
}

func (g gemini) Turn(t Turn) (Invocation, error) {
	if err := t.check(g); err != nil {
		return Invocation{}, err
	}
	if err := t.noConfig(g); err != nil {
		return Invocation{}, err
	}
	mode, variant := "auto_edit", Normalize(t.Variant)
	switch {
	case variant == "PLAN":
		mode, variant = "plan", ""
	case g.o.FullAccess:
		mode = "yolo"
	}
	// Without --skip-trust it refuses to work in a folder that nobody has trusted by hand, as
	// a worktree that is new. Who starts an agent in a folder trusts it.
	args := []string{"--output-format", "stream-json", "--skip-trust", "--approval-mode", mode}
	model := t.Model
	if model == "" {
		model = strings.ToLower(variant)
	}
	if model != "" {
		args = append(args, "--model", model)
	}
	if t.Thread != "" {
		args = append(args, "--resume", t.Thread)
	}
	return Invocation{Name: "gemini", Args: args, Env: t.environment(g.o, "GEMINI_", "GOOGLE_"), Stdin: []byte(t.Prompt)}, nil
}

func (gemini) Decoder(dir string) Decoder {
	g := &geminiDecoder{}
	g.jsonl = jsonl{notes: notes{dir: dir}, event: g.read}
	return g
}

// geminiDecoder joins the pieces in which messages come: a message ends where something
// else begins.
type geminiDecoder struct {
	jsonl
	said strings.Builder // bounded
}

type geminiLine struct {
	Type    string          `json:"type"`
	Session string          `json:"session_id"`
	Model   string          `json:"model"`
	Role    string          `json:"role"`
	Content string          `json:"content"`
	Delta   bool            `json:"delta"`
	Tool    string          `json:"tool_name"`
	ID      string          `json:"tool_id"`
	Params  json.RawMessage `json:"parameters"`
	Status  string          `json:"status"`
	Output  string          `json:"output"`
	Error   struct {
		Message string `json:"message"`
	} `json:"error"`
	Severity string `json:"severity"`
	Message  string `json:"message"`
	Stats    struct {
		Input  int64 `json:"input_tokens"`
		Cached int64 `json:"cached"`
		Output int64 `json:"output_tokens"`
	} `json:"stats"`
}

func (g *geminiDecoder) read(n *notes, raw []byte) []Entry {
	var e geminiLine
	read(raw, &e)
	if e.Type == "message" {
		if e.Role != "assistant" {
			return nil
		}
		var out []Entry
		if !e.Delta {
			out = g.speak(n)
		}
		g.said.WriteString(e.Content[:min(len(e.Content), max(0, MaxLine-g.said.Len()))])
		return out
	}
	return append(g.speak(n), n.geminiEvent(e)...)
}

// speak returns the message whose pieces came so far.
func (g *geminiDecoder) speak(n *notes) []Entry {
	text := g.said.String()
	g.said.Reset()
	return n.answer(text)
}

func (n *notes) geminiEvent(e geminiLine) []Entry {
	switch e.Type {
	case "init":
		n.sum.Thread, n.sum.Model = e.Session, e.Model
	case "tool_use":
		a, line := n.geminiTool(e.Tool, e.Params)
		return []Entry{n.begin(e.ID, e.Tool, line, a)}
	case "tool_result":
		result := e.Output
		if result == "" {
			result = e.Error.Message
		}
		return []Entry{n.finish(e.ID, e.Status == "success", result)}
	case "error":
		if e.Severity == "warning" {
			return []Entry{n.say(ErrorMessage, e.Message)}
		}
		return n.fail(e.Message)
	case "result":
		n.sum.Usage = Usage{InputTokens: e.Stats.Input, CachedInputTokens: e.Stats.Cached, OutputTokens: e.Stats.Output}
		if e.Status != "success" {
			return n.fail(e.Error.Message)
		}
		n.sum.Completed = true
	}
	return nil
}

func (n *notes) geminiTool(name string, raw json.RawMessage) (Action, string) {
	var in struct {
		Path     string `json:"file_path"`
		Absolute string `json:"absolute_path"`
		Dir      string `json:"dir_path"`
		Content  string `json:"content"`
		Old      string `json:"old_string"`
		New      string `json:"new_string"`
		Command  string `json:"command"`
		Pattern  string `json:"pattern"`
		Query    string `json:"query"`
		Prompt   string `json:"prompt"`
		Todos    []struct {
			Description string `json:"description"`
			Status      string `json:"status"`
		} `json:"todos"`
	}
	read(raw, &in)
	if in.Path == "" {
		in.Path = in.Absolute
	}
	path := n.path(in.Path)
	switch name {
	case "read_file":
		return Action{Name: FileRead, Path: path}, path
	case "write_file":
		return Action{Name: FileEdit, Path: path, Changes: []FileChange{{Action: "write", Content: short(in.Content)}}}, path
	case "replace":
		return Action{Name: FileEdit, Path: path, Changes: []FileChange{edit(in.Old, in.New)}}, path
	case "run_shell_command":
		return Action{Name: CommandRun, Command: short(in.Command)}, clip(in.Command, 200)
	case "search_file_content", "grep_search", "glob":
		return Action{Name: Search, Query: short(in.Pattern)}, clip(in.Pattern, 200)
	case "google_web_search":
		return Action{Name: Search, Query: short(in.Query)}, clip(in.Query, 200)
	case "web_fetch":
		return Action{Name: WebFetch, URL: short(in.Prompt)}, clip(in.Prompt, 200)
	case "write_todos":
		list := make([]Todo, 0, min(len(in.Todos), maxOpen))
		for _, t := range in.Todos[:cap(list)] {
			list = append(list, Todo{Content: t.Description, Status: t.Status})
		}
		return todos(list), "to-dos"
	}
	return Action{Name: AnyTool, ToolName: short(name), Arguments: jsonValue(raw)}, clip(name, 200)
}
