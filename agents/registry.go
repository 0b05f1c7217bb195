package agents

import (
	"slices"
	"strings"

	"github.com/gantry-run/gantry/internal/fault"
)

// Registry is the agents that a server offers.
type Registry []CLI

// CLIs returns the agents that are known, ours first, then the user's in the order of
// the configuration; one of the user's replaces one of ours of the same name. It fails
// with a CONFIG_INVALID fault that names the custom agent that is not right.
func CLIs(o Options) (Registry, error) {
	all := Registry{codex{o}, claude{o}, gemini{o}, opencode{o}}
	for _, c := range o.Custom {
		made, err := newCustom(c, o)
		if err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(all, func(k CLI) bool { return k.Name() == made.Name() }); i >= 0 {
			all[i] = made
		} else {
			all = append(all, made)
		}
	}
	return all, nil
}

// Find returns the agent of a name, which may be in any case and with hyphens. An
// unknown one is an INVALID_INPUT fault that names those that are known.
func (r Registry) Find(name string) (CLI, error) {
	name = Normalize(name)
	var known []string
	for _, c := range r {
		if c.Name() == name {
			return c, nil
		}
		known = append(known, c.Name())
	}
	return nil, fault.New(fault.InvalidInput, "the executor %.64q is not known", name).WithHint("use one of %s", strings.Join(known, ", "))
}

// Normalize returns the name of an agent or a variant as it is compared: in upper case,
// hyphens as underscores.
func Normalize(name string) string {
	return strings.ToUpper(strings.ReplaceAll(strings.TrimSpace(name), "-", "_"))
}
