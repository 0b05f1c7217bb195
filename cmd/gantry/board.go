package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/gantry-run/gantry/board"
	"github.com/gantry-run/gantry/internal/fault"
)

func (c *cli) boardCommand() *cobra.Command {
	var project, status string
	var all bool
	cmd := &cobra.Command{
		Use: "board", Short: "Show the tasks of all projects by status, with the latest attempt of each", Args: cobra.NoArgs,
		Example: "  gantry board\n  gantry board --project shop --status inreview",
		RunE: func(cmd *cobra.Command, _ []string) error {
			statuses := board.Statuses()
			if status != "" {
				if statuses = []board.Status{board.Status(status)}; !slices.Contains(board.Statuses(), statuses[0]) {
					return fault.New(fault.InvalidInput, "there is no status %.40q", status).WithHint("it is one of %v", board.Statuses())
				}
			}
			return c.withBoard(cmd.Context(), func(ctx context.Context, _ *app, b *board.Board, cl *client) error {
				return c.printBoard(ctx, b, cl, project, statuses, all)
			})
		},
	}
	cmd.Flags().StringVar(&project, "project", "", "only the project of this name or id")
	cmd.Flags().StringVar(&status, "status", "", "only tasks of this status")
	cmd.Flags().BoolVar(&all, "all", false, "every task that is done or cancelled, not only the newest")
	return cmd
}

// boardTask is an item of list_tasks.
type boardTask struct {
	ID         string       `json:"task_id"`
	Title      string       `json:"title"`
	Status     board.Status `json:"status"`
	UpdatedAt  time.Time    `json:"updated_at"`
	AttemptID  string       `json:"latest_attempt_id"`
	Branch     string       `json:"latest_workspace_branch"`
	Executor   string       `json:"latest_session_executor"`
	InProgress bool         `json:"has_in_progress_attempt"`
	Failed     bool         `json:"last_attempt_failed"`
}

// attempt says in a word how the latest attempt is.
func (t boardTask) attempt() string {
	switch {
	case t.InProgress:
		return "running"
	case t.Failed:
		return "failed"
	case t.AttemptID != "":
		return "completed"
	}
	return ""
}

func (c *cli) printBoard(ctx context.Context, b *board.Board, cl *client, project string, statuses []board.Status, all bool) error {
	projects, err := b.Projects(ctx)
	if err != nil {
		return err
	}
	shown := 0
	for _, p := range projects {
		if project != "" && project != p.Name && project != p.ID {
			continue
		}
		if shown++; shown > 1 {
			fmt.Fprintln(c.std.out)
		}
		if err := c.printProject(ctx, cl, p, statuses, all); err != nil {
			return err
		}
	}
	if shown == 0 && project != "" {
		return fault.New(fault.ProjectNotFound, "there is no project %.80q", project).WithHint("gantry project list shows those that there are")
	}
	if shown == 0 {
		fmt.Fprintln(c.std.err, "no projects: run this in a git repository, or add one with gantry project add")
	}
	return nil
}

// finishedShown is how many tasks are shown that are done or cancelled.
const finishedShown = 5

func (c *cli) printProject(ctx context.Context, cl *client, p board.Project, statuses []board.Status, all bool) error {
	fmt.Fprintln(c.std.out, visible(p.Name))
	w := tabwriter.NewWriter(c.std.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "STATUS\tTASK\tATTEMPT\tAGENT\tCHANGED\tBRANCH\tID")
	empty := true
	for _, status := range statuses {
		tasks, err := tasksOf(ctx, cl, p.ID, status)
		if err != nil {
			return err
		}
		more, label := 0, string(status)
		if finished := status == board.Done || status == board.Cancelled; finished && !all && len(tasks) > finishedShown {
			more, tasks = len(tasks)-finishedShown, tasks[:finishedShown]
		}
		for _, t := range tasks {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", label, shorten(visible(t.Title), shownDescription), t.attempt(), t.Executor,
				ago(t.UpdatedAt), visible(t.Branch), t.ID)
			label, empty = "", false
		}
		if more > 0 {
			fmt.Fprintf(w, "\t… and %d more: --all\t\t\t\t\t\n", more)
		}
	}
	if empty {
		_, err := fmt.Fprintln(c.std.out, "  nothing here")
		return err
	}
	return w.Flush()
}

// tasksOf returns all tasks of a status.
func tasksOf(ctx context.Context, cl *client, project string, status board.Status) (all []boardTask, err error) {
	for args := (map[string]any{"project_id": project, "status": status, "limit": board.MaxPage}); ; {
		var page struct {
			Tasks []boardTask `json:"tasks"`
			Next  *string     `json:"next_cursor"`
		}
		if err := cl.into(ctx, "list_tasks", args, &page); err != nil {
			return nil, err
		}
		if all = append(all, page.Tasks...); page.Next == nil {
			return all, nil
		}
		args["cursor"] = *page.Next
	}
}

// ago says how long ago something was.
func ago(at time.Time) string {
	d := time.Since(at)
	switch {
	case at.IsZero():
		return ""
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	}
	return at.Local().Format(time.DateOnly)
}

// visible makes a text fit for a terminal: what steers one stands as U+FFFD, and so do
// characters that change the order of others. Line ends and tabs stay.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}
