package agents

import (
	"context"
	"encoding/json"
	"math"
)

// opencode is the open source CLI of that name: opencode run --format json.
type opencode struct{ o Options }

func (opencode) Name() string       { return "OPENCODE" }
func (opencode) SupportsMCP() bool  { return true }
func (opencode) Variants() []string { return []string{"PLAN"} } // the agent that changes nothing

func (c opencode) Probe(ctx context.Context, env []string) Probe {
	return probe(ctx, c.Name(), "opencode", env, "npm install -g opencode-ai", "--version")
}

func (c opencode) Turn(t Turn) (Invocation, error) {
	if err := t.check(c); err != nil {
		return Invocation{}, err
	}
	if err := t.noConfig(c); err != nil {
		return Invocation{}, err
	}
	args := []string{"run", "--format", "json", "--thinking"}
	if Normalize(t.Variant) == "PLAN" {
		args = append(args, "--agent", "plan")
	} else if c.o.FullAccess {
		args = append(args, "--auto")
	}
	if t.Model != "" {
		args = append(args, "--model", t.Model)
	}
	if t.Thread != "" {
		args = append(args, "--session", t.Thread)
	}
	return Invocation{Name: "opencode", Args: args, Env: t.environment(c.o, "OPENCODE_", "ANTHROPIC_", "OPENAI_"), Stdin: []byte(t.Prompt)}, nil
}

func (opencode) Decoder(dir string) Decoder {
	return &jsonl{notes: notes{dir: dir}, event: opencodeEvent}
}

type opencodeLine struct {
	Type    string `json:"type"`
	Session string `json:"sessionID"`
	Part    struct {
		Text   string `json:"text"`
		Tool   string `json:"tool"`
		CallID string `json:"callID"`
		State  struct {
			Status   string          `json:"status"`
			Input    json.RawMessage `json:"input"`
			Output   string          `json:"output"`
			Error    string          `json:"error"`
			Metadata struct {
				Exit *int `json:"exit"`
			} `json:"metadata"`
		} `json:"state"`
		Reason string  `json:"reason"`
		Cost   float64 `json:"cost"`
		Tokens struct {
			Input     int64 `json:"input"`
			Output    int64 `json:"output"`
			Reasoning int64 `json:"reasoning"`
			Cache     struct {
				Read  int64 `json:"read"`
				Write int64 `json:"write"`
			} `json:"cache"`
		} `json:"tokens"`
	} `json:"part"`
	Error struct {
		Name string `json:"name"`
		Data struct {
			Message string `json:"message"`
		} `json:"data"`
	} `json:"error"`
}

func opencodeEvent(n *notes, raw []byte) []Entry {
	var e opencodeLine
	read(raw, &e)
	if e.Session != "" {
		n.sum.Thread = e.Session
	}
	switch e.Type {
	case "text":
		return n.answer(e.Part.Text)
	case "reasoning":
		return n.think(e.Part.Text)
	case "tool_use":
		return n.opencodeUse(e)
	case "step_finish":
		// Each step counts itself; a turn has several.
		t, u := e.Part.Tokens, &n.sum.Usage
		u.InputTokens += t.Input + t.Cache.Read + t.Cache.Write
		u.CachedInputTokens += t.Cache.Read
		u.OutputTokens += t.Output + t.Reasoning
		u.ReasoningTokens += t.Reasoning
		if n.sum.CostUSD += e.Part.Cost; math.IsInf(n.sum.CostUSD, 0) {
			n.sum.CostUSD = 0
		}
		n.sum.Completed = e.Part.Reason == "stop"
	case "error":
		why := e.Error.Data.Message
		if why == "" {
			why = e.Error.Name
		}
		return n.fail(why)
	}
	return nil
}

// opencodeUse turns the use of a tool into its entry. The CLI tells of it when it is over.
func (n *notes) opencodeUse(e opencodeLine) []Entry {
	s := e.Part.State
	a, line := n.opencodeTool(e.Part.Tool, s.Input)
	n.begin(e.Part.CallID, e.Part.Tool, line, a)
	result := s.Output
	if result == "" {
		result = s.Error
	}
	exit := s.Metadata.Exit
	out := n.finish(e.Part.CallID, s.Status == "completed" && (exit == nil || *exit == 0), result)
	if run := out.Norm.Type.Action.Run; run != nil && exit != nil {
		run.ExitStatus = &ExitStatus{Name: "exit_code", Code: exit}
	}
	return []Entry{out}
}

func (n *notes) opencodeTool(name string, raw json.RawMessage) (Action, string) {
	var in struct {
		Path        string `json:"filePath"`
		Content     string `json:"content"`
		Old         string `json:"oldString"`
		New         string `json:"newString"`
		Command     string `json:"command"`
		Pattern     string `json:"pattern"`
		URL         string `json:"url"`
		Description string `json:"description"`
		Todos       []Todo `json:"todos"`
	}
	read(raw, &in)
	path := n.path(in.Path)
	switch name {
	case "read":
		return Action{Name: FileRead, Path: path}, path
	case "write":
		return Action{Name: FileEdit, Path: path, Changes: []FileChange{{Action: "write", Content: short(in.Content)}}}, path
	case "edit":
		return Action{Name: FileEdit, Path: path, Changes: []FileChange{edit(in.Old, in.New)}}, path
	case "bash":
		return Action{Name: CommandRun, Command: short(in.Command)}, clip(in.Command, 200)
	case "grep", "glob":
		return Action{Name: Search, Query: short(in.Pattern)}, clip(in.Pattern, 200)
	case "webfetch":
		return Action{Name: WebFetch, URL: short(in.URL)}, clip(in.URL, 200)
	case "task":
		return Action{Name: TaskCreate, Description: short(in.Description)}, clip(in.Description, 200)
	case "todowrite":
		return todos(in.Todos), "to-dos"
	}
	return Action{Name: AnyTool, ToolName: short(name), Arguments: jsonValue(raw)}, clip(name, 200)
}
