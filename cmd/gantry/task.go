package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/mcpserver/tasktools"
	"github.com/gantry-run/gantry/targets/jobs"
)

func (c *cli) taskCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "task", Short: "Run a task of the project, and look at those that were started"}
	cmd.AddCommand(c.taskRun(), c.taskStatus(), c.taskOutput(), c.taskStop())
	return cmd
}

func (c *cli) taskRun() *cobra.Command {
	var env []string
	var dir string
	cmd := &cobra.Command{
		Use: "run TASK [-- ARGS...]", Short: "Run a task, show its output, and exit with its code", Args: cobra.MinimumNArgs(1),
		Long: "Run a task that is allowlisted, show its output as it comes, and exit with its code: 128 and the signal's number if a\n" +
			"signal ended it. Interrupting the command stops the task and all that it started.",
		Example:           "  gantry task run build\n  gantry task run test -- VERBOSE=1",
		ValidArgsFunction: c.completeTasks,
		RunE: func(cmd *cobra.Command, args []string) error {
			variables := map[string]string{}
			for _, v := range env {
				name, value, ok := strings.Cut(v, "=")
				if !ok {
					return fault.New(fault.InvalidInput, "%.80q is not NAME=VALUE", v)
				}
				variables[name] = value
			}
			return c.runTask(cmd.Context(), map[string]any{
				"unique_name": args[0], "args": args[1:], "env": variables, "cwd": dir, "wait_for_exit_seconds": 0, "idempotency_key": rand.Text(),
			})
		},
	}
	cmd.Flags().StringArrayVar(&env, "env", nil, "NAME=VALUE, a variable of the task's environment; may be repeated")
	cmd.Flags().StringVar(&dir, "dir", "", "folder of the project to run in (default the root)")
	return cmd
}

// runTask starts a task as every client does, and follows it.
func (c *cli) runTask(ctx context.Context, args map[string]any) error {
	ctx, release := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer release()
	c.config.NoWorker = true // nothing goes on behind this command
	c.config.Toolsets = []string{tasktools.Toolset}
	return c.withApp(ctx, use{noLimit: true, quiet: !c.config.Verbose}, func(ctx context.Context, a *app, cl *client) error {
		if err := cl.into(ctx, "task_start", args, new(struct{})); err != nil {
			return err
		}
		j, err := a.jobs.Keyed(ctx, fmt.Sprint(args["idempotency_key"]))
		if err != nil {
			return err
		}
		if j, err = c.followTask(ctx, a, j, 0); err != nil {
			return err
		}
		return c.endOfTask(ctx, j)
	})
}

// followEvery is how often a task's output is looked at.
const followEvery = 30 * time.Millisecond

// followTask shows the output of a job from a byte on until it is over, and returns it
// then. When the command is interrupted it stops the job.
func (c *cli) followTask(ctx context.Context, a *app, j jobs.Job, from int64) (jobs.Job, error) {
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	interrupted := ctx.Done()
	for {
		now, err := a.jobs.Job(j.ID)
		if err != nil {
			return j, err
		}
		for { // what it wrote before it was seen to be over
			data, next, err := a.jobs.Raw(now, from)
			if err != nil {
				return now, err
			}
			if from = next; len(data) == 0 {
				break
			}
			if _, err := c.std.out.Write(data); err != nil {
				return now, err
			}
		}
		if now.State != jobs.Running {
			return now, nil
		}
		select {
		case <-tick.C:
		case <-interrupted:
			interrupted = nil
			if _, err := a.jobs.Stop(context.WithoutCancel(ctx), jobs.Ask{}, now.PID, 5*time.Second); err != nil && !fault.Is(err, fault.IllegalState) {
				return now, err
			}
		}
	}
}

// endOfTask makes the end of a job that of this command.
func (c *cli) endOfTask(ctx context.Context, j jobs.Job) error {
	switch {
	case ctx.Err() != nil:
		return exitCode(130)
	case j.ExitCode != nil && *j.ExitCode == 0:
		return nil
	case j.ExitCode != nil:
		return exitCode(*j.ExitCode)
	}
	fmt.Fprintf(c.std.err, "gantry: task %s: %s\n", j.UniqueName, j.Error)
	return exitCode(signalCode(j.Signal))
}

// signalCode is what a shell makes of a signal.
func signalCode(name string) int {
	for s, known := range map[syscall.Signal]string{
		syscall.SIGHUP: "SIGHUP", syscall.SIGINT: "SIGINT", syscall.SIGQUIT: "SIGQUIT", syscall.SIGABRT: "SIGABRT", syscall.SIGKILL: "SIGKILL",
		syscall.SIGSEGV: "SIGSEGV", syscall.SIGPIPE: "SIGPIPE", syscall.SIGTERM: "SIGTERM",
	} {
		if known == name {
			return 128 + int(s)
		}
	}
	return 1
}

func (c *cli) taskStatus() *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "List the tasks that run, and those that ended in the last hour", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c.config.AllRoots = true // a person sees all of their tasks
			return c.withTasks(cmd.Context(), c.printJobs)
		},
	}
}

func (c *cli) printJobs(ctx context.Context, cl *client) error {
	var out struct {
		Running []struct {
			PID      int       `json:"pid"`
			Name     string    `json:"unique_name"`
			State    string    `json:"state"`
			Started  time.Time `json:"started_time"`
			Command  string    `json:"command"`
			ExitCode *int      `json:"exit_code"`
			Error    string    `json:"error"`
		} `json:"running"`
	}
	if err := cl.into(ctx, "status", struct{}{}, &out); err != nil {
		return err
	}
	w := tabwriter.NewWriter(c.std.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "PID\tTASK\tSTATE\tSTARTED\tCOMMAND")
	for _, j := range out.Running {
		state := j.State
		if j.ExitCode != nil {
			state += " " + strconv.Itoa(*j.ExitCode)
		}
		if j.Error != "" {
			state += ": " + shorten(j.Error, shownDescription)
		}
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\n", j.PID, j.Name, state, j.Started.Local().Format(time.DateTime), shorten(j.Command, shownCommand))
	}
	return w.Flush()
}

func (c *cli) taskOutput() *cobra.Command {
	var lines int
	var follow bool
	cmd := &cobra.Command{
		Use: "output PID", Short: "Print the last lines that a task wrote", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			pid, err := pidOf(args[0])
			if err != nil {
				return err
			}
			if follow {
				return c.tailTask(cmd.Context(), pid, lines)
			}
			c.config.AllRoots = true
			return c.withTasks(cmd.Context(), func(ctx context.Context, cl *client) error {
				_, err := c.printOutput(ctx, cl, pid, lines)
				return err
			})
		},
	}
	cmd.Flags().IntVarP(&lines, "lines", "n", jobs.DefaultLines, "how many of the last lines")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on until the task ends")
	return cmd
}

// printOutput prints the last lines and returns where the output goes on.
func (c *cli) printOutput(ctx context.Context, cl *client, pid, lines int) (int64, error) {
	var out struct {
		Lines []string `json:"lines"`
		Next  int64    `json:"next_from"`
	}
	if err := cl.into(ctx, "task_output", map[string]any{"pid": pid, "lines": lines, "show_truncation": true}, &out); err != nil {
		return 0, err
	}
	for _, line := range out.Lines {
		if _, err := fmt.Fprintln(c.std.out, line); err != nil {
			return 0, err
		}
	}
	return out.Next, nil
}

// tailTask prints the last lines of a task and what it goes on to write.
func (c *cli) tailTask(ctx context.Context, pid, lines int) (err error) {
	c.config.AllRoots = true
	c.config.Toolsets = []string{tasktools.Toolset}
	a, err := c.open(use{noLimit: true, quiet: !c.config.Verbose})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.close()) }()
	cl, err := a.connect(ctx)
	if err != nil {
		return err
	}
	defer cl.close()
	j, err := a.jobs.Find(ctx, "", pid)
	if err != nil {
		return err
	}
	next, err := c.printOutput(ctx, cl, pid, lines)
	if err != nil {
		return err
	}
	_, err = c.followTask(ctx, a, j, next)
	return err
}

func (c *cli) taskStop() *cobra.Command {
	var grace float64
	cmd := &cobra.Command{
		Use: "stop PID", Short: "Stop a task and all that it started", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			pid, err := pidOf(args[0])
			if err != nil {
				return err
			}
			c.config.AllRoots = true
			return c.withTasks(cmd.Context(), func(ctx context.Context, cl *client) error {
				var out struct {
					Message string `json:"message"`
				}
				if err := cl.into(ctx, "task_stop", map[string]any{"pid": pid, "grace_period": grace}, &out); err != nil {
					return err
				}
				_, err := fmt.Fprintf(c.std.out, "%d: %s\n", pid, out.Message)
				return err
			})
		},
	}
	cmd.Flags().Float64Var(&grace, "grace", 5, "seconds between TERM and KILL")
	return cmd
}

func pidOf(word string) (int, error) {
	pid, err := strconv.Atoi(word)
	if err != nil || pid < 1 {
		return 0, fault.New(fault.InvalidInput, "%.40q is no pid", word).WithHint("gantry task status lists them")
	}
	return pid, nil
}
