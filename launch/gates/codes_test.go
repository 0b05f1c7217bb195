package gates_test

import (
	"testing"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/launch/gates"
	"github.com/gantry-run/gantry/specs"
)

func TestEveryCodeIsInTheRegistryOfErrors(t *testing.T) {
	for _, g := range gates.All() {
		for _, code := range append(g.Codes, gates.GateTimeout, gates.ValidatorGateExecutionFailed) {
			if info, ok := specs.Error(fault.Code(code)); !ok || info.Hint == "" {
				t.Errorf("%s of gate %s has no entry", code, g.Name)
			}
		}
	}
}
