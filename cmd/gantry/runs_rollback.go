package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/gantry-run/gantry/runs"
)

// runsRollback prints the steps of a run's pr.json. It does none of them.
func (c *cli) runsRollback(_ context.Context, a *app, _ *client, id runs.ID) error {
	pr, err := a.launches.PullRequest(id, "")
	if err != nil {
		return err
	}
	fmt.Fprintf(c.std.out, "%s: %s, from %s\n", id, pr.Branch, pr.BaseRef)
	fmt.Fprintf(c.std.out, "pull request: %s (%s)\n", pr.URL, pr.Status)
	fmt.Fprintf(c.std.out, "in %s, or another clone of the site:\n", filepath.Join(a.store.Dir(id), "work", "site"))
	for i, step := range pr.RollbackSteps {
		fmt.Fprintf(c.std.out, "  %d. %s\n", i+1, step)
	}
	fmt.Fprintln(c.std.out, "files that it changed:")
	for _, path := range pr.AffectedPaths {
		fmt.Fprintln(c.std.out, "  "+path)
	}
	return nil
}
