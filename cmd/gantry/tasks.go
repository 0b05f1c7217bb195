package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/gantry-run/gantry/mcpserver/tasktools"
	"github.com/gantry-run/gantry/targets"
)

func (c *cli) tasksCommand() *cobra.Command {
	var runner, dir string
	cmd := &cobra.Command{
		Use: "tasks", Short: "List the tasks of the project's build files", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.withTasks(cmd.Context(), func(ctx context.Context, cl *client) error {
				return c.printTasks(ctx, cl, map[string]any{"runner": runner, "cwd": dir})
			})
		},
	}
	cmd.Flags().StringVar(&runner, "runner", "", "only tasks of this runner, such as make")
	cmd.Flags().StringVar(&dir, "dir", "", "folder of the project whose tasks are listed (default the root)")
	return cmd
}

// withTasks does something with a client of the tasks toolset, whatever is configured.
func (c *cli) withTasks(ctx context.Context, do func(context.Context, *client) error) error {
	c.config.Toolsets = []string{tasktools.Toolset}
	return c.withClient(ctx, use{noLimit: true, quiet: !c.config.Verbose}, do)
}

// taskPage is what list_tasks answers.
type taskPage struct {
	Tasks []struct {
		UniqueName  string `json:"unique_name"`
		Runner      string `json:"runner"`
		Command     string `json:"command"`
		Available   bool   `json:"runner_available"`
		Allowlisted bool   `json:"allowlisted"`
		FilePath    string `json:"file_path"`
		Description string `json:"description"`
	} `json:"tasks"`
	Problems []struct {
		FilePath string `json:"file_path"`
		Severity string `json:"severity"`
		Message  string `json:"message"`
	} `json:"problems"`
	Next *string `json:"next_cursor"`
}

// What the table shows of long texts.
const (
	shownCommand     = 48
	shownDescription = 60
)

func (c *cli) printTasks(ctx context.Context, cl *client, args map[string]any) error {
	w := tabwriter.NewWriter(c.std.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "TASK\tRUNNER\tCOMMAND\tALLOWED\tAVAILABLE\tFILE\tDESCRIPTION")
	var problems []string
	for n := 0; ; {
		var page taskPage
		if err := cl.into(ctx, "list_tasks", args, &page); err != nil {
			return err
		}
		for _, t := range page.Tasks {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", t.UniqueName, t.Runner, shorten(t.Command, shownCommand), yes(t.Allowlisted), yes(t.Available),
				t.FilePath, shorten(t.Description, shownDescription))
		}
		for _, p := range page.Problems {
			problems = append(problems, fmt.Sprintf("%s: %s: %s", p.Severity, p.FilePath, p.Message))
		}
		n += len(page.Tasks)
		if page.Next != nil {
			args["cursor"] = *page.Next
			continue
		}
		return c.endTasks(w, n, problems)
	}
}

// endTasks closes the table and says what is wrong with the files.
func (c *cli) endTasks(w *tabwriter.Writer, n int, problems []string) error {
	if n > 0 {
		if err := w.Flush(); err != nil {
			return err
		}
	} else {
		fmt.Fprintln(c.std.err, "no tasks here; gantry looks for Makefile, package.json, justfile and the like")
	}
	if len(problems) > 0 {
		fmt.Fprintf(c.std.out, "\n%s\n", strings.Join(problems, "\n"))
	}
	return nil
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// shorten makes a text one line of a table.
func shorten(text string, length int) string {
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > length {
		return string(r[:length-1]) + "…"
	}
	return text
}

// project opens the project of the root.
func (c *cli) project() (*targets.Project, string, error) {
	root, err := filepath.EvalSymlinks(c.config.Root)
	if err != nil {
		return nil, "", err
	}
	p, err := targets.Open(root, targets.Options{Env: c.env, Allowlist: allowFiles(c.env), AskJust: c.config.Tasks.AskJust})
	return p, root, err
}

// completeTasks offers the names of tasks to the shell.
func (c *cli) completeTasks(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	if c.load(cmd.Flags()) != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var out []string
	if p, _, err := c.project(); err == nil {
		l, err := p.List(cmd.Context(), "")
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		for _, t := range l.Targets {
			out = append(out, t.UniqueName+"\t"+t.Command)
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}
