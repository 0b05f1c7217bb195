package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/gantry-run/gantry/board"
	"github.com/gantry-run/gantry/board/changes"
	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/proc"
	"github.com/gantry-run/gantry/runs"
)

func (c *cli) attemptCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "attempt", Short: "Look at what an agent did about a task",
		Long: "Look at what an agent did about a task. An ATTEMPT is named by its id, by that of its session, by its branch, or by\n" +
			"the id of its task, whose latest attempt is meant then.",
	}
	cmd.AddCommand(c.attemptShow(), c.attemptDiff(), c.attemptOpen(), c.attemptClean())
	return cmd
}

// onAttempt does something with the attempt that a word names.
func (c *cli) onAttempt(ctx context.Context, word string, do func(context.Context, *board.Board, board.Attempt) error) error {
	return c.withBoard(ctx, func(ctx context.Context, _ *app, b *board.Board, _ *client) error {
		a, err := findAttempt(ctx, b, word)
		if err != nil {
			return err
		}
		return do(ctx, b, a)
	})
}

func findAttempt(ctx context.Context, b *board.Board, word string) (board.Attempt, error) {
	if runs.IsUUID(word) {
		return attemptByID(ctx, b, word)
	}
	projects, err := b.Projects(ctx)
	for _, p := range projects {
		for f := (board.TaskFilter{ProjectID: p.ID, Limit: board.MaxPage}); err == nil; {
			var page board.TaskPage
			page, err = b.Tasks(ctx, f)
			for _, t := range page.Tasks {
				if latest := t.Attempts.LatestBranch; latest != "" && latest == word {
					return b.Attempt(ctx, t.Attempts.LatestAttemptID)
				}
			}
			if f.Cursor = page.Next; f.Cursor == "" {
				break
			}
		}
	}
	if err == nil {
		err = fault.New(fault.AttemptNotFound, "%.80q is no attempt", word).WithHint("gantry board shows the branch of each latest attempt")
	}
	return board.Attempt{}, err
}

// attemptByID takes the id of an attempt, of its session, or of its task.
func attemptByID(ctx context.Context, b *board.Board, id string) (board.Attempt, error) {
	a, err := b.Attempt(ctx, id)
	if fault.Is(err, fault.AttemptNotFound) {
		a, err = b.AttemptOf(ctx, id)
	}
	if !fault.Is(err, fault.AttemptNotFound) {
		return a, err
	}
	if t, failed := b.Task(ctx, id); failed == nil && t.Attempts.LatestAttemptID != "" {
		return b.Attempt(ctx, t.Attempts.LatestAttemptID)
	}
	return board.Attempt{}, err
}

func (c *cli) attemptShow() *cobra.Command {
	return &cobra.Command{
		Use: "show ATTEMPT", Short: "Print how an attempt stands, where it is and what it changed", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.onAttempt(cmd.Context(), args[0], c.printAttempt)
		},
	}
}

func (c *cli) printAttempt(ctx context.Context, b *board.Board, a board.Attempt) error {
	t, err := b.Task(ctx, a.TaskID)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(c.std.out, 0, 0, 2, ' ', 0)
	row := func(name, format string, values ...any) {
		fmt.Fprintf(w, "%s\t%s\n", name, visible(fmt.Sprintf(format, values...)))
	}
	row("attempt", "%s", a.ID)
	row("task", "%s (%s, %s)", t.Title, t.Status, t.ID)
	state := string(a.State)
	if a.FailureSummary != "" {
		state = a.FailureSummary
	}
	if a.LastActivityAt != nil {
		state += ", " + ago(*a.LastActivityAt)
	}
	row("state", "%s", state)
	row("agent", "%s %s", a.Executor, a.Variant)
	row("session", "%s", a.SessionID)
	row("branch", "%s", a.Branch)
	if a.Cleaned {
		row("worktree", "cleaned")
		return w.Flush()
	}
	for _, r := range a.Repos {
		row("worktree", "%s, for %s", r.Worktree, r.TargetBranch)
	}
	list, err := b.Changes(ctx, a.ID, true)
	switch {
	case err != nil:
		row("changes", "%s", fault.From(err).Message)
	case list.Blocked:
		row("changes", "%s", list.Reason)
	default:
		row("changes", "%d files, +%d -%d", list.Summary.FileCount, list.Summary.Added, list.Summary.Deleted)
	}
	return w.Flush()
}

func (c *cli) attemptDiff() *cobra.Command {
	var stat bool
	cmd := &cobra.Command{
		Use: "diff ATTEMPT [PATH ...]", Short: "Print what an attempt changed, committed or not, as a patch", Args: cobra.MinimumNArgs(1),
		Long: "Print what an attempt changed against the branch that it is meant for, committed or not. A PATH begins with the name of\n" +
			"the repository; a folder stands for all in it.",
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.onAttempt(cmd.Context(), args[0], func(ctx context.Context, b *board.Board, a board.Attempt) error {
				if stat {
					return c.printChanges(ctx, b, a)
				}
				return c.printPatch(ctx, b, a, args[1:])
			})
		},
	}
	cmd.Flags().BoolVar(&stat, "stat", false, "only the names of the files, with how many lines changed")
	return cmd
}

func (c *cli) printChanges(ctx context.Context, b *board.Board, a board.Attempt) error {
	list, err := b.Changes(ctx, a.ID, true)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(c.std.out, 0, 0, 2, ' ', 0)
	for _, f := range list.Files {
		lines, path := fmt.Sprintf("+%d -%d", f.Added, f.Deleted), f.Path
		if f.Binary {
			lines = "binary"
		}
		if f.OldPath != "" {
			path = f.OldPath + " → " + path
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", f.Status, lines, strings.ReplaceAll(visible(path), "\n", "\ufffd"))
	}
	return w.Flush()
}

// printPatch prints a patch that git apply takes; it is cut where that would be too long.
func (c *cli) printPatch(ctx context.Context, b *board.Board, a board.Attempt, paths []string) error {
	if len(paths) == 0 {
		for _, r := range a.Repos {
			paths = append(paths, r.Name+"/.")
		}
	}
	p, err := b.Patch(ctx, a.ID, changes.PatchRequest{Paths: paths, Force: true, MaxBytes: changes.MaxPatch})
	if err != nil {
		return err
	}
	if p.Blocked {
		return fault.New(fault.InvalidInput, "the patch cannot be shown: %s", p.Reason).WithHint("name paths as gantry attempt diff --stat does")
	}
	if p.Truncated {
		defer fmt.Fprintln(c.std.err, "the patch goes on; name paths to see the rest")
	}
	_, err = fmt.Fprint(c.std.out, visible(p.Text))
	return err
}

func (c *cli) attemptOpen() *cobra.Command {
	var show bool
	cmd := &cobra.Command{
		Use: "open ATTEMPT", Short: "Open the folder of an attempt in your editor, or print it", Args: cobra.ExactArgs(1),
		Long: "Open the folder in which the agent worked with $VISUAL or $EDITOR. Without one, or with --print, print its path.",
		RunE: func(cmd *cobra.Command, args []string) error {
			var dir string
			err := c.onAttempt(cmd.Context(), args[0], func(_ context.Context, _ *board.Board, a board.Attempt) error {
				if dir = a.Dir; a.Cleaned {
					return fault.New(fault.WorkspaceGone, "the worktrees of the attempt are cleaned").WithHint("git switch %s shows its work", a.Branch)
				}
				return nil
			})
			if err != nil {
				return err
			}
			editor := strings.Fields(proc.Getenv(c.env, "VISUAL"))
			if len(editor) == 0 {
				editor = strings.Fields(proc.Getenv(c.env, "EDITOR"))
			}
			if show || len(editor) == 0 {
				_, err := fmt.Fprintln(c.std.out, dir)
				return err
			}
			return c.become(dir, append(editor, dir))
		},
	}
	cmd.Flags().BoolVar(&show, "print", false, "only print the path")
	return cmd
}

// become goes on as another program, in a folder.
func (c *cli) become(dir string, argv []string) error {
	program, err := proc.LookPath(argv[0], c.env)
	if err != nil {
		return fault.New(fault.ToolchainMissing, "the editor %.80q is not installed", argv[0]).WithHint("set VISUAL or EDITOR, or give --print")
	}
	if err := os.Chdir(dir); err != nil {
		return err
	}
	return syscall.Exec(program, argv, c.env)
}

func (c *cli) attemptClean() *cobra.Command {
	r := board.Retention{}
	cmd := &cobra.Command{
		Use: "clean [ATTEMPT ...]", Short: "Remove worktrees that hold no work that is nowhere else",
		Long: "Remove the worktrees of the attempts, or of all attempts of tasks that are done, cancelled or deleted and that nobody\n" +
			"worked on for a while. What is not committed stays, and so do commits that no branch has. A branch stays unless its\n" +
			"commits are elsewhere.",
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withBoard(cmd.Context(), func(ctx context.Context, _ *app, b *board.Board, _ *client) error {
				for _, word := range args {
					a, err := findAttempt(ctx, b, word)
					if err != nil {
						return err
					}
					r.AttemptIDs = append(r.AttemptIDs, a.ID)
				}
				done, err := b.Clean(ctx, r)
				c.printCleaned(done, r.DryRun)
				return err
			})
		},
	}
	cmd.Flags().DurationVar(&r.Age, "older-than", board.DefaultAge, "without ATTEMPT: only what nobody worked on for so long")
	cmd.Flags().BoolVar(&r.DryRun, "dry-run", false, "only say what would be done")
	return cmd
}

func (c *cli) printCleaned(all []board.Cleaned, dry bool) {
	did := "removed"
	if dry {
		did = "would be removed"
	}
	for _, a := range all {
		said := "kept"
		if a.Removed {
			said = did
		}
		for _, k := range a.Kept {
			said += fmt.Sprintf("; %s %s", k.Repo, k.Reason)
		}
		fmt.Fprintf(c.std.out, "%s  %s  %s\n", a.AttemptID, visible(a.Branch), visible(said))
	}
	if len(all) == 0 {
		fmt.Fprintln(c.std.err, "nothing to clean")
	}
}

// since is when something was, or nothing.
func since(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.Local().Format(time.DateTime)
}
