package main

import (
	"github.com/gantry-run/gantry/agents/tasks"
	"github.com/gantry-run/gantry/internal/proc"
)

// newTasks returns the tasks of the toolset agents.
func (a *app) newTasks() *tasks.Tasks {
	s := a.cfg.Server
	return tasks.New(tasks.Options{
		Sessions: a.sessions, Git: a.git, Store: s.StoreRoot, Root: a.cfg.Root, Anywhere: s.AllowUnsafe, StopAll: s.AllowStopAll || s.AllowUnsafe,
		Hurry: proc.Getenv(a.env, "CODEX_TASKS_EXIT_AFTER_START") != "",
	})
}
