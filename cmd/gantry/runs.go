package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/launch"
	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/validate"
)

func (c *cli) runsCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "runs", Short: "Look at runs and control them"}
	cmd.AddCommand(
		c.runsList(),
		c.runCommand("show", "Print how a run stands", c.runsShow),
		c.runCommand("events", "Print the journal of a run", c.runsEvents),
		c.runCommand("verify", "Check the hash chain of a run's journal", c.runsVerify),
		c.runCommand("watch", "Print events as they come until the run pauses or ends", c.runsWatch),
		c.runCommand("cancel", "Cancel a run", c.runsCancel),
		c.runCommand("rollback", "Print how to undo what a run published", c.runsRollback),
		c.runsResumeCommand(),
	)
	return cmd
}

// runCommand is a command about one run.
func (c *cli) runCommand(name, short string, do func(context.Context, *app, *client, runs.ID) error) *cobra.Command {
	return &cobra.Command{
		Use: name + " RUN_ID", Short: short, Args: cobra.ExactArgs(1),
		ValidArgsFunction: c.completeRuns,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := validate.RunID(args[0]); err != nil {
				return err
			}
			c.config.AllRoots = true // a person sees all of their runs
			return c.withApp(cmd.Context(), use{noLimit: true, quiet: !c.config.Verbose}, func(ctx context.Context, a *app, cl *client) error {
				return do(ctx, a, cl, runs.ID(args[0]))
			})
		},
	}
}

// completeRuns offers the newest runs to the shell.
func (c *cli) completeRuns(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 || c.load(cmd.Flags()) != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	store, err := runs.OpenStore(c.config.StateDir, runs.StoreOptions{})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer store.Close()
	page, err := store.List(cmd.Context(), runs.Filter{Limit: 20})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var out []string
	for _, r := range page.Runs {
		out = append(out, fmt.Sprintf("%s\t%s %s", r.ID, r.Product, r.State))
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

type idArg struct {
	RunID runs.ID `json:"run_id"`
}

func (c *cli) runsList() *cobra.Command {
	var limit int
	var state, product string
	cmd := &cobra.Command{
		Use: "list", Short: "List runs, newest first", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c.config.AllRoots = true
			return c.withClient(cmd.Context(), use{noLimit: true, quiet: !c.config.Verbose}, func(ctx context.Context, cl *client) error {
				filter := map[string]string{}
				for k, v := range map[string]string{"state": strings.ToUpper(state), "product_slug": product} {
					if v != "" {
						filter[k] = v
					}
				}
				return c.printRuns(ctx, cl, filter, limit)
			})
		},
	}
	cmd.Flags().IntVar(&limit, "limit", 20, "how many")
	cmd.Flags().StringVar(&state, "state", "", "only runs in this state")
	cmd.Flags().StringVar(&product, "product", "", "only runs of this product")
	return cmd
}

func (c *cli) printRuns(ctx context.Context, cl *client, filter map[string]string, limit int) error {
	var page struct {
		Runs []struct {
			RunID     runs.ID    `json:"run_id"`
			Product   string     `json:"product_slug"`
			State     runs.State `json:"state"`
			StartedAt time.Time  `json:"started_at"`
		} `json:"runs"`
		Next *string `json:"next_cursor"`
	}
	if err := cl.into(ctx, "launch_list_runs", map[string]any{"filter": filter, "limit": limit}, &page); err != nil {
		return err
	}
	w := tabwriter.NewWriter(c.std.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "RUN\tPRODUCT\tSTATE\tSTARTED")
	for _, r := range page.Runs {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", r.RunID, r.Product, r.State, r.StartedAt.Local().Format(time.DateTime))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if page.Next != nil {
		fmt.Fprintln(c.std.err, "there are more; raise --limit")
	}
	return nil
}

func (c *cli) runsShow(ctx context.Context, _ *app, cl *client, id runs.ID) error {
	raw, _ := json.Marshal(idArg{id})
	return c.printCall(ctx, cl, "launch_get_status", raw)
}

func (c *cli) runsEvents(ctx context.Context, _ *app, cl *client, id runs.ID) error {
	for offset := int64(0); ; {
		var piece struct {
			Content string `json:"content"`
			Next    int64  `json:"next_offset"`
		}
		args := map[string]any{"run_id": id, "artifact_name": launch.EventsName, "offset": offset, "max_bytes": 1 << 20}
		if err := cl.into(ctx, "launch_get_artifact", args, &piece); err != nil {
			return err
		}
		if _, err := fmt.Fprint(c.std.out, piece.Content); err != nil || piece.Next == 0 {
			return err
		}
		offset = piece.Next
	}
}

func (c *cli) runsVerify(ctx context.Context, a *app, _ *client, id runs.ID) error {
	r, err := a.store.Verify(ctx, id)
	if err != nil {
		return err
	}
	if !r.OK {
		return fault.New(fault.EventChainBroken, "the journal of %s is broken at event %d: %s", id, r.FirstBad, r.Reason)
	}
	fmt.Fprintf(c.std.out, "%s: %d events, chain verified, head %s\n", id, r.Head.Seq, r.Head.Hash)
	if r.TornBytes > 0 {
		fmt.Fprintf(c.std.out, "an incomplete last line of %d bytes will be cut when the run goes on\n", r.TornBytes)
	}
	return nil
}

func (c *cli) runsWatch(ctx context.Context, a *app, _ *client, id runs.ID) error {
	for e, err := range a.store.Watch(ctx, id, 0) {
		if err != nil {
			return err
		}
		fmt.Fprintln(c.std.out, sentence(e))
		if v, err := a.store.View(id); err == nil && v.Seq == e.Seq && v.Paused != nil {
			return nil
		}
	}
	return nil
}

func (c *cli) runsCancel(ctx context.Context, _ *app, cl *client, id runs.ID) error {
	var out struct {
		State runs.State `json:"state"`
	}
	if err := cl.into(ctx, "launch_cancel", idArg{id}, &out); err != nil {
		return err
	}
	fmt.Fprintf(c.std.out, "%s: cancel requested, now %s\n", id, out.State)
	return nil
}

func (c *cli) runsResumeCommand() *cobra.Command {
	var force string
	cmd := c.runCommand("resume", "Continue a run that nobody drives", func(ctx context.Context, _ *app, cl *client, id runs.ID) error {
		args := map[string]any{"run_id": id}
		if force != "" {
			args["force"] = force
		}
		var out struct {
			State runs.State `json:"state"`
		}
		if err := cl.into(ctx, "launch_resume", args, &out); err != nil {
			return err
		}
		fmt.Fprintf(c.std.out, "%s: continues from %s\n", id, out.State)
		return nil
	})
	cmd.Flags().StringVar(&force, "force", "", "a node to execute again, with what depends on it")
	return cmd
}

// sentence tells an event to a person.
func sentence(e runs.Event) string {
	payload := string(e.Payload)
	if len(payload) > 160 {
		payload = payload[:160] + "…"
	}
	return fmt.Sprintf("%4d  %s  %-20s %s", e.Seq, e.TS.Local().Format(time.TimeOnly), e.Type, payload)
}
