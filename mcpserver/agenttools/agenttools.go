// Package agenttools offers background agents as MCP tools: one file for each tool, which
// holds what comes in, what goes out and the call of the domain between them.
//
// The tools are those of codex-tasks: a task is a conversation with an agent, and its id is
// the agent's own for that. Codex's former pair, codex and codex-reply, is offered beside
// them to those who ask for it.
package agenttools

import (
	"slices"
	"time"
	"unicode/utf8"

	"github.com/gantry-run/gantry/agents/tasks"
	"github.com/gantry-run/gantry/agents/taskstore"
	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
)

// Toolset is the name of the toolset.
const Toolset = "agents"

// ServerName is serverInfo.name of a server that offers this toolset alone.
const ServerName = "codex-tasks"

// Instructions tell a model how the tools belong together.
const Instructions = "agents: coding agents (Codex and others) that work in the background and go on when this client, this server or the terminal goes away. " +
	"task_start gives one a prompt and answers with its task_id; task_log follows it (follow, after), task_status says how it is and what it said last. " +
	"A task that is STOPPED or DIED takes the next prompt with task_send; task_stop ends what it is doing, task_archive puts it away, task_list finds tasks of earlier days. " +
	"Give each start and send a request_id: the same one again does nothing twice."

// Deps are what the tools call.
type Deps struct {
	Tasks *tasks.Tasks

	Compat bool     // offer codex and codex-reply
	Off    []string // names of tools that are not offered
}

// compat are the tools that are offered on request alone.
func compat() []string { return []string{"codex", "codex-reply"} }

// Tools returns the tools of the toolset in the order of their specifications.
func Tools(d Deps) ([]tool.Tool, error) {
	all, err := tool.Of(Toolset, map[string]tool.Maker{
		"task_start":   d.taskStart,
		"task_send":    d.taskSend,
		"task_status":  d.taskStatus,
		"task_log":     d.taskLog,
		"task_stop":    d.taskStop,
		"task_list":    d.taskList,
		"task_archive": d.taskArchive,
		"codex":        d.codex,
		"codex-reply":  d.codexReply,
	})
	return slices.DeleteFunc(all, func(t tool.Tool) bool {
		return slices.Contains(d.Off, t.Spec.Name) || !d.Compat && slices.Contains(compat(), t.Spec.Name)
	}), err
}

// taskOut is a task on the wire.
type taskOut struct {
	ID         string          `json:"task_id"`
	Session    *string         `json:"session_id"`
	Thread     *string         `json:"thread_id"`
	Title      string          `json:"title"`
	State      taskstore.State `json:"state"`
	Created    time.Time       `json:"created_at"`
	Updated    time.Time       `json:"updated_at"`
	LastPrompt string          `json:"last_prompt"`
	PromptedAt *time.Time      `json:"last_prompt_at"`
	LastResult string          `json:"last_result"`
	Error      string          `json:"error,omitempty"`
	WorkingDir string          `json:"working_dir"`
	PID        int             `json:"pid,omitempty"`
	Executor   string          `json:"executor"`
}

// How many characters of a prompt and of a result are shown: of one task, and of one in a
// list.
const (
	shown       = 2000
	shownInList = 200
)

func outOf(t tasks.Task, most int) taskOut {
	out := taskOut{
		ID: t.ID, Title: t.Title, State: t.State, Created: t.Created.UTC(), Updated: t.Updated.UTC(), LastPrompt: first(t.LastPrompt, most),
		LastResult: first(t.LastResult, most), Error: first(t.Error, most), WorkingDir: t.WorkingDir, PID: t.PID, Executor: t.Executor,
	}
	if t.Session != "" {
		out.Session = &t.Session
	}
	if t.Thread != "" {
		out.Thread = &t.Thread
	}
	if !t.PromptedAt.IsZero() {
		at := t.PromptedAt.UTC()
		out.PromptedAt = &at
	}
	return out
}

// first returns the first characters of a text.
func first(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most])
}

// one returns a task as a tool answers it, and notes in the call's record which run it is.
func one(c *guard.Call, t tasks.Task, err error) (taskOut, error) {
	if err != nil {
		return taskOut{}, err
	}
	if t.Session != "" && c.Record != nil {
		c.Record.SetRun(t.Session)
	}
	return outOf(t, shown), nil
}
