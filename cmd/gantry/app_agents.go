package main

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"

	"github.com/gantry-run/gantry/agents"
	"github.com/gantry-run/gantry/agents/sessions"
	"github.com/gantry-run/gantry/board"
	"github.com/gantry-run/gantry/internal/git"
)

// sessionOptions returns what sessions need, without the engine.
func (a *app) sessionOptions() (sessions.Options, error) {
	o := a.cfg.agentOptions()
	registry, err := agents.CLIs(o)
	return sessions.Options{
		Store: a.store, Supervisor: a.supervisor, Agents: registry, Custom: o.Custom, Dir: a.sessionsDir(), Env: a.env, Log: a.log,
	}, err
}

// sessionsDir is where the entries of sessions are.
func (a *app) sessionsDir() string { return filepath.Join(a.cfg.StateDir, "sessions") }

// working returns the agents that work on this machine, by name.
func (a *app) working(ctx context.Context) []agents.CLI {
	out := a.prober.Working(ctx)
	slices.SortFunc(out, func(x, y agents.CLI) int { return cmp.Compare(x.Name(), y.Name()) })
	return out
}

// openBoard opens the board, which only some commands need.
func (a *app) openBoard(g *git.Git) (*board.Board, error) {
	guard, err := a.cfg.Board.guard()
	if err != nil {
		return nil, err
	}
	b, err := board.Open(context.Background(), board.Options{
		Dir: filepath.Join(a.cfg.StateDir, "board"), Git: g, Sessions: a.sessions, Journals: a.store, Executors: a.agents,
		Projects: a.cfg.projects(), Root: a.cfg.Root, Guard: guard, Log: a.log,
	})
	if err == nil {
		a.closers = append(a.closers, b.Close)
	}
	return b, err
}
