package main

import (
	"maps"
	"net/http"
	"slices"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/mcpserver"
	"github.com/gantry-run/gantry/mcpserver/tokens"
)

// route is one path that is served. Behind the front, httpfront.Who says who calls.
type route struct {
	pattern string // of [http.ServeMux]: "/path", or "METHOD /path"
	handler http.Handler
	scope   string // that a token needs for it; "": any token
	open    bool   // it is served without the front
}

// routes returns everything that is served over HTTP: what answers here is found here.
func (s *service) routes() ([]route, error) {
	all, err := s.protocolRoutes()
	if err != nil {
		return nil, err
	}
	all = append(append(append(all, s.healthRoutes()...), s.apiRoutes()...), s.worktreeRoutes()...)
	if metrics := s.app.metricsHandler(); metrics != nil {
		all = append(all, route{pattern: "GET /metrics", handler: metrics, scope: tokens.ScopeRead})
	}
	return all, nil
}

// metricsHandler answers Prometheus; nil when nothing can be scraped.
func (a *app) metricsHandler() http.Handler { return a.metrics() }

// metricsServer serves on metrics_addr, without tokens.
func (s *service) metricsServer() *http.Server {
	m := http.NewServeMux()
	for _, r := range s.healthRoutes() {
		m.Handle(r.pattern, r.handler)
	}
	m.Handle("GET /metrics", s.app.metrics())
	return s.app.httpServer(m)
}

// protocolRoutes returns the paths that speak MCP: /mcp with the configured toolsets,
// /mcp/x/<toolset> with each alone, and the twin of each that only reads. Those that need a
// token are left out when there are none.
func (s *service) protocolRoutes() (out []route, err error) {
	sets := map[string][]string{"/mcp": s.app.cfg.Toolsets}
	for name := range s.app.toolsets() {
		sets["/mcp/x/"+name] = []string{name}
	}
	var closed []string
	for _, path := range slices.Sorted(maps.Keys(sets)) {
		if !s.tokens.Configured() && slices.ContainsFunc(sets[path], needsToken) {
			closed = append(closed, path)
			continue
		}
		for _, twin := range []struct {
			suffix   string
			readOnly bool
		}{{"", s.app.cfg.ReadOnly}, {"/readonly", true}} {
			m, err := s.app.offer(sets[path], twin.readOnly)
			if err != nil {
				return nil, err
			}
			h := mcpserver.NewHTTP(m, mcpserver.HTTPOptions{Log: s.app.log})
			s.paths = append(s.paths, h)
			out = append(out, route{pattern: path + twin.suffix, handler: h})
		}
	}
	const hint = "give --tokens FILE with a line name:token; openssl rand -hex 32 makes a token"
	switch {
	case len(out) == 0:
		return nil, fault.New(fault.ConfigInvalid, "without tokens there is nothing to serve: these toolsets start programs").WithHint(hint)
	case len(closed) > 0:
		s.app.log.Warn("without tokens some paths are not offered", "paths", closed, "hint", hint)
	}
	return out, nil
}

// needsToken reports whether a toolset is for callers with a token only. One that shows the
// files of the project is not: whoever reaches loopback can read them anyway.
func needsToken(toolset string) bool { return toolset != "worktree" }

// healthRoutes tell those who look after the server how it is.
func (s *service) healthRoutes() []route {
	say := func(w http.ResponseWriter, status int, text string) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(text)) // who is gone needs no answer
	}
	return []route{
		{pattern: "GET /healthz", open: true, handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			say(w, http.StatusOK, `{"status":"ok"}`)
		})},
		{pattern: "GET /readyz", open: true, handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if s.draining.Load() {
				say(w, http.StatusServiceUnavailable, `{"status":"draining"}`)
				return
			}
			say(w, http.StatusOK, `{"status":"ready"}`)
		})},
	}
}
