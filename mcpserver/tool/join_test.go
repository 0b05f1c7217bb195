package tool_test

import (
	"context"
	"iter"
	"testing"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
)

// shelf is a source of resources that gives its own name.
type shelf struct{ name, template string }

func (s shelf) Templates() []tool.Template { return []tool.Template{{URI: s.template, Name: s.name}} }

func (s shelf) Read(context.Context, guard.Caller, string) (tool.Content, error) {
	return tool.Content{Text: s.name}, nil
}

func (s shelf) Changes(context.Context, guard.Caller, string) (iter.Seq[struct{}], error) {
	return func(yield func(struct{}) bool) { yield(struct{}{}) }, nil
}

func TestAURIBelongsToTheSourceOfItsScheme(t *testing.T) {
	all := tool.Join(shelf{"runs", "resource://run/{id}"}, shelf{"jobs", "job://{pid}"}, shelf{"logs", "joblog://{pid}{?from}"})
	if got := all.Templates(); len(got) != 3 || got[0].Name != "runs" || got[2].Name != "logs" {
		t.Errorf("%+v", got)
	}
	for uri, want := range map[string]string{"resource://run/x": "runs", "job://7": "jobs", "joblog://7?from=3": "logs"} {
		c, err := all.Read(t.Context(), guard.Caller{}, uri)
		if err != nil || c.Text != want {
			t.Errorf("%s is read from %q: %v", uri, c.Text, err)
		}
		if _, err := all.Changes(t.Context(), guard.Caller{}, uri); err != nil {
			t.Errorf("%s: %v", uri, err)
		}
	}
	for _, uri := range []string{"jobs://7", "jo", "", "file:///etc/passwd"} {
		if _, err := all.Read(t.Context(), guard.Caller{}, uri); !fault.Is(err, fault.InvalidInput) {
			t.Errorf("%s: %v", uri, err)
		}
		if _, err := all.Changes(t.Context(), guard.Caller{}, uri); !fault.Is(err, fault.InvalidInput) {
			t.Errorf("%s: %v", uri, err)
		}
	}
}
