package specs

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// released holds what clients of the last version rely on: a line for each member of each
// tool's arguments and results. Before a version is released, the flag writes it anew; until
// then what breaks a client has to be in the changelog.
const released = "testdata/released.txt"

var release = flag.Bool("release", false, "write what clients of this version rely on")

func TestAChangeThatBreaksClientsIsInTheChangelog(t *testing.T) {
	now := surface(t)
	if *release {
		if err := os.WriteFile(released, []byte(strings.Join(now, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	before, err := os.ReadFile(released)
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile("../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range untold(strings.Split(strings.TrimSpace(string(before)), "\n"), now, string(log)) {
		t.Errorf("%s: clients of the last version break, and Unreleased in CHANGELOG.md does not name the tool under Changed or Removed", b)
	}
}

func TestBreakingChangesAreTold(t *testing.T) {
	before := []string{"x/go in /a string required", "x/go in /b string", "x/go out /c string required"}
	for change, want := range map[string]struct {
		now  []string
		log  string
		told int
	}{
		"nothing":             {now: before},
		"more is accepted":    {now: append(slices.Clone(before), "x/go in /d string", "x/go out /e string required", "x/new in /a string required")},
		"more is required":    {now: append(slices.Clone(before), "x/go in /d string required"), told: 1},
		"an argument is gone": {now: []string{before[0], before[2]}, told: 1},
		"a result is gone":    {now: before[:2], told: 1},
		"another type":        {now: []string{before[0], "x/go in /b integer", before[2]}, told: 1},
		"no tool any more":    {told: 3},
		"it is in the log":    {log: "## [Unreleased]\n### Removed\n- `go`\n## [1.0.0]\n"},
		"in another version":  {log: "## [Unreleased]\n### Removed\n## [1.0.0]\n- `go`\n", told: 3},
		"as an addition":      {log: "## [Unreleased]\n### Added\n- `go`\n", told: 3},
	} {
		if got := untold(before, want.now, want.log); len(got) != want.told {
			t.Errorf("%s: %q", change, got)
		}
	}
}

// untold returns the lines that break clients of tools that the changelog does not name.
func untold(before, now []string, log string) (lines []string) {
	_, log, _ = strings.Cut("\n"+log, "\n## [Unreleased]")
	log, _, _ = strings.Cut(log, "\n## [")
	var changes string
	for _, part := range strings.Split(log, "\n### ") {
		if strings.HasPrefix(part, "Changed") || strings.HasPrefix(part, "Removed") {
			changes += part
		}
	}
	tools := map[string]bool{}
	for _, line := range before {
		tools[strings.Fields(line)[0]] = true
		if !slices.Contains(now, line) {
			lines = append(lines, line)
		}
	}
	for _, line := range now {
		if f := strings.Fields(line); tools[f[0]] && f[1] == "in" && f[len(f)-1] == "required" && !slices.Contains(before, line) {
			lines = append(lines, line)
		}
	}
	return slices.DeleteFunc(lines, func(line string) bool {
		_, tool, _ := strings.Cut(strings.Fields(line)[0], "/")
		return strings.Contains(changes, "`"+tool+"`")
	})
}

// surface returns the lines of all tools.
func surface(t *testing.T) (lines []string) {
	t.Helper()
	for _, toolset := range Toolsets() {
		tools, err := Tools(toolset)
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range tools {
			for way, raw := range map[string]json.RawMessage{"in": tool.Input, "out": tool.Output} {
				var s schema
				if err := json.NewDecoder(bytes.NewReader(raw)).Decode(&s); err != nil {
					t.Fatal(err)
				}
				lines = append(lines, s.members(toolset+"/"+tool.Name+" "+way+" ")...)
			}
		}
	}
	slices.Sort(lines)
	return lines
}

// schema is what a client relies on of a schema.
type schema struct {
	Type       any               `json:"type"`
	Enum       []any             `json:"enum"`
	Required   []string          `json:"required"`
	Properties map[string]schema `json:"properties"`
	Items      *schema           `json:"items"`
}

func (s schema) members(at string) (lines []string) {
	for name, p := range s.Properties {
		line := fmt.Sprintf("%s/%s %v", at, name, p.Type)
		if len(p.Enum) > 0 {
			line += fmt.Sprintf(" %v", p.Enum)
		}
		if slices.Contains(s.Required, name) {
			line += " required"
		}
		lines = append(lines, line)
		lines = append(lines, p.members(at+"/"+name)...)
	}
	if s.Items != nil {
		lines = append(lines, s.Items.members(at+"[]")...)
	}
	return lines
}
