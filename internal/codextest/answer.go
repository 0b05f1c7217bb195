package codextest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// body is what is read of a request to the Responses API.
type body struct {
	Model     string `json:"model"`
	Reasoning struct {
		Effort string `json:"effort"`
	} `json:"reasoning"`
	Input []struct {
		Type    string `json:"type"`
		Role    string `json:"role"`
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
		Output json.RawMessage `json:"output"`
	} `json:"input"`
	Tools []offered `json:"tools"`
}

// offered is a tool, or a namespace of tools, such as those of an MCP server.
type offered struct {
	Name  string    `json:"name"`
	Tools []offered `json:"tools"`
}

// read returns what a request asks.
func read(r *http.Request) (q Request, err error) {
	var b body
	if err := json.NewDecoder(r.Body).Decode(&b); err != nil {
		return q, err
	}
	q = Request{Model: b.Model, Effort: b.Reasoning.Effort}
	for _, t := range b.Tools {
		for _, inner := range t.Tools {
			q.Tools = append(q.Tools, t.Name+"__"+inner.Name)
		}
		if t.Tools == nil {
			q.Tools = append(q.Tools, t.Name)
		}
	}
	for _, in := range b.Input {
		switch {
		case in.Type == "message" && in.Role == "user":
			for _, c := range in.Content {
				// What the CLI adds itself is in tags.
				if !strings.HasPrefix(c.Text, "<") && !strings.HasPrefix(c.Text, "# AGENTS.md") {
					q.Prompts, q.Step, q.Outputs = append(q.Prompts, c.Text), 0, nil
				}
			}
		case strings.HasSuffix(in.Type, "call_output"):
			q.Step++
			q.Outputs = append(q.Outputs, string(in.Output))
		}
	}
	if len(q.Prompts) == 0 {
		err = fmt.Errorf("no prompt")
	}
	return q, err
}

// order is one line of a prompt that is an order.
type order struct{ word, rest string }

// orders returns those of a prompt that make the answer of a step: up to a call of a tool,
// or to the end.
func orders(prompt string, step int) (out []order) {
	for line := range strings.Lines(prompt) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		o := order{word, strings.TrimSpace(rest)}
		switch word {
		case "run", "write", "patch":
			out = append(out, o)
			if step == 0 {
				return out
			}
			step--
			out = nil
		case "think", "say", "wait", "fail", "break":
			out = append(out, o)
		}
	}
	return out
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/responses") {
		http.NotFound(w, r)
		return
	}
	q, err := read(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.asked = append(s.asked, q)
	n := len(s.asked)
	s.mu.Unlock()
	s.answer(w, r, q, stream{w, fmt.Sprint("r", n)})
}

// answer follows the orders of one step.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, q Request, out stream) {
	todo := orders(q.Prompts[len(q.Prompts)-1], q.Step)
	if len(todo) == 0 {
		todo = []order{{"say", "done"}}
	}
	for i, o := range todo {
		name := fmt.Sprintf("%s_%d", out.id, i)
		switch o.word {
		case "wait":
			out.begin() // headers are sent: the CLI sees an answer that is slow
			select {
			case <-s.gate(o.rest):
			case <-r.Context().Done():
				return
			case <-s.ended:
				return
			}
		case "fail":
			status, _ := strconv.Atoi(o.rest)
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			fmt.Fprintf(w, `{"error":{"message":"the model was told to fail with %d","type":"server_error"}}`, status)
			return
		case "break":
			out.begin()
			panic(http.ErrAbortHandler)
		case "think":
			out.item(item{Type: "reasoning", ID: name, Summary: []text{{"summary_text", o.rest}}})
		case "say":
			out.item(item{Type: "message", ID: name, Role: "assistant", Content: []text{{"output_text", o.rest}}})
		default:
			out.item(call(name, o))
		}
	}
	out.end()
}

// call returns the call of a tool.
func call(name string, o order) item {
	file, line, _ := strings.Cut(o.rest, " ")
	command := o.rest
	switch o.word {
	case "patch":
		return item{Type: "custom_tool_call", ID: name, CallID: "call_" + name, Name: "apply_patch",
			Input: "*** Begin Patch\n*** Add File: " + file + "\n+" + line + "\n*** End Patch\n"}
	case "write":
		command = "echo " + quoted(line) + " >> " + quoted(file)
	}
	args, _ := json.Marshal(map[string]any{"cmd": command, "login": false, "yield_time_ms": 30000})
	return item{Type: "function_call", ID: name, CallID: "call_" + name, Name: "exec_command", Arguments: string(args)}
}

func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// item is one piece of an answer.
type item struct {
	Type      string `json:"type"`
	ID        string `json:"id"`
	Role      string `json:"role,omitempty"`
	Content   []text `json:"content,omitempty"`
	Summary   []text `json:"summary,omitempty"`
	CallID    string `json:"call_id,omitempty"`
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments,omitempty"`
	Input     string `json:"input,omitempty"`
}

type text struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// stream writes an answer as server-sent events.
type stream struct {
	w  http.ResponseWriter
	id string
}

type event struct {
	Type     string    `json:"type"`
	Item     *item     `json:"item,omitempty"`
	Index    int       `json:"output_index"`
	Response *response `json:"response,omitempty"`
}

type response struct {
	ID    string `json:"id"`
	Usage *usage `json:"usage,omitempty"`
}

type usage struct {
	Input  int     `json:"input_tokens"`
	Cached details `json:"input_tokens_details"`
	Output int     `json:"output_tokens"`
	Parts  details `json:"output_tokens_details"`
	Total  int     `json:"total_tokens"`
}

type details struct {
	Cached    int `json:"cached_tokens,omitempty"`
	Reasoning int `json:"reasoning_tokens,omitempty"`
}

// Each answer costs so many tokens.
const (
	InputTokens     = 100
	CachedTokens    = 40
	OutputTokens    = 20
	ReasoningTokens = 5
)

func (s stream) send(e event) {
	b, _ := json.Marshal(e)
	s.w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(s.w, "event: %s\ndata: %s\n\n", e.Type, b)
	s.w.(http.Flusher).Flush()
}

func (s stream) begin()      { s.send(event{Type: "response.created", Response: &response{ID: s.id}}) }
func (s stream) item(i item) { s.send(event{Type: "response.output_item.done", Item: &i}) }

func (s stream) end() {
	s.send(event{Type: "response.completed", Response: &response{ID: s.id, Usage: &usage{
		Input: InputTokens, Cached: details{Cached: CachedTokens}, Output: OutputTokens, Parts: details{Reasoning: ReasoningTokens},
		Total: InputTokens + OutputTokens,
	}}})
}
