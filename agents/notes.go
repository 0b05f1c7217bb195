package agents

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/gantry-run/gantry/internal/proc"
)

// notes are what decoders have in common: what the lines so far come to, and the uses
// of tools that have not ended.
type notes struct {
	dir    string
	at     time.Time // of the line that is being read
	sum    Summary
	open   map[string]Entry // by call id
	errors bool             // the complaint is a line that calls itself an error
}

// maxOpen is how many uses of tools are remembered at once. An agent has a few; what is
// forgotten ends as a tool of no name.
const maxOpen = 1000

func (n *notes) Summary() Summary { return n.sum }

// fail records why the turn failed and returns the entry that says so.
func (n *notes) fail(why string) []Entry {
	why, _ = bounded(why)
	if why == "" {
		why = "the agent gave no reason"
	}
	n.sum.Failure = why
	e := n.say(ErrorMessage, why)
	if wantsLogin(why) {
		e.Norm.Type.ErrorType.Name = SetupRequired
	}
	return []Entry{e}
}

// wantsLogin reports whether a failure means that somebody has to log in first. The CLIs
// have no code for it.
func wantsLogin(why string) bool {
	why = strings.ToLower(why)
	for _, sign := range []string{"401 unauthorized", "not logged in", "please run /login", "invalid api key", "api key not found", "authentication_error", "no api key", "set an auth method"} {
		if strings.Contains(why, sign) {
			return true
		}
	}
	return false
}

// say returns an entry whose content is text, bounded and safe to show.
func (n *notes) say(name EntryName, text string) Entry {
	text, truncated := bounded(text)
	e := Entry{Kind: NormalizedEntry, Norm: &Normalized{Timestamp: n.at, Type: EntryType{Name: name}, Content: text}}
	if name == ErrorMessage {
		e.Norm.Type.ErrorType = &ErrorType{OtherError}
	}
	if truncated {
		e.Norm.meta().Truncated = true
	}
	return e
}

// answer returns what the agent said, and keeps it as the last message. Nothing said is
// no entry.
func (n *notes) answer(text string) []Entry {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	e := n.say(AssistantMessage, text)
	n.sum.LastMessage = e.Norm.Content
	return []Entry{e}
}

func (n *notes) think(text string) []Entry {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	return []Entry{n.say(Thinking, text)}
}

// use returns the entry of a tool's use.
func (n *notes) use(call, tool, line string, a Action, state ToolState) Entry {
	e := n.say(ToolUse, line)
	e.Norm.Type.ToolName, _ = bounded(tool)
	e.Norm.Type.Action, e.Norm.Type.Status = &a, &ToolStatus{State: state}
	if call != "" {
		e.Norm.meta().CallID, _ = bounded(call)
	}
	return e
}

// begin returns the entry of a tool's use that has begun, and remembers it.
func (n *notes) begin(call, tool, line string, a Action) Entry {
	e := n.use(call, tool, line, a, ToolCreated)
	if n.open == nil || len(n.open) >= maxOpen {
		n.open = map[string]Entry{}
	}
	n.open[call] = e
	return e
}

// finish returns the entry of the end of a tool's use, with what it answered.
func (n *notes) finish(call string, ok bool, result string) Entry {
	state := ToolFailed
	if ok {
		state = ToolSucceeded
	}
	began, known := n.open[call]
	delete(n.open, call)
	if !known {
		began = n.use(call, "tool", "tool", Action{Name: AnyTool, ToolName: "tool"}, state)
	}
	a := *began.Norm.Type.Action
	switch {
	case a.Name == CommandRun:
		a.Run = &RunResult{ExitStatus: &ExitStatus{Name: "success", Success: &ok}, Output: short(result)}
	case a.Name == AnyTool && result != "":
		a.Tool = markdown(result)
	}
	return n.use(call, began.Norm.Type.ToolName, began.Norm.Content, a, state)
}

// path returns a path as it is shown: beneath the turn's folder relative to it.
func (n *notes) path(p string) string {
	if rel, err := filepath.Rel(n.dir, p); n.dir != "" && filepath.IsAbs(p) && err == nil && rel != ".." && !strings.HasPrefix(rel, "../") {
		p = rel
	}
	p, _ = bounded(p)
	return p
}

// complain takes a line of standard error, which is in the raw history. The last one that
// calls itself an error counts, else the last that is neither a warning nor indented.
func (n *notes) complain(raw []byte) {
	line := strings.TrimRight(proc.Text(raw[:min(len(raw), maxText)]), " \t\r\n")
	if why, ok := cutFold(line, "error:"); ok && why != "" {
		n.sum.Complaint, n.errors = clip(why, 1000), true
	} else if _, warns := cutFold(line, "warning"); line != "" && !n.errors && !warns && line[0] != ' ' && line[0] != '\t' {
		n.sum.Complaint = clip(line, 1000)
	}
}

func cutFold(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return strings.TrimSpace(s[len(prefix):]), true
}

// jsonl is the decoder of a CLI that writes an event a line.
type jsonl struct {
	notes
	event func(n *notes, raw []byte) []Entry // raw is a JSON object
}

func (d *jsonl) Line(raw []byte, stderr bool, at time.Time) []Entry {
	d.at = at
	if stderr {
		d.complain(raw)
		return nil
	}
	trimmed := bytes.ToValidUTF8(bytes.TrimSpace(raw[:min(len(raw), MaxLine+1)]), []byte("\uFFFD"))
	switch {
	case len(trimmed) == 0:
		return nil
	case len(raw) > MaxLine:
		return []Entry{d.say(SystemMessage, fmt.Sprintf("an event of more than %d MiB is not shown", MaxLine>>20))}
	case trimmed[0] != '{' || !json.Valid(trimmed):
		return []Entry{d.say(SystemMessage, string(trimmed))}
	}
	return d.event(&d.notes, trimmed)
}

// read reads an event into a struct. A field of another type than expected stays as it
// was: what can be understood is.
func read(raw []byte, into any) { json.Unmarshal(raw, into) }

// jsonValue returns JSON as it is shown: as it is when it is short, else as bounded text.
func jsonValue(raw json.RawMessage) json.RawMessage {
	if len(raw) <= maxText {
		return raw
	}
	b, _ := json.Marshal(short(string(raw))) // a string always encodes
	return b
}

func (n *Normalized) meta() *Metadata {
	if n.Metadata == nil {
		n.Metadata = new(Metadata)
	}
	return n.Metadata
}

// bounded returns text as it is safe to show, with its middle left out if it is too long.
func bounded(text string) (string, bool) {
	if len(text) <= maxText {
		return proc.Text([]byte(text)), false
	}
	head := cut(text, maxText/2)
	tail := len(text) - maxText/2
	for tail < len(text) && text[tail]&0xC0 == 0x80 {
		tail++
	}
	return proc.Text([]byte(text[:head])) + fmt.Sprintf("\n… %d bytes left out …\n", tail-head) + proc.Text([]byte(text[tail:])), true
}

// clip returns the first line of text, at most max bytes of it.
func clip(text string, max int) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line[:cut(line, max)]
}
