// Package worktreetools offers the files of a work tree as MCP tools: one file for each
// tool, which holds what comes in, what goes out and the call of the domain between them.
//
// Nothing here opens a file. Which path may be read is decided by package worktree, and
// which recipe may be started by package targets; what every call has in common, from the
// schema to the timeout, is the guard's work.
package worktreetools

import (
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/worktree"
)

// Toolset is the name of the toolset.
const Toolset = "worktree"

// ServerName is serverInfo.name of a server that offers this toolset alone.
const ServerName = "gantry-worktree"

// Instructions tell a model how the tools belong together.
const Instructions = "worktree: the files of this project. get_project_context is the place to begin: what has changed, what failed, " +
	"the upper folders. list_directory leaves out what git ignores; read_file returns lines, and next_offset says where to read on. " +
	"Paths are relative to the project's root, and nothing outside of it can be read. run_just_task runs a recipe of the justfile " +
	"that a human has allowlisted (gantry allow) and waits for its end."

// Deps are what the tools call.
type Deps struct {
	Tree *worktree.Tree
}

// Tools returns the tools of the toolset in the order of their specifications.
func Tools(d Deps) ([]tool.Tool, error) {
	return tool.Of(Toolset, map[string]tool.Maker{
		"read_file":           d.readFile,
		"list_directory":      d.listDirectory,
		"get_project_context": d.getProjectContext,
		"run_just_task":       d.runJustTask,
	})
}
