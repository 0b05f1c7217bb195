package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/proc"
	"github.com/gantry-run/gantry/targets"
)

// allowFiles says where the allowlist may be.
func allowFiles(env []string) targets.AllowFiles {
	return targets.AllowFiles{Home: proc.Getenv(env, "HOME"), ConfigHome: configHome(env)}
}

// consent are the flags of allow.
type consent struct {
	file, dir string
	workflow  string
	options   bool
	env       []string
	pin       bool
}

func (c *cli) allowCommand() *cobra.Command {
	var f consent
	cmd := &cobra.Command{
		Use: "allow [TASK...]", Short: "Let agents start tasks of the project",
		Long: "Let agents start tasks: the named ones, every task of a file, or every task of the files in a folder and below it. This\n" +
			"writes the allowlist (~/.dela/allowlist.toml when it exists, else gantry's own), which no tool can change. It holds at once.\n" +
			"With --workflow, let launches start the programs of a workflow, as long as it and the files that it brings stay as they are now.",
		Example:           "  gantry allow build test\n  gantry allow deploy --pin\n  gantry allow --file Makefile\n  gantry allow --workflow release-notes.yaml",
		ValidArgsFunction: c.completeTasks,
		RunE: func(cmd *cobra.Command, names []string) error {
			if f.workflow != "" {
				return c.allowWorkflow(names, f)
			}
			entries, err := c.entries(cmd.Context(), names, f)
			if err != nil {
				return err
			}
			for _, e := range entries {
				edit, err := allowFiles(c.env).Allow(e)
				if err != nil {
					return err
				}
				c.printEdit("allowed", e, edit)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&f.file, "file", "", "every task of this build file")
	cmd.Flags().StringVar(&f.dir, "dir", "", "every task of the build files in this folder and below it")
	cmd.Flags().StringVar(&f.workflow, "workflow", "", "the programs of this workflow, as it is now")
	cmd.Flags().BoolVar(&f.options, "options", false, "agents may pass options, arguments that begin with -")
	cmd.Flags().StringSliceVar(&f.env, "env", nil, "variables that agents may set although they are refused else")
	cmd.Flags().BoolVar(&f.pin, "pin", false, "only as long as what the task does, or the file, stays as it is now")
	return cmd
}

// entries makes the entries of the allowlist that the words of allow mean.
func (c *cli) entries(ctx context.Context, names []string, f consent) ([]targets.Entry, error) {
	ways := 0
	for _, given := range []bool{len(names) > 0, f.file != "", f.dir != ""} {
		if given {
			ways++
		}
	}
	if ways != 1 || f.pin && f.dir != "" {
		return nil, fault.New(fault.InvalidInput, "give tasks, --file or --dir, one of them; a folder cannot be pinned").
			WithHint("gantry tasks lists the tasks")
	}
	base := targets.Entry{Options: f.options, AllowEnv: f.env}
	if f.dir != "" {
		base.Scope = targets.ScopeDirectory
		var err error
		base.Path, err = c.absolute(f.dir)
		return []targets.Entry{base}, err
	}
	p, root, err := c.project()
	if err != nil {
		return nil, err
	}
	l, err := p.List(ctx, "")
	if err != nil {
		return nil, err
	}
	if f.file != "" {
		return c.fileEntry(base, l, root, f)
	}
	return taskEntries(base, l, root, names, f.pin)
}

// fileEntry is the entry for a build file, which must be one when it is pinned.
func (c *cli) fileEntry(base targets.Entry, l targets.Listing, root string, f consent) ([]targets.Entry, error) {
	file, err := c.absolute(f.file)
	if err != nil {
		return nil, err
	}
	base.Scope, base.Path = targets.ScopeFile, file
	if !f.pin {
		return []targets.Entry{base}, nil
	}
	for _, t := range l.Targets {
		if filepath.Join(root, t.FilePath) == file {
			base.SHA256 = t.Source
			return []targets.Entry{base}, nil
		}
	}
	return nil, fault.New(fault.InvalidInput, "%.80q defines no task of this project, so it cannot be pinned", f.file)
}

// taskEntries makes one entry for each file, or for each task when they are pinned.
func taskEntries(base targets.Entry, l targets.Listing, root string, names []string, pin bool) ([]targets.Entry, error) {
	var out []targets.Entry
	at := map[string]int{}
	for _, name := range names {
		t, err := l.Lookup(name)
		if err != nil {
			return nil, err
		}
		e := base
		e.Scope, e.Path, e.Tasks = targets.ScopeTask, filepath.Join(root, t.FilePath), []string{t.Name}
		if pin {
			e.SHA256 = t.Recipe()
		} else if i, known := at[e.Path]; known {
			out[i].Tasks = append(out[i].Tasks, t.Name)
			continue
		}
		at[e.Path] = len(out)
		out = append(out, e)
	}
	return out, nil
}

// absolute is a path as a person gives it: from where they are. Links are followed as far
// as it exists.
func (c *cli) absolute(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		return real, nil
	}
	return "", fault.New(fault.InvalidInput, "%.80q is not there", path)
}

// printEdit says what was done, and what still stands against it.
func (c *cli) printEdit(verb string, e targets.Entry, edit targets.Edit) {
	fmt.Fprintf(c.std.out, "%s %s, in %s\n", verb, describe(e), edit.Path)
	for _, d := range edit.Denied {
		fmt.Fprintf(c.std.err, "still denied: %s; gantry allowlist shows the entry, gantry allowlist --remove takes it out\n", describe(d))
	}
}

// describe says what an entry covers.
func describe(e targets.Entry) string {
	switch {
	case len(e.Tasks) > 0:
		return strings.Join(e.Tasks, ", ") + " of " + e.Path
	case e.Scope == targets.ScopeDirectory:
		return "everything below " + e.Path
	}
	return "everything of " + e.Path
}

func (c *cli) denyCommand() *cobra.Command {
	var path, flow string
	cmd := &cobra.Command{
		Use: "deny [TASK...]", Short: "Keep agents from starting tasks, whatever else allows them",
		Long:              "Keep agents from starting the named tasks, or with --path every task of a file or of the files below a folder. A denial wins.",
		ValidArgsFunction: c.completeTasks,
		RunE: func(cmd *cobra.Command, names []string) error {
			entries := []targets.Entry{{Path: path}}
			var err error
			switch {
			case flow != "" && len(names) == 0 && path == "":
				return c.denyWorkflow(flow)
			case (len(names) > 0) == (path != ""):
				return fault.New(fault.InvalidInput, "give tasks or --path, one of them")
			case path != "":
				entries[0].Path, err = c.absolute(path)
			default:
				entries, err = c.entries(cmd.Context(), names, consent{})
			}
			if err != nil {
				return err
			}
			for _, e := range entries {
				edit, err := allowFiles(c.env).Deny(e.Path, e.Tasks)
				if err != nil {
					return err
				}
				c.printEdit("denied", e, edit)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&flow, "workflow", "", "take back that the programs of this workflow may run")
	cmd.Flags().StringVar(&path, "path", "", "every task of this file, or of the files in this folder and below it")
	return cmd
}

func (c *cli) allowlistCommand() *cobra.Command {
	var remove []int
	cmd := &cobra.Command{
		Use: "allowlist", Short: "Show the allowlist", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if len(remove) == 0 {
				return c.printAllowlist()
			}
			for i := range remove {
				remove[i]--
			}
			edit, err := allowFiles(c.env).Remove(remove...)
			for _, e := range edit.Removed {
				c.printEdit("removed "+strings.ToLower(string(e.Scope))+":", e, targets.Edit{Path: edit.Path})
			}
			return err
		},
	}
	cmd.Flags().IntSliceVar(&remove, "remove", nil, "take out the entries with these numbers")
	return cmd
}

func (c *cli) printAllowlist() error {
	defer c.printWorkflows()
	a := allowFiles(c.env).Load()
	switch {
	case a.Err != nil:
		return fault.New(fault.ConfigInvalid, "%s cannot be used, so nothing is allowed: %s", a.Path, a.Err).WithHint("correct the file")
	case !a.Exists:
		fmt.Fprintln(c.std.err, "there is no allowlist, so nothing is allowed; gantry allow creates one")
		return nil
	}
	fmt.Fprintln(c.std.out, a.Path)
	w := tabwriter.NewWriter(c.std.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "#\tSCOPE\tTASKS\tPATH\tMORE")
	for i, e := range a.Entries {
		var more []string
		if e.Options {
			more = append(more, "options")
		}
		if len(e.AllowEnv) > 0 {
			more = append(more, "env "+strings.Join(e.AllowEnv, " "))
		}
		if e.SHA256 != "" {
			more = append(more, "pinned")
		}
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\n", i+1, e.Scope, strings.Join(e.Tasks, " "), e.Path, strings.Join(more, ", "))
	}
	return w.Flush()
}
