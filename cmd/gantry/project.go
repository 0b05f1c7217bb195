package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/gantry-run/gantry/board"
	"github.com/gantry-run/gantry/mcpserver/boardtools"
)

func (c *cli) projectCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "project", Short: "Add projects to the board, and list them"}
	cmd.AddCommand(c.projectAdd(), c.projectList())
	return cmd
}

func (c *cli) projectAdd() *cobra.Command {
	return &cobra.Command{
		Use: "add NAME [[REPO=]PATH ...]", Short: "Add a project: a name and the git repositories that it works in", Args: cobra.MinimumNArgs(1),
		Long: "Add a project to the board. Its repositories are folders of this machine, by default the root alone. Attempts work in\n" +
			"worktrees of them, never in the folders themselves. REPO is the first part of every path in a repository, by default\n" +
			"the name of its folder.",
		Example: "  gantry project add shop ~/src/shop\n  gantry project add shop api=~/src/shop-api web=~/src/shop-web",
		RunE: func(cmd *cobra.Command, args []string) error {
			p := board.NewProject{Name: args[0]}
			for _, word := range args[1:] {
				r, err := repoOf(word)
				if err != nil {
					return err
				}
				p.Repos = append(p.Repos, r)
			}
			if p.Repos == nil {
				p.Repos = []board.RepoAt{{Path: c.config.Root}}
			}
			return c.withBoard(cmd.Context(), func(ctx context.Context, _ *app, b *board.Board, _ *client) error {
				made, err := b.AddProject(ctx, board.Ask{Tool: "project add"}, p)
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(c.std.out, "%s  %s\n", made.ID, visible(made.Name))
				return err
			})
		},
	}
}

// repoOf reads [REPO=]PATH. A path that has an equals sign is given with a folder in
// front: ./a=b.
func repoOf(word string) (board.RepoAt, error) {
	name, path, ok := strings.Cut(word, "=")
	if !ok || strings.Contains(name, "/") {
		name, path = "", word
	}
	abs, err := filepath.Abs(path)
	return board.RepoAt{Path: abs, Name: name}, err
}

func (c *cli) projectList() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the projects of the board with their repositories", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.withBoard(cmd.Context(), func(ctx context.Context, _ *app, b *board.Board, _ *client) error {
				all, err := b.Projects(ctx)
				if err != nil {
					return err
				}
				w := tabwriter.NewWriter(c.std.out, 0, 0, 2, ' ', 0)
				fmt.Fprintln(w, "PROJECT\tFROM\tREPOSITORY\tBRANCH\tPATH\tID")
				for _, p := range all {
					repos, err := b.Repos(ctx, p.ID)
					if err != nil {
						return err
					}
					name, from, id := visible(p.Name), string(p.Source), p.ID
					for _, r := range repos {
						fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", name, from, visible(r.Name), visible(r.DefaultBranch), visible(r.Path), id)
						name, from, id = "", "", ""
					}
				}
				return w.Flush()
			})
		},
	}
}

// withBoard does something with the board and a client of its toolset, whatever is
// configured.
func (c *cli) withBoard(ctx context.Context, do func(context.Context, *app, *board.Board, *client) error) error {
	return c.withBoardFor(ctx, use{}, do)
}

func (c *cli) withBoardFor(ctx context.Context, u use, do func(context.Context, *app, *board.Board, *client) error) error {
	c.config.Toolsets = []string{boardtools.Toolset}
	u.noLimit, u.quiet = true, !c.config.Verbose
	return c.withApp(ctx, u, func(ctx context.Context, a *app, cl *client) error {
		b, err := a.board()
		if err != nil {
			return err
		}
		return do(ctx, a, b, cl)
	})
}
