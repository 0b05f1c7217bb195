package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/gantry-run/gantry/internal/git"
	"github.com/gantry-run/gantry/internal/proc"
	"github.com/gantry-run/gantry/mcpserver/fleet"
	"github.com/gantry-run/gantry/worktree"
)

func (c *cli) worktreesCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "worktrees", Short: "List the git worktrees, and the servers that they have", Args: cobra.NoArgs,
		Long: "List the git worktrees of the root's repository, each with the server that gantry serve --worktrees keeps for it.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := c.worktreeStates(cmd.Context())
			if err != nil {
				return err
			}
			if asJSON {
				enc := json.NewEncoder(c.std.out)
				enc.SetIndent("", "  ")
				return enc.Encode(worktreesBody{all})
			}
			return c.printWorktrees(all)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print what GET /api/gantry/v1/worktrees answers")
	return cmd
}

// worktreesBody is what GET /api/gantry/v1/worktrees answers.
type worktreesBody struct {
	Worktrees []worktreeState `json:"worktrees"`
}

// worktreeState is a worktree with the state of its server.
type worktreeState struct {
	Worktree string   `json:"worktree"` // relative to the root
	Branch   string   `json:"branch"`   // empty when detached
	Head     string   `json:"head"`     // the commit, empty when there is none
	MCP      mcpState `json:"mcp"`
}

// mcpState is the state of a worktree's server.
type mcpState struct {
	ServerRunning    bool         `json:"server_running"`
	Port             *int         `json:"port"`
	URL              string       `json:"url,omitempty"`
	ConnectedClients int          `json:"connected_clients"` // connections that are open
	Tools            []fleet.Tool `json:"tools"`
	LastError        *string      `json:"last_error"`
}

// shown returns states as they are shown to somebody who works in the root.
func shown(root string, all []fleet.State) []worktreeState {
	out := []worktreeState{}
	for _, s := range all {
		name, err := filepath.Rel(root, s.Path)
		if err != nil {
			name = filepath.Base(s.Path)
		}
		w := worktreeState{Worktree: filepath.ToSlash(name), Branch: s.Branch, Head: s.Head}
		w.MCP = mcpState{ServerRunning: s.Running, ConnectedClients: s.Clients, Tools: s.Tools}
		if w.MCP.Tools == nil {
			w.MCP.Tools = []fleet.Tool{}
		}
		if s.Running {
			w.MCP.Port, w.MCP.URL = &s.Port, fmt.Sprintf("http://localhost:%d/mcp", s.Port)
		}
		if s.Error != "" {
			w.MCP.LastError = &s.Error
		}
		out = append(out, w)
	}
	return out
}

func (c *cli) printWorktrees(all []worktreeState) error {
	w := tabwriter.NewWriter(c.std.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "WORKTREE\tBRANCH\tSERVER\tCLIENTS")
	for _, t := range all {
		server := "not running"
		switch {
		case t.MCP.ServerRunning:
			server = t.MCP.URL
		case t.MCP.LastError != nil:
			server = *t.MCP.LastError
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\n", t.Worktree, t.Branch, server, t.MCP.ConnectedClients)
	}
	return w.Flush()
}

// worktreeStates returns the worktrees of the root's repository. What a server that runs
// has written of itself is taken while its lease says that it does.
func (c *cli) worktreeStates(ctx context.Context) ([]worktreeState, error) {
	g, err := git.New(git.Options{Env: c.env})
	if err != nil {
		return nil, err
	}
	root, err := filepath.EvalSymlinks(c.config.Root)
	if err != nil {
		return nil, err
	}
	places, err := listPlaces(ctx, g, root)
	if err != nil {
		return nil, err
	}
	known := readStates(ctx, c.config.StateDir, root)
	return shown(root, joined(places, known)), nil
}

// joined returns the states of places, as far as they are known.
func joined(places []fleet.Place, known map[string]fleet.State) []fleet.State {
	all := make([]fleet.State, len(places))
	for i, p := range places {
		all[i] = known[p.Path]
		all[i].Place = p
	}
	return all
}

// listPlaces returns the worktrees that are there, the main one first.
func listPlaces(ctx context.Context, g *git.Git, root string) (out []fleet.Place, err error) {
	trees, err := g.Worktrees(ctx, root)
	if err != nil {
		return nil, err
	}
	for _, t := range trees {
		if _, err := os.Lstat(filepath.Join(t.Path, ".git")); err == nil && !t.Gone {
			out = append(out, fleet.Place{Path: t.Path, Branch: t.Branch, Head: t.Head})
		}
	}
	return out, nil
}

// signOf returns a text that is another when the worktrees of a repository may be.
func signOf(common string, known []fleet.State) string {
	var b strings.Builder
	stamp := func(path string) {
		if info, err := os.Stat(path); err == nil {
			fmt.Fprintf(&b, "%s %d\n", path, info.ModTime().UnixNano())
		}
	}
	stamp(filepath.Join(common, "HEAD"))
	stamp(filepath.Join(common, "worktrees"))
	heads, _ := filepath.Glob(filepath.Join(common, "worktrees", "*", "HEAD")) // only a bad pattern is an error
	for _, h := range heads {
		stamp(h)
	}
	for _, s := range known {
		if _, err := os.Lstat(filepath.Join(s.Path, ".git")); err == nil {
			fmt.Fprintln(&b, s.Path)
		}
	}
	return b.String()
}

// statesFile returns where a server of a repository's worktrees says how they are. Its
// lease is beside it.
func statesFile(stateDir, root string) string {
	sum := sha256.Sum256([]byte(worktree.CommonDir(root)))
	return filepath.Join(stateDir, "worktrees", hex.EncodeToString(sum[:8])+".json")
}

const leaseSuffix = ".lock"

// errServed says that another server serves the same worktrees.
var errServed = errors.New("another gantry serve --worktrees serves this repository with the same state directory")

// takeStates takes the right to write the states of a repository's worktrees.
func takeStates(ctx context.Context, file string) (*proc.Lease, error) {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return nil, err
	}
	soon, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	lease, err := proc.TakeLease(soon, file+leaseSuffix, false)
	if errors.Is(err, context.DeadlineExceeded) {
		err = errServed
	}
	return lease, err
}

// readStates returns what a server that runs has written, by path.
func readStates(ctx context.Context, stateDir, root string) map[string]fleet.State {
	file := statesFile(stateDir, root)
	if _, err := os.Stat(file); err != nil {
		return nil
	}
	soon, cancel := context.WithTimeout(ctx, time.Millisecond)
	defer cancel()
	if lease, err := proc.TakeLease(soon, file+leaseSuffix, true); err == nil {
		_ = lease.Release() // nobody serves
		return nil
	}
	raw, err := os.ReadFile(file)
	var all []fleet.State
	if err != nil || json.Unmarshal(raw, &all) != nil {
		return nil
	}
	out := map[string]fleet.State{}
	for _, s := range all {
		out[s.Path] = s
	}
	return out
}

// writeStates replaces the file of the states.
func writeStates(file string, all []fleet.State) error {
	raw, err := json.Marshal(all)
	if err != nil {
		return err
	}
	if err := os.WriteFile(file+".new", raw, 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}
