package web_test

import (
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gantry-run/gantry/internal/rest"
	"github.com/gantry-run/gantry/telemetry/api"
	"github.com/gantry-run/gantry/web"
)

var update = flag.Bool("update", false, "write docs/openapi.json")

const document = "../docs/openapi.json"

func all() []rest.Route { return web.All(api.Routes(api.Options{}), web.Options{}) }

func TestTheDescriptionIsMadeFromTheRoutes(t *testing.T) {
	want, err := web.Document(all())
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(document, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("make docs writes it: %s", diff)
	}
}

// operation is what the test reads of the description.
type operation struct {
	ID         string                      `json:"operationId"`
	Summary    string                      `json:"summary"`
	Parameters []struct{ Name, In string } `json:"parameters"`
	Responses  map[string]json.RawMessage  `json:"responses"`
}

func TestTheDescriptionIsWhole(t *testing.T) {
	raw, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		OpenAPI    string                          `json:"openapi"`
		Paths      map[string]map[string]operation `json:"paths"`
		Components struct {
			Schemas map[string]struct {
				Properties map[string]json.RawMessage
			}
		}
	}
	if err := json.Unmarshal(raw, &doc); err != nil || doc.OpenAPI != "3.1.0" {
		t.Fatal(err, doc.OpenAPI)
	}
	n, ids := 0, map[string]bool{}
	for path, methods := range doc.Paths {
		for method, op := range methods {
			n++
			if op.ID == "" || ids[op.ID] || op.Summary == "" || op.Responses["500"] == nil {
				t.Errorf("%s %s: %+v", method, path, op)
			}
			ids[op.ID] = true
			for _, segment := range strings.Split(path, "/") {
				name := strings.Trim(segment, "{}")
				if name != segment && !slices.Contains(op.Parameters, struct{ Name, In string }{name, "path"}) {
					t.Errorf("%s %s does not describe %s", method, path, segment)
				}
			}
		}
	}
	if n != len(all()) {
		t.Errorf("%d operations of %d routes", n, len(all()))
	}
	for _, ref := range strings.Split(string(raw), `"$ref": "#/components/schemas/`)[1:] {
		name, _, _ := strings.Cut(ref, `"`)
		if len(doc.Components.Schemas[name].Properties) == 0 {
			t.Errorf("there is no schema %s", name)
		}
	}
}
