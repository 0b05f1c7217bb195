package main

import (
	"fmt"
	"strings"

	"github.com/gantry-run/gantry/internal/proc"
	"github.com/gantry-run/gantry/launch/egress"
)

// launchTable is the table [launch]: what launches may reach outside of this machine.
type launchTable struct {
	Hosts   []string `toml:"hosts" flag:"launch-hosts" default:"github.com,api.github.com,api.openai.com" help:"hosts that a run_config may have a launch talk to, besides the ones that git fetches from: host, host:port or *.domain"`
	Secrets []string `toml:"secrets" flag:"launch-secrets" default:"GITHUB_TOKEN,GH_TOKEN,OPENAI_API_KEY" help:"environment variables with secrets that a run_config may have a launch show to these hosts"`
	Offline bool     `toml:"offline" flag:"launch-offline" help:"keep what the commit service would get as files of the run; OFFLINE_MODE=1 in the environment is the same"`
}

// offline reports whether a launch must not call the commit service.
func (t launchTable) offline(env []string) bool {
	return t.Offline || proc.Getenv(env, "OFFLINE_MODE") == "1"
}

// values returns the secrets by their variable; one that is not set is empty.
func (t launchTable) values(env []string) map[string]string {
	out := map[string]string{}
	for _, name := range t.Secrets {
		out[name] = proc.Getenv(env, name)
	}
	return out
}

// secrets returns what of the environment is to be masked wherever text leaves.
func (t launchTable) secrets(env []string) (out []string) {
	for _, name := range t.Secrets {
		if value := proc.Getenv(env, name); value != "" {
			out = append(out, value)
		}
	}
	return out
}

// policy returns what launches may reach and show.
func (t launchTable) policy(env []string) *egress.Policy { return egress.New(t.Hosts, t.values(env)) }

// egressFlags returns the settings as arguments, for a worker that goes on with launches.
func (c *config) egressFlags() []string {
	t := c.Launch
	flags := []string{"--launch-hosts=" + strings.Join(t.Hosts, ","), "--launch-secrets=" + strings.Join(t.Secrets, ",")}
	return append(flags, fmt.Sprintf("--launch-offline=%t", t.Offline))
}
