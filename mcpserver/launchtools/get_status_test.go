package launchtools

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/gantry-run/gantry/launch"
	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/specs"
	"github.com/gantry-run/gantry/validate"
)

func TestAStatusStaysUnder8KBAndCountsTheRest(t *testing.T) {
	spec, ok := specs.ToolByName(Toolset, "launch_get_status")
	if !ok {
		t.Fatal("no specification")
	}
	schema, err := new(validate.Lazy).Output(spec)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, 1, 3, 30, 3000} {
		for name, letter := range map[string]string{"latin": "x", "Han": "漢", "hostile": "\u0001"} {
			st := launch.Status{
				ID: "r_12345678", State: runs.StateValidating, Sections: map[string]string{"docs": "DRAFTED", "blog": "DRAFTED"},
				Chain: launch.Chain{Verified: true, Seq: 9, Hash: strings.Repeat("a", 64)}, Paused: &runs.Paused{At: time.Now().UTC()},
				Next: &launch.Next{Reason: strings.Repeat("r", 400)},
			}
			for i := range n {
				st.Issues = append(st.Issues, runs.IssueChange{IssueID: fmt.Sprintf("issue-%020d", i), Severity: "blocker", Gate: "frontmatter", Title: strings.Repeat(letter, 400)})
				st.Artifacts = append(st.Artifacts, launch.Named{Name: fmt.Sprintf("content--docs--%0100d.md", i), SHA256: strings.Repeat("f", 64)})
			}
			out := statusOut(st)
			raw, err := json.Marshal(out)
			if err != nil {
				t.Fatal(err)
			}
			if len(raw) > 8<<10 || out.IssuesTotal != n || out.ArtifactsTotal != n || n > 0 && (len(out.OpenIssues) == 0 || len(out.Artifacts) == 0) {
				t.Errorf("%d of %s: %d bytes, %d of %d issues, %d of %d artifacts", n, name, len(raw),
					len(out.OpenIssues), out.IssuesTotal, len(out.Artifacts), out.ArtifactsTotal)
			}
			problems, err := schema.Check(raw)
			if err != nil || len(problems) > 0 {
				t.Errorf("%d of %s does not fit its schema: %+v, %v", n, name, problems, err)
			}
		}
	}
}

func TestATitleIsCutBetweenCharacters(t *testing.T) {
	if got := cut(strings.Repeat("漢", 200), 160); utf8.RuneCountInString(got) != 160 || !utf8.ValidString(got) {
		t.Errorf("%q", got)
	}
	if got := cut("short", 160); got != "short" {
		t.Errorf("%q", got)
	}
}

func TestResourceNames(t *testing.T) {
	id, name, err := parse("resource://run/r_12345678/page_plan.json")
	if err != nil || id != "r_12345678" || name != "page_plan.json" {
		t.Errorf("%s %s %v", id, name, err)
	}
	for _, uri := range []string{
		"", "resource://run/", "resource://run/r_12345678", "resource://run/r_12345678/", "resource://run/../x/y", "file:///etc/passwd",
		"resource://run/r_12345678/a/b", "resource://run/r_12345678/../sources.json", "resource://run/r_12345678/%2e%2e", "RESOURCE://run/r_12345678/a",
		"resource://run/r_12345678/" + strings.Repeat("a", 129), "resource://run/short/a",
	} {
		if _, _, err := parse(uri); err == nil {
			t.Errorf("%q is taken for a resource", uri)
		}
	}
}
