package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/gantry-run/gantry/mcpserver"
)

func (c *cli) serveCommand() *cobra.Command {
	return &cobra.Command{
		Use: "serve", Short: "Serve MCP over HTTP", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.serveHTTP(cmd.Context()) },
	}
}

// route is one path that is served.
type route struct {
	pattern string // of [http.ServeMux]
	handler http.Handler
}

// routes returns everything that is served over HTTP: what answers here is found here.
func (a *app) routes() ([]route, error) {
	all, err := a.protocolRoutes()
	if err != nil {
		return nil, err
	}
	return append(all, route{"GET /healthz", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })}), nil
}

// protocolRoutes returns the paths that speak MCP: /mcp with the configured toolsets,
// /mcp/x/<toolset> with each alone, and the twin of each that only reads.
func (a *app) protocolRoutes() (out []route, err error) {
	paths := map[string][]string{"/mcp": a.cfg.Toolsets}
	for name := range a.toolsets() {
		paths["/mcp/x/"+name] = []string{name}
	}
	for path, names := range paths {
		for _, readOnly := range []bool{false, true} {
			m, err := a.offer(names, readOnly || a.cfg.ReadOnly)
			if err != nil {
				return nil, err
			}
			pattern := path
			if readOnly {
				pattern += "/readonly"
			}
			out = append(out, route{pattern, mcpserver.NewHTTP(m)})
		}
	}
	slices.SortFunc(out, func(a, b route) int { return len(a.pattern) - len(b.pattern) })
	return out, nil
}

func (c *cli) serveHTTP(ctx context.Context) (err error) {
	a, err := c.open(use{adopt: true})
	if err != nil {
		return err
	}
	defer func() {
		if closed := a.close(); err == nil {
			err = closed
		}
	}()
	routes, err := a.routes()
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	for _, r := range routes {
		mux.Handle(r.pattern, r.handler)
	}
	l, err := net.Listen("tcp", c.config.HTTP.Addr)
	if err != nil {
		return err
	}
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	signals, release := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT)
	defer release()
	context.AfterFunc(signals, func() {
		a.guard.Drain()
		late, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if srv.Shutdown(late) != nil {
			_ = srv.Close()
		}
	})
	a.log.Info("serving over HTTP", "addr", l.Addr().String(), "version", version)
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
