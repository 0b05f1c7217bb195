package main

import (
	"cmp"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/proc"
	"github.com/gantry-run/gantry/specs"
)

// serverTable is the table [server], as the configuration of codex-tasks has it: settings of
// the toolset agents, and of who may speak to the server.
type serverTable struct {
	StoreRoot    string `toml:"store_root" flag:"store-root" help:"folder of the task store of the toolset agents (default: tasks under $CODEX_HOME, which is ~/.codex when not set)"`
	AllowStopAll bool   `toml:"allow_stop_all" flag:"allow-stop-all" help:"let task_stop stop all tasks at once"`
	AllowUnsafe  bool   `toml:"allow_unsafe" flag:"allow-unsafe" help:"let task_stop stop all tasks at once, and agents work outside of the root"`
	LogLevel     string `toml:"log_level" flag:"log-level" default:"info" help:"least of what is logged: debug, info, warn or error"`
	AuthToken    string `toml:"auth_token" flag:"auth-token" help:"shared secret that a client of gantry mcp must show as gantry/auth_token in _meta, of initialize or of each request; better in the file than as a flag, which everybody on the machine can see"`
}

// secrets returns what of the table is to be masked wherever text leaves.
func (s serverTable) secrets() []string {
	if s.AuthToken == "" {
		return nil
	}
	return []string{s.AuthToken}
}

func (s serverTable) level() slog.Level {
	var level slog.Level
	_ = level.UnmarshalText([]byte(s.LogLevel)) // it was checked when the configuration was read
	return level
}

// The table [tools] has a key for each tool, enable_<tool>: false takes it out of the server,
// whatever its toolset. The tools of agents may leave out their "task_", as in codex-tasks.
// One more key asks for the pair of tools of Codex's former server.
const (
	enablePrefix = "enable_"
	compatKey    = "codex_compat"
)

// off reports whether the configuration takes a tool out.
func (c *config) off(t specs.Tool) bool {
	for _, name := range []string{t.Name, strings.ReplaceAll(t.Name, "-", "_"), short(t)} {
		if on, said := c.Tools[enablePrefix+name]; said && !on {
			return true
		}
	}
	return false
}

// short is the name of a tool of agents as the configuration of codex-tasks has it.
func short(t specs.Tool) string {
	if t.Toolset == "agents" {
		return strings.TrimPrefix(t.Name, "task_")
	}
	return t.Name
}

// settleServer checks [server] and [tools], and fills in what depends on the environment.
func (c *config) settleServer(env []string) error {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.Server.LogLevel)); err != nil {
		return fault.New(fault.ConfigInvalid, "log_level is debug, info, warn or error, not %.40q", c.Server.LogLevel)
	}
	if c.Server.StoreRoot == "" {
		home := cmp.Or(proc.Getenv(env, "CODEX_HOME"), filepath.Join(proc.Getenv(env, "HOME"), ".codex"))
		c.Server.StoreRoot = filepath.Join(home, "tasks")
	}
	abs, err := filepath.Abs(c.Server.StoreRoot)
	if err != nil {
		return err
	}
	c.Server.StoreRoot = abs
	if len(c.Tools) == 0 {
		return nil
	}
	known := map[string]bool{compatKey: true}
	for _, set := range specs.Toolsets() {
		tools, err := specs.Tools(set)
		if err != nil {
			return err
		}
		for _, t := range tools {
			known[enablePrefix+t.Name], known[enablePrefix+strings.ReplaceAll(t.Name, "-", "_")], known[enablePrefix+short(t)] = true, true, true
		}
	}
	for _, key := range slices.Sorted(maps.Keys(c.Tools)) {
		if !known[key] {
			return fault.New(fault.ConfigInvalid, "the table [tools] has the unknown key %q", key).WithHint("it is enable_<name of a tool>, or %s", compatKey)
		}
	}
	return nil
}
