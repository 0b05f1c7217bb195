package main

import (
	"path/filepath"

	"github.com/gantry-run/gantry/agents"
	"github.com/gantry-run/gantry/board"
	"github.com/gantry-run/gantry/board/changes"
	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/launch/quickstart"
)

// boardTable is the table [board]: settings of the toolset of that name.
type boardTable struct {
	Guard string `toml:"diff_guard" flag:"board-diff-guard" default:"balanced" help:"what get_attempt_changes and get_attempt_patch show without force: safe, balanced, relaxed or off"`
}

// guard returns the bounds that the name stands for.
func (t boardTable) guard() (changes.Guard, error) {
	guard, err := changes.Preset(t.Guard)
	if err != nil {
		return guard, fault.New(fault.ConfigInvalid, "diff_guard in [board] is safe, balanced, relaxed or off, not %.40q", t.Guard)
	}
	return guard, nil
}

// projectTable is a table [[projects]]: a project of the board.
type projectTable struct {
	Name  string      `toml:"name" help:"name of the project"`
	Repos []repoTable `toml:"repos" help:"its repositories, each a table with path, absolute, and name, the first part of paths in it (default: the folder's name)"`
}

type repoTable struct {
	Path string `toml:"path"`
	Name string `toml:"name"`
}

// executorTable is a table [[executors]]: an agent of the user's, any command.
type executorTable struct {
	Name           string   `toml:"name" help:"what callers call it, in upper case, such as SCRIPT; one that Gantry knows is replaced"`
	Command        []string `toml:"command" help:"program and arguments of a turn; {prompt}, {model}, {variant} and {dir} stand for what they say, and without {prompt} the prompt is the standard input"`
	Resume         []string `toml:"resume" help:"the same for a turn that goes on with a conversation, which is {session}; without it command runs again in the same place"`
	Output         string   `toml:"output" help:"plain: each line is something said; jsonl: each line is an event (default: plain)"`
	SessionField   string   `toml:"session_field" help:"path of the conversation's id in an event, such as session.id; without it the usual names are tried"`
	SessionPattern string   `toml:"session_pattern" help:"regular expression whose first group is the conversation's id in a line of plain output"`
	Env            []string `toml:"env" help:"variables as NAME=value"`
	Variants       []string `toml:"variants" help:"values that a caller may give for {variant}"`
	MCP            bool     `toml:"mcp" help:"it can be given MCP servers"`
}

// checkTables refuses tables that lack what they are about. What else is wrong with one is
// said by who uses it.
func (c *config) checkTables() error {
	if _, err := c.Board.guard(); err != nil {
		return err
	}
	for _, p := range c.Projects {
		if p.Name == "" || len(p.Repos) == 0 {
			return fault.New(fault.ConfigInvalid, "a [[projects]] table needs name and repos")
		}
		for _, r := range p.Repos {
			if !filepath.IsAbs(r.Path) {
				return fault.New(fault.ConfigInvalid, "the project %.80q has a repository whose path is not absolute", p.Name)
			}
		}
	}
	if err := quickstart.CheckProfiles(c.Sites); err != nil {
		return err
	}
	for _, e := range c.Executors {
		if e.Name == "" || len(e.Command) == 0 {
			return fault.New(fault.ConfigInvalid, "an [[executors]] table needs name and command")
		}
	}
	return nil
}

// projects returns the projects of the configuration.
func (c *config) projects() (out []board.NewProject) {
	for _, p := range c.Projects {
		made := board.NewProject{Name: p.Name}
		for _, r := range p.Repos {
			made.Repos = append(made.Repos, board.RepoAt{Path: r.Path, Name: r.Name})
		}
		out = append(out, made)
	}
	return out
}

// customAgents returns the agents of the configuration.
func (c *config) customAgents() (out []agents.Custom) {
	for _, e := range c.Executors {
		out = append(out, agents.Custom(e))
	}
	return out
}
