package main

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"sync"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/proc"
	"github.com/gantry-run/gantry/mcpserver"
	"github.com/gantry-run/gantry/mcpserver/fleet"
	"github.com/gantry-run/gantry/mcpserver/httpfront"
	"github.com/gantry-run/gantry/mcpserver/tokens"
	"github.com/gantry-run/gantry/mcpserver/worktreetools"
	"github.com/gantry-run/gantry/specs"
	"github.com/gantry-run/gantry/worktree"
)

// worktreeFleet is the servers of the repository's worktrees.
type worktreeFleet struct {
	s     *service
	root  string // links followed
	fleet *fleet.Fleet
	file  string
	lease *proc.Lease

	stop context.CancelFunc
	done sync.WaitGroup
}

// startWorktrees serves every worktree of the root's repository, and follows as they come
// and go, until it is stopped.
func (s *service) startWorktrees(ctx context.Context) (*worktreeFleet, error) {
	a := s.app
	root, err := filepath.EvalSymlinks(a.cfg.Root)
	if err != nil {
		return nil, err
	}
	common := worktree.CommonDir(root)
	if common == "" {
		return nil, fault.New(fault.ConfigInvalid, "the root is in no git repository, so it has no worktrees").WithHint("leave --worktrees out, or give --root a repository")
	}
	w := &worktreeFleet{s: s, root: root, file: statesFile(a.cfg.StateDir, root)}
	if w.lease, err = takeStates(ctx, w.file); err != nil {
		return nil, err
	}
	var listed []fleet.State
	w.fleet = fleet.New(fleet.Options{
		List:   func(ctx context.Context) ([]fleet.Place, error) { return listPlaces(ctx, a.git, root) },
		Sign:   func() string { return signOf(common, listed) },
		Open:   w.open,
		Server: a.httpServer, Wrap: httpfront.Listen,
		First: a.cfg.Worktree.Port, Log: a.log,
	})
	ctx, w.stop = context.WithCancel(context.WithoutCancel(ctx))
	first := make(chan struct{})
	looked := sync.OnceFunc(func() { close(first) })
	w.done.Go(func() {
		w.fleet.Run(ctx, func() {
			if states := w.fleet.States(); !slices.EqualFunc(states, listed, sameState) {
				listed = states
				if err := writeStates(w.file, states); err != nil {
					a.log.Warn("the state of the worktrees could not be written", "error", err.Error())
				}
			}
			looked()
		})
	})
	<-first
	return w, nil
}

func sameState(a, b fleet.State) bool {
	return a.Place == b.Place && a.Port == b.Port && a.Clients == b.Clients && a.Error == b.Error
}

// close ends all servers.
func (w *worktreeFleet) close() {
	w.stop()
	w.done.Wait()
	_ = w.lease.Release() // the file is closed with the program at the latest
}

// open makes the server of a worktree: the worktree toolset on /mcp, with the worktree as
// its root.
func (w *worktreeFleet) open(p fleet.Place, addr net.Addr) (fleet.Service, error) {
	a := w.s.app
	jobs, err := a.newJobs(p.Path, a.handOff)
	if err != nil {
		return fleet.Service{}, err
	}
	tree, err := a.treeAt(p.Path, jobs)
	if err != nil {
		return fleet.Service{}, err
	}
	tools, err := worktreetools.Tools(worktreetools.Deps{Tree: tree})
	if err != nil {
		return fleet.Service{}, err
	}
	routes := w.s.healthRoutes()
	var paths []*mcpserver.HTTP
	for pattern, readOnly := range map[string]bool{"/mcp": a.cfg.ReadOnly, "/mcp/readonly": true} {
		m := mcpserver.New(mcpserver.Options{
			Name: worktreetools.ServerName, Version: version, Instructions: worktreetools.Instructions, Tools: tools, ReadOnly: readOnly, Guard: a.guard, Log: a.log,
		})
		h := mcpserver.NewHTTP(m, mcpserver.HTTPOptions{Log: a.log})
		paths, routes = append(paths, h), append(routes, route{pattern: pattern, handler: h})
	}
	service := fleet.Service{Handler: mux(routes, w.s.front(addr)), Close: func(ctx context.Context) {
		var all sync.WaitGroup
		for _, h := range paths {
			all.Go(func() { h.Shutdown(ctx) })
		}
		all.Wait()
		tree.Close()
	}}
	for _, t := range tools {
		if !a.cfg.ReadOnly || t.Spec.Effect == specs.Read {
			service.Tools = append(service.Tools, fleet.Tool{Name: t.Spec.Name, Description: t.Spec.Description.String(), Parameters: t.Spec.Input})
		}
	}
	return service, nil
}

// worktreeRoutes tell of the worktrees and their servers.
func (s *service) worktreeRoutes() []route {
	answer := func(w http.ResponseWriter, r *http.Request) {
		all, err := s.worktreeStates(r.Context())
		if err != nil {
			f := s.app.guard.Present(err)
			httpfront.Refuse(w, http.StatusConflict, nil, f)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		_ = json.NewEncoder(w).Encode(worktreesBody{all}) // who is gone needs no answer
	}
	return []route{{pattern: "GET /api/gantry/v1/worktrees", handler: http.HandlerFunc(answer), scope: tokens.ScopeRead}}
}

// worktreeStates returns every worktree with its server, if it has one.
func (s *service) worktreeStates(ctx context.Context) ([]worktreeState, error) {
	if w := s.worktrees; w != nil {
		return shown(w.root, w.fleet.States()), nil
	}
	root, err := filepath.EvalSymlinks(s.app.cfg.Root)
	if err != nil {
		return nil, err
	}
	places, err := listPlaces(ctx, s.app.git, root)
	return shown(root, joined(places, nil)), err
}
