package main

import (
	"context"
	"fmt"
	"io"
	"os/signal"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/gantry-run/gantry/agents"
	"github.com/gantry-run/gantry/agents/entries"
	"github.com/gantry-run/gantry/agents/sessions"
	"github.com/gantry-run/gantry/board"
)

func (c *cli) sessionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "session", Short: "Talk with agents, and read what they said",
		Long: "Talk with agents, and read what they said. A SESSION is named by its id, or by what the agent calls the conversation.",
	}
	cmd.AddCommand(c.sessionList(), c.sessionShow(), c.sessionFollow(), c.sessionSend())
	return cmd
}

// onSession does something with the session that a word names. If its driver is gone this
// command drives it, so that what is waited for happens.
func (c *cli) onSession(ctx context.Context, word string, do func(context.Context, *app, *client, sessions.Session) error) error {
	return c.withBoardFor(ctx, use{adopt: true}, func(ctx context.Context, a *app, _ *board.Board, cl *client) error {
		s, err := a.sessions.Find("", word)
		if err != nil {
			return err
		}
		return do(ctx, a, cl, s)
	})
}

func (c *cli) sessionList() *cobra.Command {
	var limit int
	var state string
	cmd := &cobra.Command{
		Use: "list", Short: "List sessions, newest first", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.withBoard(cmd.Context(), func(ctx context.Context, a *app, _ *board.Board, _ *client) error {
				page, err := a.sessions.List(ctx, sessions.Filter{Limit: limit, State: sessions.State(strings.ToUpper(state))})
				if err != nil {
					return err
				}
				w := tabwriter.NewWriter(c.std.out, 0, 0, 2, ' ', 0)
				fmt.Fprintln(w, "SESSION\tSTATE\tAGENT\tTURNS\tCHANGED\tTITLE")
				for _, s := range page.Sessions {
					fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\t%s\n", s.ID, s.State, s.Executor, s.Turns, ago(s.Updated), shorten(visible(s.Title), shownDescription))
				}
				if page.Next != "" {
					defer fmt.Fprintln(c.std.err, "there are more; raise --limit")
				}
				return w.Flush()
			})
		},
	}
	cmd.Flags().IntVar(&limit, "limit", 20, "how many")
	cmd.Flags().StringVar(&state, "state", "", "only sessions in this state: running, idle, died, archived")
	return cmd
}

func (c *cli) sessionShow() *cobra.Command {
	return &cobra.Command{
		Use: "show SESSION", Short: "Print how a session is, and each prompt with its result", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.onSession(cmd.Context(), args[0], c.printSession)
		},
	}
}

func (c *cli) printSession(_ context.Context, a *app, _ *client, s sessions.Session) error {
	turns, err := a.sessions.Turns("", s.ID)
	if err != nil {
		return err
	}
	out := c.std.out
	fmt.Fprintf(out, "%s  %s  %s  %s\n", s.ID, s.State, s.Executor, visible(s.Title))
	fmt.Fprintln(out, visible(s.Dir))
	for _, t := range turns {
		fmt.Fprintf(out, "\n%s  turn %d  %s\n> %s\n", since(t.Started), t.Index, t.State, visible(strings.ReplaceAll(t.Prompt, "\n", "\n> ")))
		if said := strings.TrimSpace(t.Summary.LastMessage); said != "" {
			fmt.Fprintln(out, visible(said))
		}
		if t.Error != "" {
			fmt.Fprintln(out, "!", visible(t.Error))
		}
	}
	if s.Queued != nil {
		fmt.Fprintf(out, "\nqueued\n> %s\n", visible(strings.ReplaceAll(s.Queued.Message, "\n", "\n> ")))
	}
	return nil
}

func (c *cli) sessionSend() *cobra.Command {
	var variant string
	var queue, follow bool
	cmd := &cobra.Command{
		Use: "send SESSION [PROMPT ...]", Short: "Give a session its next prompt, from standard input without one", Args: cobra.MinimumNArgs(1),
		Example: "  gantry session send SESSION 'add a test for it' --follow\n  gantry session send SESSION --queue <next.md",
		RunE: func(cmd *cobra.Command, args []string) error {
			prompt := strings.Join(args[1:], " ")
			if len(args) == 1 {
				raw, err := io.ReadAll(c.std.in)
				if err != nil {
					return err
				}
				prompt = string(raw)
			}
			call := map[string]any{"action": "send", "prompt": prompt}
			if queue {
				call["action"] = "queue"
			}
			if variant != "" {
				call["variant"] = variant
			}
			return c.onSession(cmd.Context(), args[0], func(ctx context.Context, a *app, cl *client, s sessions.Session) error {
				call["session_id"] = s.ID
				var out struct {
					Turn string `json:"execution_process_id"`
				}
				if err := cl.into(ctx, "follow_up", call, &out); err != nil {
					return err
				}
				if out.Turn == "" {
					_, err := fmt.Fprintln(c.std.out, "queued until the turn under way is complete")
					return err
				}
				if !follow {
					_, err := fmt.Fprintln(c.std.out, "turn", out.Turn)
					return err
				}
				return c.followSession(ctx, a, s, false)
			})
		},
	}
	cmd.Flags().BoolVar(&queue, "queue", false, "wait for the end of the turn under way, in place of what was queued")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "print what the agent does until it is done")
	cmd.Flags().StringVar(&variant, "variant", "", "variant of the executor")
	return cmd
}

func (c *cli) sessionFollow() *cobra.Command {
	var raw bool
	cmd := &cobra.Command{
		Use: "follow SESSION", Short: "Print what the agent does in its newest turn, until it is done", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.onSession(cmd.Context(), args[0], func(ctx context.Context, a *app, _ *client, s sessions.Session) error {
				return c.followSession(ctx, a, s, raw)
			})
		},
	}
	cmd.Flags().BoolVar(&raw, "raw", false, "the lines as the agent wrote them")
	return cmd
}

// followSession prints the entries of a session's newest turn, and of those that come while it
// does, until none is under way. Who interrupts it leaves the agent at work.
func (c *cli) followSession(ctx context.Context, a *app, s sessions.Session, raw bool) error {
	ctx, release := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer release()
	channel := entries.Normalized
	if raw {
		channel = entries.Raw
	}
	store, turn, after := entries.New(a.sessionsDir()), "", int64(-1)
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	for {
		now, err := a.sessions.Get("", s.ID)
		if err != nil {
			return err
		}
		if now.Last.ID != turn {
			turn, after = now.Last.ID, -1
		}
		if after, err = c.printEntries(store, string(s.ID), turn, channel, after); err != nil {
			return err
		}
		if now.State != sessions.Running && now.Last.State != sessions.TurnRunning { // and what it wrote is recorded
			return c.endOfTurn(now.Last)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return exitCode(130)
		}
	}
}

// printEntries prints what comes after an entry and returns which was the last.
func (c *cli) printEntries(store *entries.Store, session, turn string, channel entries.Channel, after int64) (int64, error) {
	for {
		page, err := store.Page(session, turn, channel, entries.Query{Limit: 200, After: &after})
		if err != nil {
			return after, err
		}
		for _, item := range page.Entries {
			e, err := item.Decode()
			if err != nil {
				return after, err
			}
			if text := entryText(e); text != "" {
				if _, err := fmt.Fprintln(c.std.out, visible(text)); err != nil {
					return after, err
				}
			}
			after = item.Index
		}
		if !page.HasMore {
			return after, nil
		}
	}
}

// entryText tells an entry to a person.
func entryText(e agents.Entry) string {
	if e.Kind != agents.NormalizedEntry {
		return strings.TrimRight(e.Text, "\n")
	}
	marks := map[agents.EntryName]string{
		agents.UserMessage: "> ", agents.ToolUse: "* ", agents.Thinking: "~ ", agents.ErrorMessage: "! ", agents.SystemMessage: "# ",
	}
	text := strings.TrimRight(e.Norm.Content, "\n")
	if text == "" {
		return ""
	}
	if e.Norm.Type.Status != nil {
		text += " [" + string(e.Norm.Type.Status.State) + "]"
	}
	return marks[e.Norm.Type.Name] + text
}

// endOfTurn makes the end of a turn that of a command.
func (c *cli) endOfTurn(t sessions.Turn) error {
	if t.State != sessions.TurnFailed && t.State != sessions.TurnKilled {
		return nil
	}
	fmt.Fprintf(c.std.err, "gantry: the turn %s: %s\n", t.State, visible(t.Error))
	if t.ExitCode != nil && *t.ExitCode != 0 {
		return exitCode(*t.ExitCode)
	}
	return exitCode(1)
}
