package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/gantry-run/gantry/agents"
	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/proc"
	"github.com/gantry-run/gantry/runs"
)

// check is one thing that doctor looks at.
type check struct {
	name     string
	required bool
	look     func(ctx context.Context) (string, error)
}

func (c *cli) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "Say what is installed, what works and what is missing", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.examine(cmd.Context(), c.std.out) },
	}
}

func (c *cli) examine(ctx context.Context, out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	failed := 0
	for _, k := range c.checks() {
		said, err := k.look(ctx)
		verdict := "ok"
		switch {
		case err != nil && k.required:
			verdict, said = "FAILED", reason(err)
			failed++
		case err != nil:
			verdict, said = "absent", reason(err)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", verdict, k.name, said)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if failed > 0 {
		return exitCode(4)
	}
	return nil
}

func reason(err error) string {
	f := fault.From(err)
	if f.Code == fault.Internal {
		return err.Error()
	}
	if hint := hintOf(f); hint != "" {
		return f.Message + " (" + hint + ")"
	}
	return f.Message
}

func (c *cli) checks() []check {
	return slices.Concat([]check{
		{"gantry", true, func(context.Context) (string, error) {
			return fmt.Sprintf("%s, %s, %s/%s", version, runtime.Version(), runtime.GOOS, runtime.GOARCH), nil
		}},
		{"git", true, c.versionOf("git", "--version")},
		{"hugo", false, c.versionOf("hugo", "version")},
		{"state directory", true, c.lookAtState},
		{"root", true, func(context.Context) (string, error) { return c.config.Root, nil }},
		{"journals", true, c.lookAtJournals},
	}, c.agentChecks(), supervision())
}

// agentChecks looks at the agents' command lines.
func (c *cli) agentChecks() []check {
	all, err := agents.CLIs(c.config.agentOptions())
	if err != nil {
		return []check{{"agents", true, func(context.Context) (string, error) { return "", err }}}
	}
	prober := agents.NewProber(all, c.env)
	var out []check
	for i, a := range all {
		out = append(out, check{"agent: " + a.Name(), false, func(ctx context.Context) (string, error) {
			p := prober.Probes(ctx)[i]
			if !p.Works {
				return "", errors.New(notWorking(p))
			}
			return cmp.Or(p.Version, p.Program), nil
		}})
	}
	return out
}

// versionOf runs a program for its version.
func (c *cli) versionOf(name string, args ...string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		r, err := proc.Run(ctx, proc.Spec{Name: name, Args: args, Env: c.env, Timeout: 10 * time.Second})
		if err == nil {
			err = r.Err(name)
		}
		if err != nil {
			return "", err
		}
		first, _, _ := strings.Cut(strings.TrimSpace(string(r.Stdout)), "\n")
		return first, nil
	}
}

// notWorking says why an agent does not work.
func notWorking(p agents.Probe) string {
	if p.Installed {
		return "installed, but it does not work: " + p.Reason
	}
	return p.Reason
}

func (c *cli) lookAtState(context.Context) (string, error) {
	store, err := runs.OpenStore(c.config.StateDir, runs.StoreOptions{})
	if err != nil {
		return "", err
	}
	defer store.Close()
	f, err := os.CreateTemp(c.config.StateDir, ".doctor-")
	if err != nil {
		return "", err
	}
	defer os.Remove(f.Name())
	return c.config.StateDir + " is writable", f.Close()
}

// lookAtJournals verifies the newest runs.
func (c *cli) lookAtJournals(ctx context.Context) (string, error) {
	store, err := runs.OpenStore(c.config.StateDir, runs.StoreOptions{})
	if err != nil {
		return "", err
	}
	defer store.Close()
	page, err := store.List(ctx, runs.Filter{Limit: 100})
	if err != nil {
		return "", err
	}
	for _, r := range page.Runs {
		report, err := store.Verify(ctx, r.ID)
		if err != nil {
			return "", err
		}
		if !report.OK {
			return "", fault.New(fault.EventChainBroken, "run %s is broken at event %d", r.ID, report.FirstBad)
		}
	}
	return fmt.Sprintf("%d newest runs verified", len(page.Runs)), nil
}

// supervision says what this system has for the supervision of processes.
func supervision() []check {
	var out []check
	for _, c := range proc.Capabilities() {
		out = append(out, check{"supervision: " + c.Name, false, func(context.Context) (string, error) {
			if !c.Have {
				return "", errors.New(c.Detail)
			}
			return c.Detail, nil
		}})
	}
	return out
}
