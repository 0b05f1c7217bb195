// Package launchtools offers launches as MCP tools: one file for each capability,
// which holds what comes in, what goes out and the call of the domain between them.
//
// A capability may have two names (launch_get_status and get_run_status); the
// specification of the second says so, and both get the same handler. What every
// call has in common, from the schema to the timeout, is the guard's work.
package launchtools

import (
	"github.com/gantry-run/gantry/launch"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/telemetry"
)

// Toolset is the name of the toolset.
const Toolset = "launch"

// ServerName is serverInfo.name of a server that offers this toolset alone.
const ServerName = "foss-launcher-mcp"

// Instructions tell a model how the tools belong together.
const Instructions = `launch: a run turns a product repository into a documentation pull request. ` +
	`Start one (launch_start_run), launch_wait (or poll launch_get_status) until it pauses or ends, and do what its "next" says: ` +
	`launch_fix_next repairs one validation issue a call, launch_validate checks again, launch_open_pr opens the pull request. ` +
	`Read artifacts by name with launch_get_artifact. Runs go on when you disconnect; launch_cancel ends one. ` +
	`Repeat a call that may have been lost with the same idempotency_key.`

// Deps are what the tools call.
type Deps struct {
	Launches  *launch.Service
	Store     *runs.Store
	Telemetry *telemetry.Telemetry
}

// Tools returns the tools of the toolset in the order of their specifications.
func Tools(d Deps) ([]tool.Tool, error) {
	return tool.Of(Toolset, map[string]tool.Maker{
		"launch_start_run":                      d.startRun,
		"launch_start_run_from_product_url":     d.startFromProductURL,
		"launch_start_run_from_github_repo_url": d.startFromGitHub,
		"launch_get_status":                     d.getStatus,
		"launch_wait":                           d.wait,
		"launch_get_artifact":                   d.getArtifact,
		"launch_validate":                       d.validate,
		"launch_fix_next":                       d.fixNext,
		"launch_resume":                         d.resume,
		"launch_cancel":                         d.cancel,
		"launch_open_pr":                        d.openPR,
		"launch_list_runs":                      d.listRuns,
		"get_telemetry":                         d.getTelemetry,
		"list_taskcards":                        d.listTaskcards,
		"validate_taskcard":                     d.validateTaskcard,
	})
}

// run is the argument of a tool that names a run and nothing else.
type run struct {
	RunID runs.ID `json:"run_id"`
}

// done is what every result begins with.
type done struct {
	OK    bool    `json:"ok"`
	RunID runs.ID `json:"run_id"`
}

func ok(id runs.ID) done { return done{true, id} }

// nonNil keeps an empty list from becoming null.
func nonNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// pageSize is how many items a page has when the caller does not say.
const pageSize = 50

func limit(n int) int {
	if n == 0 {
		return pageSize
	}
	return n
}

// cursor is a next_cursor: null at the end.
func cursor(next string) *string {
	if next == "" {
		return nil
	}
	return &next
}
