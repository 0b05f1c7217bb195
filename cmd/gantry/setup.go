package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gantry-run/gantry/clients"
	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/proc"
)

// setup is what gantry config is asked for.
type setup struct {
	http, write bool
	url         string
	token       string
	file        string
	name        string
}

func (c *cli) configCommand() *cobra.Command {
	var s setup
	var names []string
	for _, one := range clients.All() {
		names = append(names, one.Name)
	}
	cmd := &cobra.Command{
		Use: "config CLIENT", Short: "Print, or write, what a client needs to use this server", Args: cobra.ExactArgs(1), ValidArgs: names,
		Long: "Print what the configuration file of a client needs to use this server, or with --write put it there.\n" +
			"Clients: " + strings.Join(names, ", ") + ". What else is in a file stays as it is, byte for byte, and the\n" +
			"file that was there is kept beside it as .bak.",
		Example: "  gantry config claude-code --write\n  gantry config codex --http --write\n  gantry config claude-desktop --http --url http://localhost:3000/mcp",
		RunE:    func(cmd *cobra.Command, args []string) error { return c.configure(cmd, args[0], s) },
	}
	f := cmd.Flags()
	f.BoolVar(&s.http, "http", false, "over HTTP, to a running gantry serve; else the client starts the server itself")
	f.BoolVar(&s.write, "write", false, "write the client's file; else print what belongs into it")
	f.StringVar(&s.url, "url", "", "address for --http (default that of the root's worktree, if it is served, else /mcp on --addr)")
	f.StringVar(&s.token, "token-env", "", "variable that holds the bearer token (default GANTRY_TOKEN, where a token is needed)")
	f.StringVar(&s.file, "file", "", "file to write (default where the client looks for it)")
	f.StringVar(&s.name, "name", "gantry", "name of the entry")
	return cmd
}

func (c *cli) configure(cmd *cobra.Command, name string, s setup) error {
	client, err := clients.Named(name)
	if err != nil {
		return err
	}
	if s.name == "" || strings.ContainsAny(s.name, "\x00\n") {
		return fault.New(fault.InvalidInput, "an entry needs a name, on one line")
	}
	server := clients.Server{Name: s.name}
	if s.http || s.url != "" {
		c.overHTTP(cmd.Context(), &server, s)
	} else if err := c.overStdio(&server, client, cmd.Flags().Changed("toolsets")); err != nil {
		return err
	}
	if !s.write {
		out, err := client.Merge(nil, server)
		if err != nil {
			return err
		}
		_, err = c.std.out.Write(out)
		return err
	}
	return c.writeClient(client, server, s.file)
}

func (c *cli) writeClient(client clients.Client, server clients.Server, path string) error {
	if path == "" {
		path = client.Path(clients.Place{
			Home: proc.Getenv(c.env, "HOME"), Config: configHome(c.env), Codex: proc.Getenv(c.env, "CODEX_HOME"), Project: c.config.Root, OS: runtime.GOOS,
		})
	}
	old, err := clients.Read(path)
	if err != nil {
		return err
	}
	merged, err := client.Merge(old, server)
	if err != nil {
		return err
	}
	backup, changed, err := clients.Write(path, merged)
	if err != nil {
		return err
	}
	switch {
	case !changed:
		fmt.Fprintf(c.std.out, "%s is as it should be\n", path)
	case backup != "":
		fmt.Fprintf(c.std.out, "%s is written; the old one is %s\n", path, backup)
	default:
		fmt.Fprintf(c.std.out, "%s is written\n", path)
	}
	if server.Token != "" && proc.Getenv(c.env, server.Token) == "" {
		fmt.Fprintf(c.std.err, "%s takes the bearer token from %s, which is not set here\n", client.Title, server.Token)
	}
	return nil
}

// overStdio says how the client starts the server. In a file of the project, which others
// share, the program goes by its name if that finds it.
func (c *cli) overStdio(s *clients.Server, client clients.Client, chosen bool) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	s.Command = self
	if found, err := proc.LookPath("gantry", c.env); err == nil && !client.Alone && sameFile(found, self) {
		s.Command = "gantry"
	}
	s.Args = []string{"mcp"}
	if client.Root {
		s.Args = append(s.Args, "--root", c.config.Root)
	}
	if chosen {
		s.Args = append(s.Args, "--toolsets", strings.Join(c.config.Toolsets, ","))
	}
	if c.config.ReadOnly {
		s.Args = append(s.Args, "--read-only")
	}
	return nil
}

func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	other, err2 := os.Stat(b)
	return err == nil && err2 == nil && os.SameFile(one, other)
}

// defaultToken is the variable that holds a client's bearer token.
const defaultToken = "GANTRY_TOKEN"

// overHTTP says where the server is. The server of a worktree needs no token unless there
// are some.
func (c *cli) overHTTP(ctx context.Context, s *clients.Server, o setup) {
	s.URL, s.Token = o.url, o.token
	served := ""
	if s.URL == "" {
		served = c.servedWorktree(ctx)
		s.URL = served
	}
	if s.URL == "" {
		scheme := "http"
		if c.config.HTTP.TLSCert != "" {
			scheme = "https"
		}
		s.URL = scheme + "://" + c.config.HTTP.Addr + "/mcp"
	}
	tokens := c.config.HTTP.Tokens != "" || proc.Getenv(c.env, tokensVariable) != ""
	if s.Token == "" && (tokens || o.url == "" && served == "") {
		s.Token = defaultToken
	}
}

// servedWorktree returns the address of the root's own server, "" when there is none.
func (c *cli) servedWorktree(ctx context.Context) string {
	root, err := filepath.EvalSymlinks(c.config.Root)
	if err != nil {
		return ""
	}
	if s := readStates(ctx, c.config.StateDir, root)[root]; s.Running {
		return fmt.Sprintf("http://localhost:%d/mcp", s.Port)
	}
	return ""
}
