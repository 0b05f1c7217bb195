package main

import (
	"context"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/gantry-run/gantry/mcpserver"
	"github.com/gantry-run/gantry/mcpserver/stdio"
)

func (c *cli) mcpCommand() *cobra.Command {
	return &cobra.Command{
		Use: "mcp", Short: "Serve MCP on standard input and output", Args: cobra.NoArgs,
		Long: "Serve MCP on standard input and output, for an agent that starts this program.\n" +
			"Runs go on when the client is gone: a worker takes them over, unless --no-worker is given.",
		RunE: func(cmd *cobra.Command, _ []string) error { return c.serveStdio(cmd.Context()) },
	}
}

// hurry lets the garbage collector rest while a client waits for the first answers: a
// fresh program holds next to nothing, and would be looked through twice all the same. It
// returns how to end that.
func hurry() (end func()) {
	usual := debug.SetGCPercent(400)
	return func() { debug.SetGCPercent(usual) }
}

// hurryFor is longer than the first answers take.
const hurryFor = time.Second

func (c *cli) serveStdio(ctx context.Context) (err error) {
	time.AfterFunc(hurryFor, hurry())
	a, err := c.open(use{door: c.config.Server.AuthToken, adopt: true})
	if err != nil {
		return err
	}
	defer func() {
		if closed := a.close(); err == nil {
			err = closed
		}
	}()
	signals, release := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT)
	defer release()
	t := &stdio.Transport{In: c.std.in, Out: c.std.out, MaxInFlight: c.config.MaxInFlight, Refuse: mcpserver.Refusal, Logger: a.log}
	if _, err := a.server.Connect(ctx, t, nil); err != nil {
		return err
	}
	a.log.Info("serving on standard input and output", "version", version, "toolsets", c.config.Toolsets)
	select {
	case <-signals.Done():
		a.guard.Drain()
		t.BeginDrain()
		<-t.Done()
	case <-t.Done():
	}
	return nil
}
