package main

import (
	"context"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

func (c *cli) workerCommand() *cobra.Command {
	var idle time.Duration
	cmd := &cobra.Command{
		Use: "worker", Short: "Execute the runs that nobody drives, and exit when idle", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.work(cmd.Context(), idle) },
	}
	cmd.Flags().DurationVar(&idle, "idle", 10*time.Second, "exit after this long without a run to drive; 0 works for ever")
	return cmd
}

// work drives runs until there has been none for a while.
func (c *cli) work(ctx context.Context, idle time.Duration) (err error) {
	c.config.NoWorker = true // this is the worker
	a, err := c.open(use{adopt: true})
	if err != nil {
		return err
	}
	defer func() {
		if closed := a.close(); err == nil {
			err = closed
		}
	}()
	ctx, release := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT)
	defer release()
	const every = 200 * time.Millisecond
	tick := time.NewTicker(every)
	defer tick.Stop()
	for quiet := time.Duration(0); idle == 0 || quiet < idle; {
		if _, err := a.engine.AdoptNow(ctx); err != nil && ctx.Err() == nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
		if quiet += every; a.engine.Driving() > 0 {
			quiet = 0
		}
	}
	return nil
}
