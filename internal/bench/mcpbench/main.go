// Mcpbench measures an MCP server from the outside and prints one JSON report.
//
// It starts a stdio server, or talks to a Streamable HTTP endpoint, calls one tool so many
// times with so many calls in flight, and tells how long they took:
//
//	mcpbench --tool echo --args '{"message":"hi"}' -n 5000 -c 8 -- ./server stdio
//	mcpbench --http http://127.0.0.1:8080/mcp --header 'Authorization: Bearer x' --tool echo -n 5000
//	mcpbench --cold 10 -- ./server stdio    # from launch to the first tools/list
//	mcpbench -- ./server stdio              # start, list the tools, report memory
//
// With --protocol 2026-07-28 there is no handshake and each request carries _meta.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/gantry-run/gantry/internal/bench/probe"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(execute(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr))
}

// execute returns the exit code: 2 for misuse, 1 for a failure.
func execute(ctx context.Context, args, environ []string, stdout, stderr io.Writer) int {
	cfg, err := parseFlags(args, stderr)
	if err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(stderr, "mcpbench:", err)
		}
		return 2
	}
	if cfg.stderrMode == "inherit" {
		cfg.stderr = stderr
	}
	cfg.env = append(environ, cfg.env...)
	rep, err := run(ctx, cfg)
	if err != nil {
		fmt.Fprintln(stderr, "mcpbench:", err)
		return 1
	}
	enc := json.NewEncoder(stdout)
	enc.SetIndent("", "  ")
	if enc.Encode(rep) != nil || cfg.failOnError && rep.Errors.total() > 0 {
		return 1
	}
	return 0
}

func run(ctx context.Context, cfg *config) (*report, error) {
	if cfg.cold > 0 {
		return runCold(ctx, cfg)
	}
	rep := &report{Label: cfg.label, Tool: cfg.tool}
	began := time.Now()
	c, ready, err := open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if rep.Tools, err = c.ListTools(ctx); err != nil {
		return nil, fmt.Errorf("tools/list: %w", err)
	}
	rep.Startup = &startup{Ready: probe.Milliseconds(ready.Sub(began)), ToolsList: probe.Milliseconds(time.Since(began))}
	rep.describe(c)
	pid := cfg.rssPID
	if pid == 0 {
		pid = c.PID()
	}
	mem := &rss{}
	mem.AfterList, _ = probe.Memory(pid)
	if cfg.tool != "" {
		m, err := c.Run(ctx, cfg.load())
		if err != nil {
			return nil, err
		}
		rep.add(m, cfg.c)
	}
	if mem.End, mem.Peak = probe.Memory(pid); mem.AfterList > 0 {
		rep.RSS = mem
	}
	rep.Progress = c.Progress()
	return rep, nil
}

// open starts a conversation and says when the server was ready.
func open(ctx context.Context, cfg *config) (*probe.Client, time.Time, error) {
	var t probe.Transport
	var err error
	if cfg.httpURL != "" {
		t, err = probe.HTTP(cfg.httpURL, cfg.headers, cfg.c)
	} else {
		t, err = probe.Stdio(cfg.command, cfg.env, cfg.dir, cfg.stderr)
	}
	if err != nil {
		return nil, time.Time{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, cfg.timeout)
	defer cancel()
	c, err := probe.Open(ctx, t, cfg.protocol)
	return c, time.Now(), err
}

// runCold measures starts.
func runCold(ctx context.Context, cfg *config) (*report, error) {
	rep := &report{Label: cfg.label, Calls: int64(cfg.cold)}
	var ready, listed []time.Duration
	for range cfg.cold {
		began := time.Now()
		c, at, err := open(ctx, cfg)
		if err != nil {
			return nil, err
		}
		rep.Tools, err = c.ListTools(ctx)
		ready, listed = append(ready, at.Sub(began)), append(listed, time.Since(began))
		rep.describe(c)
		if kb, _ := probe.Memory(c.PID()); kb > 0 {
			rep.RSS = &rss{AfterList: kb}
		}
		c.Close()
		if err = errors.Join(err, ctx.Err()); err != nil {
			return nil, err
		}
	}
	rep.ColdInit, rep.ColdList = probe.Summarize(ready), probe.Summarize(listed)
	return rep, nil
}
