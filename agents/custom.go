package agents

import "github.com/gantry-run/gantry/internal/fault"

func newCustom(c Custom, o Options) (CLI, error) {
	return nil, fault.New(fault.ConfigInvalid, "the executor %q is not right", c.Name)
}
