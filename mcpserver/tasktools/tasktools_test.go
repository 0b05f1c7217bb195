package tasktools_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gantry-run/gantry/mcpserver/tasktools"
	"github.com/gantry-run/gantry/specs"
)

// A field that is misspelt, or forgotten in the schema, would otherwise be silently
// without effect.
func TestInAndOutOfEveryToolAreThoseOfItsSchemas(t *testing.T) {
	tools, err := tasktools.Tools(tasktools.Deps{})
	if err != nil {
		t.Fatal(err)
	}
	all, err := specs.Tools(tasktools.Toolset)
	if err != nil || len(tools) != len(all) || len(all) != 6 {
		t.Fatalf("%d tools for %d specifications, want 6: %v", len(tools), len(all), err)
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

func TestInstructionsNameTheWaitAndItsDefault(t *testing.T) {
	said := tasktools.Instructions(time.Second)
	for _, words := range []string{"wait_for_exit_seconds", "1-second capture by default"} {
		if !strings.Contains(said, words) {
			t.Errorf("they do not name %q", words)
		}
	}
	if len(said) > 1024 {
		t.Errorf("they have %d bytes", len(said))
	}
}
