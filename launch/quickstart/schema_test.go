package quickstart

import (
	"encoding/json"
	"testing"

	"github.com/gantry-run/gantry/specs"
	"github.com/gantry-run/gantry/validate"
)

// output compiles the schema of derived_config in a tool's result.
func output(t *testing.T, tool string) *validate.Schema {
	t.Helper()
	tools, err := specs.Tools("launch")
	if err != nil {
		t.Fatal(err)
	}
	for _, listed := range tools {
		var out struct {
			Properties struct {
				Derived json.RawMessage `json:"derived_config"`
			}
		}
		if listed.Name != tool {
			continue
		}
		if err := json.Unmarshal(listed.Output, &out); err != nil {
			t.Fatal(err)
		}
		schema, err := validate.Compile(tool, out.Properties.Derived)
		if err != nil {
			t.Fatal(err)
		}
		return schema
	}
	t.Fatalf("there is no tool %s", tool)
	return nil
}
