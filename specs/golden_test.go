package specs

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files and the generated documents")

// same compares a generated file with the one in the tree; -update writes it.
func same(t *testing.T, file string, want []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v (go test ./specs -update writes it)", err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what the specs say (go test ./specs -update writes it)", file)
	}
}

// listed is a tool as tools/list shows it.
type listed struct {
	Name         string          `json:"name"`
	Title        string          `json:"title"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema"`
}

func TestListOfToolsIsTheGoldenOne(t *testing.T) {
	for _, toolset := range Toolsets() {
		tools, err := Tools(toolset)
		if err != nil {
			t.Fatal(err)
		}
		list := make([]listed, len(tools))
		for i, tool := range tools {
			list[i] = listed{tool.Name, tool.Title, tool.Description.String(), tool.Input, tool.Output}
		}
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		if err := enc.Encode(list); err != nil {
			t.Fatal(err)
		}
		same(t, "testdata/tools_list_"+toolset+".golden.json", b.Bytes())
	}
}

func TestDocumentOfToolsIsCurrent(t *testing.T) {
	doc, err := Markdown()
	if err != nil {
		t.Fatal(err)
	}
	same(t, "../docs/tools.md", doc)
}

func TestDocumentOfErrorsIsCurrent(t *testing.T) {
	same(t, "../docs/errors.md", ErrorsMarkdown())
}
