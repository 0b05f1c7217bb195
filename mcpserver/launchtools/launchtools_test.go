package launchtools_test

import (
	"testing"

	"github.com/gantry-run/gantry/mcpserver/launchtools"
	"github.com/gantry-run/gantry/specs"
)

// A field that is misspelt, or forgotten in the schema, would otherwise be silently
// without effect.
func TestInAndOutOfEveryToolAreThoseOfItsSchemas(t *testing.T) {
	tools, err := launchtools.Tools(launchtools.Deps{})
	if err != nil {
		t.Fatal(err)
	}
	all, err := specs.Tools(launchtools.Toolset)
	if err != nil || len(tools) != len(all) || len(all) != 24 {
		t.Fatalf("%d tools for %d specifications, want 23: %v", len(tools), len(all), err)
	}
	for i, tool := range tools {
		if tool.Spec.Name != all[i].Name {
			t.Errorf("tool %d is %s, want %s", i, tool.Spec.Name, all[i].Name)
		}
		for _, m := range tool.Mismatch() {
			t.Errorf("%s: %s", tool.Spec.Name, m)
		}
	}
}
