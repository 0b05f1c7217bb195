package main

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os/signal"
	"path"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/proc"
	"github.com/gantry-run/gantry/mcpserver"
	"github.com/gantry-run/gantry/mcpserver/httpfront"
	"github.com/gantry-run/gantry/mcpserver/stdio"
	"github.com/gantry-run/gantry/mcpserver/tokens"
)

// tokensVariable is the variable of the environment that holds tokens.
const tokensVariable = "GANTRY_TOKENS"

func (c *cli) serveCommand() *cobra.Command {
	return &cobra.Command{
		Use: "serve", Short: "Serve MCP over HTTP", Args: cobra.NoArgs,
		Long: "Serve MCP over Streamable HTTP: /mcp has the configured toolsets, /mcp/x/TOOLSET one of them,\n" +
			"and each path has a twin, .../readonly, that changes nothing. Callers show a bearer token\n" +
			"of --tokens FILE or of the variable " + tokensVariable + ", one name:token[:scopes[:expiry]] a line.",
		RunE: func(cmd *cobra.Command, _ []string) error { return c.serveHTTP(cmd.Context()) },
	}
}

// service is what gantry serve runs.
type service struct {
	app      *app
	tokens   *tokens.Store
	paths    []*mcpserver.HTTP // that speak MCP
	draining atomic.Bool

	worktrees *worktreeFleet // nil: they have no servers
	ending    chan struct{}  // closed when streams are to end
}

func (c *cli) serveHTTP(ctx context.Context) (err error) {
	known, err := tokens.Open(tokens.Options{File: c.config.HTTP.Tokens, Text: proc.Getenv(c.env, tokensVariable), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	if err := c.config.HTTP.safe(known.Configured()); err != nil {
		return err
	}
	a, err := c.open(use{adopt: true, scraped: true, secrets: known.Secrets()})
	if err != nil {
		return err
	}
	defer func() {
		if closed := a.close(); err == nil {
			err = closed
		}
	}()
	known.LogTo(a.log)
	s := &service{app: a, tokens: known, ending: make(chan struct{})}
	if c.config.Worktree.Serve {
		if s.worktrees, err = s.startWorktrees(ctx); err != nil {
			return err
		}
		defer s.worktrees.close()
	}
	routes, err := s.routes()
	if err != nil {
		return err
	}
	listener, err := c.config.HTTP.listen()
	if err != nil {
		return err
	}
	servers := []*http.Server{s.server(routes, listener)}
	listeners := []net.Listener{listener}
	if addr := c.config.HTTP.MetricsAddr; addr != "" {
		l, err := net.Listen("tcp", addr)
		if err != nil {
			return errors.Join(cannotListen(err), listener.Close())
		}
		servers, listeners = append(servers, s.metricsServer()), append(listeners, l)
		a.log.Info("serving metrics", "addr", l.Addr().String())
	}
	signals, release := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT)
	defer release()
	a.log.Info("serving over HTTP", "addr", listener.Addr().String(), "tls", c.config.HTTP.TLSCert != "", "version", version, "toolsets", c.config.Toolsets)
	return s.run(signals, servers, listeners)
}

// run serves until ctx ends or a listener fails, and then stops in order.
func (s *service) run(ctx context.Context, servers []*http.Server, listeners []net.Listener) error {
	failed := make(chan error, len(servers))
	var all sync.WaitGroup
	for i, srv := range servers {
		all.Go(func() {
			if err := srv.Serve(listeners[i]); !errors.Is(err, http.ErrServerClosed) {
				failed <- err
			}
		})
	}
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	s.stop(servers)
	all.Wait()
	return err
}

// stop ends the servers: new calls are refused, those under way may finish, sessions and
// streams end, then connections do.
func (s *service) stop(servers []*http.Server) {
	s.draining.Store(true)
	close(s.ending)
	s.app.guard.Drain()
	grace, cancel := context.WithTimeout(context.Background(), stdio.DefaultDrainGrace)
	defer cancel()
	var all sync.WaitGroup
	for _, p := range s.paths {
		all.Go(func() { p.Shutdown(grace) })
	}
	all.Wait()
	last, done := context.WithTimeout(context.Background(), time.Second)
	defer done()
	for _, srv := range servers {
		if srv.Shutdown(last) != nil {
			_ = srv.Close() // what does not end is cut off
		}
	}
}

// server returns the server of the routes, behind the front.
func (s *service) server(routes []route, l net.Listener) *http.Server {
	return s.app.httpServer(mux(routes, s.front(l.Addr())))
}

func (a *app) httpServer(h http.Handler) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: httpfront.MaxHead,
		DisableGeneralOptionsHandler: true, ErrorLog: slog.NewLogLogger(a.log.Handler(), slog.LevelWarn),
	}
}

// front returns the guards of what is served at an address.
func (s *service) front(addr net.Addr) *httpfront.Front {
	o := s.app.cfg.HTTP
	return httpfront.New(httpfront.Options{Tokens: s.tokens, Hosts: append(ownHosts(addr), o.AllowedHosts...), Origins: o.AllowedOrigins})
}

// ownHosts returns the hosts that a server at an address is called by everywhere.
func ownHosts(addr net.Addr) []string {
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return nil
	}
	hosts := []string{"localhost:" + port, "127.0.0.1:" + port, "[::1]:" + port}
	if ip := net.ParseIP(host); ip != nil && !ip.IsUnspecified() && !ip.IsLoopback() {
		hosts = append(hosts, addr.String())
	}
	return hosts
}

// mux returns the routes behind the front. A path that is none of them, or that is written
// in another way than it is, is not found: nothing is redirected.
func mux(routes []route, front *httpfront.Front) http.Handler {
	m := http.NewServeMux()
	for _, r := range routes {
		h := r.handler
		if !r.open {
			h = front.Wrap(h, r.scope)
		}
		m.Handle(r.pattern, h)
	}
	nothing := front.Public(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		httpfront.Refuse(w, http.StatusNotFound, nil, fault.New(fault.InvalidInput, "nothing is served at this path"))
	}))
	m.Handle("/", nothing)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p := r.URL.Path; p == "" || p[0] != '/' || p != path.Clean(p) || r.Method == http.MethodConnect {
			nothing.ServeHTTP(w, r)
			return
		}
		m.ServeHTTP(w, r)
	})
}

// safe refuses settings that would let strangers in.
func (h *httpTable) safe(tokens bool) error {
	if (h.TLSCert == "") != (h.TLSKey == "") {
		return fault.New(fault.ConfigInvalid, "tls_cert and tls_key belong together")
	}
	host, _, err := net.SplitHostPort(h.Addr)
	if err != nil {
		return fault.New(fault.ConfigInvalid, "addr is host:port, such as 127.0.0.1:8787")
	}
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	switch {
	case !tokens:
		return fault.New(fault.ConfigInvalid, "addr is not on loopback, and there are no tokens: anybody could start programs here").
			WithHint("give --tokens FILE with a line name:token (openssl rand -hex 32), or --addr 127.0.0.1:8787")
	case h.TLSCert == "" && !h.InsecureNoTLS:
		return fault.New(fault.ConfigInvalid, "addr is not on loopback, and there is no TLS: tokens could be read on the way").
			WithHint("give --tls-cert and --tls-key; behind a proxy that has TLS, give --insecure-no-tls")
	}
	return nil
}

// listen opens the address, with TLS when there is a certificate.
func (h *httpTable) listen() (net.Listener, error) {
	var conf *tls.Config
	if h.TLSCert != "" {
		cert := &certificate{cert: h.TLSCert, key: h.TLSKey}
		if _, err := cert.get(nil); err != nil {
			return nil, fault.New(fault.ConfigInvalid, "the certificate or its key cannot be used").Because(err)
		}
		conf = &tls.Config{GetCertificate: cert.get, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}
	}
	l, err := net.Listen("tcp", h.Addr)
	if err != nil {
		return nil, cannotListen(err)
	}
	if conf != nil {
		l = tls.NewListener(l, conf)
	}
	return httpfront.Listen(l), nil
}

func cannotListen(err error) error {
	return fault.New(fault.ConfigInvalid, "the address cannot be listened on: %s", reasonOf(err)).WithHint("is another server running? --addr takes another port")
}

// reasonOf returns what the system says, without the address.
func reasonOf(err error) string {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err.Error()
	}
	return err.Error()
}
