package agents

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/lazyregexp"
	"github.com/gantry-run/gantry/internal/proc"
)

// custom is a command of the user's.
type custom struct {
	c       Custom
	o       Options
	session *regexp.Regexp // nil for none
}

var customName = lazyregexp.New(`^[A-Z][A-Z0-9_]{0,39}$`)

// newCustom checks the configuration of a custom agent.
func newCustom(c Custom, o Options) (CLI, error) {
	wrong := func(format string, args ...any) (CLI, error) {
		f := fault.New(fault.ConfigInvalid, format, args...)
		f.Message = "in [[executors]], " + f.Message
		return nil, f
	}
	c.Name = Normalize(c.Name)
	if !customName.MatchString(c.Name) || c.Name == "DEFAULT" {
		return wrong("the name %.64q is none: letters, digits and underscores", c.Name)
	}
	if len(c.Command) == 0 || c.Command[0] == "" {
		return wrong("%s has no command", c.Name)
	}
	if c.Resume != nil && (len(c.Resume) == 0 || c.Resume[0] == "") {
		return wrong("the resume of %s is empty", c.Name)
	}
	if c.Output == "" {
		c.Output = "plain"
	}
	if c.Output != "plain" && c.Output != "jsonl" {
		return wrong("the output of %s is plain or jsonl, not %.40q", c.Name, c.Output)
	}
	made := custom{c: c, o: o}
	if c.SessionPattern != "" {
		var err error
		if made.session, err = regexp.Compile(c.SessionPattern); err != nil || made.session.NumSubexp() < 1 {
			return wrong("the session_pattern of %s is no regular expression with a group", c.Name)
		}
	}
	for _, e := range c.Env {
		if name, _, ok := strings.Cut(e, "="); !ok || name == "" {
			return wrong("the env of %s holds %.40q, which is not NAME=value", c.Name, name)
		}
	}
	variants := make([]string, 0, len(c.Variants))
	for _, v := range c.Variants {
		v = Normalize(v)
		if !customName.MatchString(v) || v == "DEFAULT" {
			return wrong("the variant %.64q of %s is none: letters, digits and underscores, not DEFAULT", v, c.Name)
		}
		variants = append(variants, v)
	}
	slices.Sort(variants)
	made.c.Variants = slices.Compact(variants)
	return made, nil
}

func (c custom) Name() string       { return c.c.Name }
func (c custom) SupportsMCP() bool  { return c.c.MCP }
func (c custom) Variants() []string { return slices.Clone(c.c.Variants) }

// Probe looks for the program only: what a command of the user's does when it is started
// to see whether it works is not known. One that is relative is looked for in each
// session's own folder, and counts as there.
func (c custom) Probe(_ context.Context, env []string) Probe {
	p := Probe{Name: c.c.Name, Program: c.c.Command[0], Installed: true, Works: true}
	if strings.HasPrefix(p.Program, "./") || strings.HasPrefix(p.Program, "../") {
		return p
	}
	if _, err := proc.LookPath(p.Program, env); err != nil {
		p.Installed, p.Works, p.Reason = false, false, "it is not installed"
	}
	return p
}

func (c custom) Turn(t Turn) (Invocation, error) {
	if err := t.check(c); err != nil {
		return Invocation{}, err
	}
	if err := t.noConfig(c); err != nil {
		return Invocation{}, err
	}
	template := c.c.Command
	if t.Thread != "" && c.c.Resume != nil {
		template = c.c.Resume
	}
	// One pass: what is put in is not looked at again.
	values := strings.NewReplacer("{prompt}", t.Prompt, "{session}", t.Thread, "{model}", t.Model, "{variant}", Normalize(t.Variant), "{dir}", t.Dir)
	var argv []string
	var stdin []byte
	if !slices.ContainsFunc(template, func(a string) bool { return strings.Contains(a, "{prompt}") }) {
		stdin = []byte(t.Prompt)
	} else if strings.Contains(t.Prompt, "\x00") {
		return Invocation{}, fault.New(fault.InvalidInput, "the prompt holds a NUL byte")
	}
	for _, a := range template {
		argv = append(argv, values.Replace(a))
	}
	env := with(t.environment(c.o), append(slices.Clone(c.c.Env), t.ExtraEnv...)...)
	return Invocation{Name: argv[0], Args: argv[1:], Env: env, Stdin: stdin}, nil
}

func (c custom) Decoder(dir string) Decoder {
	if c.c.Output == "jsonl" {
		return &jsonl{notes: notes{dir: dir}, event: c.event}
	}
	return &plain{notes: notes{dir: dir}, session: c.session}
}

// plain is the decoder of a command that writes text: each line is something said, and
// all of it together the last message.
type plain struct {
	notes
	session *regexp.Regexp
	said    strings.Builder
}

func (d *plain) Line(raw []byte, stderr bool, at time.Time) []Entry {
	d.at = at
	if stderr {
		d.complain(raw)
	}
	if d.sum.Thread == "" && d.session != nil {
		if m := d.session.FindSubmatch(raw[:min(len(raw), maxText)]); m != nil && handle.Match(m[1]) {
			d.sum.Thread = string(m[1])
		}
	}
	if stderr || len(strings.TrimSpace(proc.Text(raw[:min(len(raw), maxText)]))) == 0 {
		return nil
	}
	e := d.say(AssistantMessage, string(raw))
	if d.said.Len() < maxText {
		d.said.WriteString(e.Norm.Content + "\n")
	}
	return []Entry{e}
}

func (d *plain) Summary() Summary {
	s := d.sum
	s.LastMessage = strings.TrimSuffix(short(d.said.String()), "\n")
	return s
}

// sessionFields are the names that CLIs have for the id of a conversation.
var sessionFields = []string{"session_id", "thread_id", "sessionID", "sessionId", "threadId", "conversation_id"}

// event reads an event of which nothing is known but that it is one: a text in it is
// something said, an error is one.
func (c custom) event(n *notes, raw []byte) []Entry {
	var e map[string]json.RawMessage
	read(raw, &e)
	if n.sum.Thread == "" {
		n.sum.Thread = c.thread(e)
	}
	name := textOf(e, "type", "event")
	if why := failure(e, name); why != "" {
		return n.fail(why)
	}
	if text := textOf(e, "text", "content", "message", "result", "output"); text != "" {
		return n.answer(text)
	}
	return nil
}

// thread returns the conversation's id that an event names, or "".
func (c custom) thread(e map[string]json.RawMessage) string {
	names := sessionFields
	if c.c.SessionField != "" {
		path := strings.Split(c.c.SessionField, ".")
		for _, name := range path[:len(path)-1] {
			inner := e[name]
			e = nil
			read(inner, &e)
		}
		names = path[len(path)-1:]
	}
	if id := textOf(e, names...); handle.MatchString(id) {
		return id
	}
	return ""
}

// failure returns why an event says that the turn failed: its error, a text or an object
// with a message.
func failure(e map[string]json.RawMessage, name string) string {
	if why := textOf(e, "error"); why != "" {
		return why
	}
	var inner map[string]json.RawMessage
	if read(e["error"], &inner); inner != nil {
		return textOf(inner, "message", "type")
	}
	if name == "error" {
		return textOf(e, "message", "text")
	}
	return ""
}

// textOf returns the first of the fields that is a text which is not empty.
func textOf(e map[string]json.RawMessage, names ...string) string {
	for _, name := range names {
		var text string
		if json.Unmarshal(e[name], &text) == nil && text != "" {
			return text
		}
	}
	return ""
}
