package specs

import (
	"encoding/json"
	"io/fs"
	"slices"
	"strings"
	"testing"
)

func TestEveryArtifactSchemaIsRegisteredAndTheOtherWayRound(t *testing.T) {
	var registered []string
	for _, a := range Artifacts() {
		schema, known := ArtifactSchema(a.Name)
		if !known || (schema == nil) != (a.Schema == "") {
			t.Errorf("%s: known %v, schema of %d bytes", a.Name, known, len(schema))
		}
		if a.Schema != "" {
			registered = append(registered, a.Schema+".schema.json")
		}
	}
	files, err := fs.Glob(Files(), "artifacts/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !slices.Contains(registered, strings.TrimPrefix(f, "artifacts/")) {
			t.Errorf("%s is not registered", f)
		}
	}
	if schema, known := ArtifactSchema("diff_report.md"); !known || schema != nil {
		t.Error("diff_report.md is not of the class without a schema")
	}
	for _, name := range []string{"../errors.json", "nope.json", "page_plan", "reports/x.md", "[", ""} {
		if _, known := ArtifactSchema(name); known {
			t.Errorf("%q is known", name)
		}
	}
}

func TestTheLaunchWorkflowIsEmbedded(t *testing.T) {
	if raw, ok := Workflow("launch"); !ok || !json.Valid(raw) {
		t.Error("there is no workflow launch")
	}
}

func TestNamesCannotLeaveTheirFolder(t *testing.T) {
	for _, name := range []string{"../errors", "..", "", "a/b", "x\x00"} {
		if _, ok := Workflow(name); ok {
			t.Errorf("Workflow(%q)", name)
		}
		if _, ok := EventSchema(name); ok {
			t.Errorf("EventSchema(%q)", name)
		}
	}
}
