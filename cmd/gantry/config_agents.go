package main

import (
	"fmt"
	"strings"

	"github.com/gantry-run/gantry/agents"
)

// agentsTable is the table [agents]: what agents may do and what they get.
type agentsTable struct {
	FullAccess bool     `toml:"full_access" flag:"agents-full-access" help:"let agents do what they want: no sandbox, no permissions asked"`
	Inherit    []string `toml:"inherit" flag:"agents-inherit" help:"variables of the server's environment that agents get, beside those of toolchains and of their own command line"`
}

// agentOptions returns the settings of all agents.
func (c *config) agentOptions() agents.Options {
	return agents.Options{FullAccess: c.Agents.FullAccess, Inherit: c.Agents.Inherit, Custom: c.customAgents()}
}

// agentFlags returns the settings as arguments, for a worker that goes on with sessions.
func (c *config) agentFlags() []string {
	return []string{fmt.Sprintf("--agents-full-access=%t", c.Agents.FullAccess), "--agents-inherit=" + strings.Join(c.Agents.Inherit, ",")}
}
