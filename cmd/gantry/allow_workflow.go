package main

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/launch"
	"github.com/gantry-run/gantry/launch/workflow"
)

// allowedWorkflows is where people say which workflows may run.
func allowedWorkflows(env []string) workflow.Consents {
	return workflow.Consents{Path: filepath.Join(configHome(env), "gantry", "workflows.json")}
}

// allowWorkflow lets launches start what a workflow starts, and shows what that is.
func (c *cli) allowWorkflow(names []string, f consent) error {
	if len(names) > 0 || f.file != "" || f.dir != "" || f.options || f.pin || len(f.env) > 0 {
		return fault.New(fault.InvalidInput, "--workflow goes with nothing else").WithHint("a workflow is always pinned to what it is now")
	}
	path, err := c.absolute(f.workflow)
	if err != nil {
		return err
	}
	d, err := workflow.Open(path, launch.WorkerNames())
	if err != nil {
		return err
	}
	if err := allowedWorkflows(c.env).Allow(d); err != nil {
		return err
	}
	fmt.Fprintf(c.std.out, "allowed %s, sha256 %s\n", d.Path, d.SHA256())
	commands := d.Commands()
	for _, n := range d.Flow.Nodes {
		if words, ok := commands[n.Name]; ok {
			fmt.Fprintf(c.std.out, "  %-16s %s\n", n.Name, strings.Join(words, " "))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.Files)) {
		fmt.Fprintf(c.std.out, "  brings           ./%s\n", name)
	}
	return nil
}

// denyWorkflow takes back that a workflow may run. The file may be gone by now.
func (c *cli) denyWorkflow(path string) error {
	at, err := c.absolute(path)
	if err != nil {
		if at, err = filepath.Abs(path); err != nil {
			return err
		}
	}
	found, err := allowedWorkflows(c.env).Withdraw(at)
	if err == nil && !found {
		err = fault.New(fault.InvalidInput, "nobody has allowed the workflow %.80q", path).WithHint("gantry allowlist shows those that are allowed")
	}
	if err == nil {
		fmt.Fprintf(c.std.out, "withdrawn: %s\n", at)
	}
	return err
}

// printWorkflows shows the workflows that are allowed.
func (c *cli) printWorkflows() {
	all, err := allowedWorkflows(c.env).List()
	if err != nil {
		fmt.Fprintln(c.std.err, fault.From(err).Message)
	}
	for _, w := range all {
		fmt.Fprintf(c.std.out, "workflow  %s  sha256 %s\n", w.Path, w.SHA256)
	}
}
