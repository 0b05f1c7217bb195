package clients_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/gantry-run/gantry/validate"
)

// The part of the registry's schema (2025-12-11) that server.json uses is in testdata.
func TestTheEntryForTheRegistryObeysItsSchema(t *testing.T) {
	schema, err := os.ReadFile("testdata/server.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	s, err := validate.Compile("server.json", schema)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile("../server.json")
	if err != nil {
		t.Fatal(err)
	}
	if problems, err := s.Check(raw); err != nil || len(problems) > 0 {
		t.Errorf("%v %v", problems, err)
	}
	for from, to := range map[string]string{
		`"io.github.gantry-run/gantry"`: `"gantry"`, `"registryType": "oci"`: `"registryType": "cargo"`, `"type": "stdio"`: `"type": "streamable-http"`,
		`"version": "0.1.0"`: `"version": "latest"`, `"runtimeHint": "docker",`: ``, `"name": "--root",`: ``, `"description": "Durable`: `"description": "` + strings.Repeat("x", 100),
	} {
		bad := strings.Replace(string(raw), from, to, 1)
		if problems, err := s.Check([]byte(bad)); bad == string(raw) || err != nil || len(problems) == 0 {
			t.Errorf("with %s it passes: %v", to, err)
		}
	}
	var entry struct {
		Version  string
		Packages []struct{ Identifier string }
	}
	if err := json.Unmarshal(raw, &entry); err != nil || !strings.HasSuffix(entry.Packages[0].Identifier, ":"+entry.Version) {
		t.Errorf("the image is of another version: %+v %v", entry, err)
	}
}
