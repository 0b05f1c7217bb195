package main

import (
	"context"
	"encoding/json"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/runs"
)

// launchFlags are the flags of gantry launch.
type launchFlags struct {
	site, siteRef, ref, name, profile string
	workflow                          string
	sections, allowed                 []string
	noFix, noPR, printConfig          bool
}

func (c *cli) launchCommand() *cobra.Command {
	var f launchFlags
	cmd := &cobra.Command{
		Use: "launch REPOSITORY", Short: "Turn a repository into a documentation pull request", Args: cobra.ExactArgs(1),
		Long: "Launch a repository: a git URL, a repository of this machine, or a plain folder. Without --site, the pages go\n" +
			"into a minimal Hugo site. Nothing but the site's new branch is written, and only under its allowed paths.",
		Example: "  gantry launch .\n  gantry launch https://github.com/spf13/cobra --site ../docs-site",
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.launch(cmd.Context(), args[0], f)
		},
	}
	cmd.Flags().StringVar(&f.site, "site", "", "documentation site: git URL or path (default: a minimal Hugo site)")
	cmd.Flags().StringVar(&f.siteRef, "site-ref", "", "branch, tag or SHA of the site")
	cmd.Flags().StringVar(&f.ref, "ref", "", "branch, tag or SHA of the repository")
	cmd.Flags().StringVar(&f.name, "name", "", "product name (default: the repository's)")
	cmd.Flags().StringSliceVar(&f.sections, "sections", nil, "sections to write: products, docs, reference, kb, blog")
	cmd.Flags().StringSliceVar(&f.allowed, "allow", nil, "paths of the site that may change, as globs (default: from its layout)")
	cmd.Flags().StringVar(&f.profile, "profile", "", "validation profile: local, ci or prod")
	cmd.Flags().StringVar(&f.workflow, "workflow", "", "a workflow of your own, YAML or JSON, instead of the launch")
	cmd.Flags().BoolVar(&f.noFix, "no-fix", false, "pause at validation issues instead of fixing them")
	cmd.Flags().BoolVar(&f.noPR, "no-pr", false, "pause before the pull request instead of opening it")
	cmd.Flags().BoolVar(&f.printConfig, "print-config", false, "print the effective configuration and stop")
	return cmd
}

// runConfig makes the run_config that the flags mean.
func (f launchFlags) runConfig(repo string) (json.RawMessage, error) {
	cfg := map[string]any{
		"github_repo_url": repo,
		"autopilot":       map[string]bool{"fix": !f.noFix, "open_pr": !f.noPR},
	}
	for key, value := range map[string]string{
		"site_repo_url": f.site, "site_ref": f.siteRef, "github_ref": f.ref, "product_name": f.name, "validation_profile": f.profile, "workflow": f.workflow,
	} {
		if value != "" {
			cfg[key] = value
		}
	}
	for key, value := range map[string][]string{"required_sections": f.sections, "allowed_paths": f.allowed} {
		if len(value) > 0 {
			cfg[key] = value
		}
	}
	return json.Marshal(cfg)
}

func (c *cli) launch(ctx context.Context, repo string, f launchFlags) (err error) {
	ctx, release := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer release()
	c.config.NoWorker = true // a person who stops the command stops the work
	a, err := c.open(use{anyPath: true, noLimit: true, quiet: !c.config.Verbose})
	if err != nil {
		return err
	}
	defer func() {
		if closed := a.close(); err == nil {
			err = closed
		}
	}()
	raw, err := f.runConfig(repo)
	if err != nil {
		return err
	}
	if f.printConfig {
		cfg, _, err := a.launches.Effective(raw)
		if err != nil {
			return err
		}
		shown, err := yaml.Marshal(cfg)
		if err == nil {
			_, err = c.std.out.Write(shown)
		}
		return err
	}
	cl, err := a.connect(ctx)
	if err != nil {
		return err
	}
	defer cl.close()
	var started struct {
		RunID runs.ID `json:"run_id"`
	}
	if err := cl.into(ctx, "launch_start_run", map[string]json.RawMessage{"run_config": raw}, &started); err != nil {
		return err
	}
	v, err := c.follow(ctx, a, started.RunID)
	if err != nil {
		return err
	}
	return c.report(a, v)
}

// follow shows how a run gets on until it rests.
func (c *cli) follow(ctx context.Context, a *app, id runs.ID) (*runs.View, error) {
	show := newProgress(c.std, id)
	defer show.end()
	for e, err := range a.store.Watch(ctx, id, 0) {
		if err != nil {
			return nil, err
		}
		show.event(e)
		v, err := a.store.View(id)
		if err != nil {
			return nil, err
		}
		if !v.Busy() && v.Seq == e.Seq {
			return v, nil
		}
	}
	if ctx.Err() != nil {
		return nil, fault.New(fault.Cancelled, "stopped; run %s is as it was at its last finished step", id).
			WithHint("gantry runs resume %s continues it, gantry runs cancel %s ends it", id, id)
	}
	return a.store.View(id)
}

// report tells a person what came out and decides on the exit code.
func (c *cli) report(a *app, v *runs.View) error {
	dir := a.store.Dir(v.RunID)
	out := newSummary(c.std.out, dir, v)
	out.pages()
	out.gates()
	switch {
	case v.State == runs.StateDone:
		out.pullRequest()
		return out.err
	case v.State == runs.StateFailed:
		out.line("failed: %s: %s", v.Failure.Code, v.Failure.Message)
		f := &fault.Fault{Code: fault.Code(v.Failure.Code), Hint: v.Failure.Hint}
		if hint := hintOf(f); hint != "" {
			out.line("  next: %s", hint)
		}
		out.line("  run:  gantry runs show %s", v.RunID)
		return exitCode(exitOf(f))
	case v.State == runs.StateCancelled:
		out.line("cancelled")
		return exitCode(1)
	}
	out.line("paused in %s: %s", v.State, v.Paused.Reason)
	out.line("  site: %s", filepath.Join(dir, "work", "site"))
	for _, command := range v.Paused.Await {
		out.line("  next: gantry call %s run_id=%s", toolOf(command), v.RunID)
	}
	if v.State == runs.StateValidating {
		return exitCode(2)
	}
	return out.err
}

// toolOf names the tool that gives a run the command.
func toolOf(command string) string {
	switch command {
	case "fix":
		return "launch_fix_next"
	case "open_draft":
		return "launch_open_pr draft=true"
	}
	return "launch_" + command
}
