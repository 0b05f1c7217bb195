// Package tasktools offers the targets of a project as MCP tools: one file for each tool,
// which holds what comes in, what goes out and the call of the domain between them.
//
// On the wire a target is a task, and a job has the pid of its process. What every call
// has in common, from the schema to the timeout, is the guard's work; which task may be
// started is decided by package targets.
package tasktools

import (
	"fmt"
	"time"

	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/targets/jobs"
)

// Toolset is the name of the toolset.
const Toolset = "tasks"

// ServerName is serverInfo.name of a server that offers this toolset alone.
const ServerName = "dela-mcp"

// Instructions tell a model how the tools belong together. capture is how long task_start
// waits when the caller does not say.
func Instructions(capture time.Duration) string {
	return fmt.Sprintf("tasks: the entries of this project's build files (make, npm, just, ...). "+
		"list_tasks shows them with their exact commands; task_start starts one that a human has allowlisted, by its unique_name. "+
		"It waits wait_for_exit_seconds for the end (a %g-second capture by default, at most 50) and returns the output so far; "+
		"a task that goes on is \"running\" in the background: follow it with task_output, end it with task_stop, both by pid. "+
		"status lists what runs and what ended in the last hour. A task ends with this server unless it was started with keep.", capture.Seconds())
}

// Deps are what the tools call.
type Deps struct {
	Jobs    *jobs.Service
	Capture time.Duration // how long task_start waits when the caller does not say
}

// Tools returns the tools of the toolset in the order of their specifications.
func Tools(d Deps) ([]tool.Tool, error) {
	return tool.Of(Toolset, map[string]tool.Maker{
		"list_tasks":  d.listTasks,
		"status":      d.status,
		"task_start":  d.taskStart,
		"task_status": d.taskStatus,
		"task_output": d.taskOutput,
		"task_stop":   d.taskStop,
	})
}

// seconds is a duration that the wire gives in seconds.
func seconds(given *float64, otherwise time.Duration) time.Duration {
	if given == nil {
		return otherwise
	}
	return time.Duration(*given * float64(time.Second))
}

// listBytes is what a list holds at most when the caller does not say.
const listBytes = 8000
