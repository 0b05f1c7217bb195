package main

import (
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gantry-run/gantry/agents/entries"
	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/mcpserver"
	"github.com/gantry-run/gantry/mcpserver/agenttools"
	"github.com/gantry-run/gantry/mcpserver/boardtools"
	"github.com/gantry-run/gantry/mcpserver/launchtools"
	"github.com/gantry-run/gantry/mcpserver/tasktools"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/mcpserver/worktreetools"
	"github.com/gantry-run/gantry/specs"
)

// toolset is a family of tools as it is served.
type toolset struct {
	name         string // serverInfo.name of a server that serves it alone
	instructions string
	tools        func() ([]tool.Tool, error)
	resources    tool.Resources               // nil: none
	handles      func() (tool.Handles, error) // nil: its calls are done when they are answered
}

// toolsets returns every toolset by the name that --toolsets gives it.
func (a *app) toolsets() map[string]toolset {
	capture := time.Duration(a.cfg.Tasks.Capture) * time.Second
	return map[string]toolset{
		launchtools.Toolset: {launchtools.ServerName, launchtools.Instructions, func() ([]tool.Tool, error) {
			return launchtools.Tools(launchtools.Deps{Launches: a.launches, Store: a.store, Telemetry: a.tel})
		}, launchtools.Resources{Launches: a.launches}, always(launchtools.Handles{Launches: a.launches})},
		tasktools.Toolset: {tasktools.ServerName, tasktools.Instructions(capture), func() ([]tool.Tool, error) {
			return tasktools.Tools(tasktools.Deps{Jobs: a.jobs, Capture: capture})
		}, tasktools.Resources{Jobs: a.jobs}, always(tasktools.Handles{Jobs: a.jobs})},
		worktreetools.Toolset: {worktreetools.ServerName, worktreetools.Instructions, a.worktreeTools, nil, nil},
		boardtools.Toolset:    {boardtools.ServerName, boardtools.Instructions, a.boardTools, nil, a.boardHandles},
		agenttools.Toolset: {agenttools.ServerName, agenttools.Instructions, func() ([]tool.Tool, error) {
			return agenttools.Tools(agenttools.Deps{Tasks: a.tasks, Compat: a.cfg.Tools[compatKey]})
		}, agenttools.Resources{Tasks: a.tasks}, always(agenttools.Handles{Tasks: a.tasks, Sessions: a.sessions})},
	}
}

func always(h tool.Handles) func() (tool.Handles, error) {
	return func() (tool.Handles, error) { return h, nil }
}

func (a *app) boardDeps() (boardtools.Deps, error) {
	b, err := a.board()
	return boardtools.Deps{
		Board: b, Sessions: a.sessions, Entries: entries.New(a.sessionsDir()), Executors: a.working, Root: a.cfg.Root,
	}, err
}

func (a *app) boardTools() ([]tool.Tool, error) {
	d, err := a.boardDeps()
	if err != nil {
		return nil, err
	}
	return boardtools.Tools(d)
}

func (a *app) boardHandles() (tool.Handles, error) {
	d, err := a.boardDeps()
	return boardtools.Handles{Deps: d}, err
}

// offer returns a server of the named toolsets.
func (a *app) offer(names []string, readOnly bool) (*mcp.Server, error) {
	all := a.toolsets()
	o := mcpserver.Options{Name: "gantry", Version: version, ReadOnly: readOnly, Guard: a.guard, Log: a.log, Secret: a.door}
	var resources []tool.Resources
	var handles []tool.Handles
	for _, name := range names {
		set, ok := all[name]
		if !ok {
			return nil, fault.New(fault.ConfigInvalid, "there is no toolset %.40q", name).WithHint("toolsets of this version: %v", specs.Toolsets())
		}
		tools, err := set.tools()
		if err != nil {
			return nil, err
		}
		o.Tools = append(o.Tools, tools...)
		if o.Instructions != "" {
			o.Instructions += "\n"
		}
		o.Instructions += set.instructions
		if set.resources != nil {
			resources = append(resources, set.resources)
		}
		if set.handles != nil {
			h, err := set.handles()
			if err != nil {
				return nil, err
			}
			handles = append(handles, h)
		}
		if len(names) == 1 {
			o.Name = set.name
		}
	}
	if slices.Contains(names, launchtools.Toolset) {
		o.Prompts, o.Complete = launchtools.Prompts(), launchtools.Completer(a.launches)
	}
	o.Tools = distinct(slices.DeleteFunc(o.Tools, func(t tool.Tool) bool { return a.cfg.off(t.Spec) }))
	if resources != nil {
		o.Resources = tool.Join(resources...)
	}
	if handles != nil {
		o.Handles = tool.JoinHandles(handles...)
	}
	return mcpserver.New(o), nil
}

// distinct returns the tools with those whose names clash called by their toolset too.
func distinct(tools []tool.Tool) []tool.Tool {
	times := map[string]int{}
	for _, t := range tools {
		times[t.Spec.Name]++
	}
	out := slices.Clone(tools)
	for i := range out {
		if s := &out[i].Spec; times[s.Name] > 1 {
			s.Name = s.Toolset + "_" + s.Name
		}
	}
	return out
}
