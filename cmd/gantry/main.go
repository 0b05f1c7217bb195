// Gantry is a run orchestrator that coding agents drive over MCP. This command
// is the server, and a face on it for people.
//
// The package holds flags and wiring, nothing else: config.go is every setting,
// app.go joins the packages, and each command has a file of its own.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gantry-run/gantry/internal/fault"
)

// version is stamped by the build.
var version = "0.1.0-dev"

func main() {
	becomeShim()
	// A client that closes its end must not kill the server: writes fail instead.
	signal.Ignore(syscall.SIGPIPE)
	os.Exit(run(context.Background(), os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}, os.Environ()))
}

// streams are the standard streams of a command.
type streams struct {
	in  io.Reader
	out io.Writer
	err io.Writer
}

// exitCode ends a command with a code when everything has been said.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// run executes one command line and returns its exit code: 0 done, 1 cancelled or
// misused, 2 failed validation, 3 against a policy, 4 an outside dependency failed,
// 5 internal.
func run(ctx context.Context, args []string, std streams, environ []string) int {
	root := rootCommand(std, environ)
	root.SetArgs(args)
	root.SetIn(std.in)
	root.SetOut(std.out)
	root.SetErr(std.err)
	err := root.ExecuteContext(ctx)
	var code exitCode
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	}
	f := new(fault.Fault)
	if !errors.As(err, &f) {
		fmt.Fprintln(std.err, "gantry:", err)
		return 1
	}
	fmt.Fprintf(std.err, "gantry: %s: %s\n", f.Code, f.Message)
	if hint := hintOf(f); hint != "" {
		fmt.Fprintln(std.err, "  next:", hint)
	}
	return exitOf(f)
}

func rootCommand(std streams, environ []string) *cobra.Command {
	c := &cli{std: std, env: environ}
	root := &cobra.Command{
		Use: "gantry", Short: "A run orchestrator that coding agents drive over MCP", Version: version,
		SilenceErrors: true, SilenceUsage: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c.config.bind(root.PersistentFlags())
	root.SetGlobalNormalizationFunc(alias)
	root.PersistentFlags().StringVar(&c.configFile, "config", "", "configuration file (default $XDG_CONFIG_HOME/gantry/gantry.toml)")
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error { return c.load(cmd.Flags()) }
	root.AddCommand(
		c.mcpCommand(), c.serveCommand(), c.launchCommand(), c.callCommand(), c.toolsCommand(), c.runsCommand(),
		c.tasksCommand(), c.taskCommand(), c.boardCommand(), c.projectCommand(), c.attemptCommand(), c.sessionCommand(),
		c.allowCommand(), c.denyCommand(), c.allowlistCommand(),
		c.workerCommand(), c.worktreesCommand(), c.configCommand(), c.doctorCommand(), c.versionCommand(),
	)
	return root
}

// alias gives a flag the name that it has here: --cwd is another word for --root.
func alias(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	if name == "cwd" {
		name = "root"
	}
	return pflag.NormalizedName(name)
}

// cli is what all commands share.
type cli struct {
	std        streams
	env        []string
	config     config
	configFile string
}

func (c *cli) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(c.std.out, "gantry", version)
			return err
		},
	}
}
