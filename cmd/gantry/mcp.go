package main

import (
	"context"
	"os/signal"
	"syscall"

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

func (c *cli) serveStdio(ctx context.Context) (err error) {
	a, err := c.open(use{adopt: true})
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
