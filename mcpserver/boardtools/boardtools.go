// Package boardtools offers the board as MCP tools: projects and tasks, attempts of
// agents at them, what those said and what they changed. Each tool has a file, which
// holds what comes in, what goes out and the call of the domain between them.
//
// What every call has in common, from the schema to the timeout, is the guard's work. A
// session has two names on the wire: the board's session_id is the id of its run, and a
// turn is an execution process.
//
// A list ends before listBytes when the caller does not say how long it may be, so that
// looking around costs a model little. What is held back is no error: the result says
// blocked, why, and what to do.
package boardtools

import (
	"context"

	"github.com/gantry-run/gantry/agents"
	"github.com/gantry-run/gantry/agents/entries"
	"github.com/gantry-run/gantry/agents/sessions"
	"github.com/gantry-run/gantry/board"
	"github.com/gantry-run/gantry/mcpserver/tool"
)

// Toolset is the name of the toolset.
const Toolset = "board"

// ServerName is serverInfo.name of a server that offers this toolset alone.
const ServerName = "gantry-board"

// Instructions tell a model how the tools belong together.
const Instructions = "board: tasks of projects, and agents that work on them in git worktrees. " +
	"list_projects and list_tasks show what there is, create_task adds to it. start_task_attempt has an executor (list_executors) work on a task, " +
	"in a worktree of each repository (list_repos), and answers at once: get_attempt_status says when its turn is over, " +
	"tail_attempt_logs what it does, get_attempt_changes, get_attempt_patch and get_attempt_file what it made. " +
	"follow_up goes on with it: send starts the next turn, queue waits for the end of this one, cancel empties the queue. stop_attempt ends the turn. " +
	"Ids are UUIDs that only these tools have. A result that says blocked is no error: its hint says what to do. " +
	"Pass a fresh request_id with what creates or starts something, and the same one to try again."

// Deps are what the tools call.
type Deps struct {
	Board    *board.Board
	Sessions *sessions.Sessions
	Entries  *entries.Store

	// Executors returns the agents that work on this machine.
	Executors func(context.Context) []agents.CLI

	Root string // the folder of the server, absolute
}

// Tools returns the tools of the toolset in the order of their specifications.
func Tools(d Deps) ([]tool.Tool, error) {
	return tool.Of(Toolset, map[string]tool.Maker{
		"list_projects":         d.listProjects,
		"list_repos":            d.listRepos,
		"list_tasks":            d.listTasks,
		"list_task_attempts":    d.listTaskAttempts,
		"get_task":              d.getTask,
		"create_task":           d.createTask,
		"update_task":           d.updateTask,
		"delete_task":           d.deleteTask,
		"start_task_attempt":    d.startTaskAttempt,
		"follow_up":             d.followUp,
		"get_attempt_status":    d.getAttemptStatus,
		"tail_attempt_logs":     d.tailAttemptLogs,
		"get_attempt_changes":   d.getAttemptChanges,
		"get_context":           d.getContext,
		"list_executors":        d.listExecutors,
		"stop_attempt":          d.stopAttempt,
		"tail_session_messages": d.tailSessionMessages,
		"get_attempt_file":      d.getAttemptFile,
		"get_attempt_patch":     d.getAttemptPatch,
	})
}
