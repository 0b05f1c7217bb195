package main

import (
	"context"
	"encoding/json"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/gantry-run/gantry/specs"
)

func (c *cli) toolsCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "tools", Short: "List the tools that are served", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if asJSON {
				return c.toolsJSON(cmd)
			}
			return c.toolsTable()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the tools/list that a client receives")
	return cmd
}

func (c *cli) toolsJSON(cmd *cobra.Command) error {
	return c.withClient(cmd.Context(), use{}, func(ctx context.Context, cl *client) error {
		list, err := cl.session.ListTools(ctx, nil)
		if err != nil {
			return err
		}
		enc := json.NewEncoder(c.std.out)
		enc.SetIndent("", "  ")
		return enc.Encode(list.Tools)
	})
}

func (c *cli) toolsTable() error {
	w := tabwriter.NewWriter(c.std.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "TOOLSET\tTOOL\tEFFECT\tUSE WHEN")
	for _, set := range c.config.Toolsets {
		tools, err := specs.Tools(set)
		if err != nil {
			return err
		}
		for _, t := range tools {
			if c.config.ReadOnly && t.Effect != specs.Read {
				continue
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", set, t.Name, t.Effect, t.Description.UseWhen)
		}
	}
	return w.Flush()
}
