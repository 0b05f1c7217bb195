package launchtools

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/gantry-run/gantry/launch"
	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/specs"
)

func TestACompletionIsNewestFirstAndNoLongerThanAsked(t *testing.T) {
	store, err := runs.OpenStore(t.TempDir(), runs.StoreOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	l := launch.NewService(launch.Options{Store: store, Root: t.TempDir()})
	raw, _ := specs.Workflow("launch")
	var flow runs.Workflow
	if err := json.Unmarshal(raw, &flow); err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		r := runs.StartRequest{ID: runs.ID(fmt.Sprintf("r_of_many_%d", i)), Kind: runs.Launch, Workflow: flow, Input: json.RawMessage(`{}`), Root: l.RootID()}
		if _, _, err := store.Create(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	complete := Completer(l)
	for _, c := range []struct {
		value string
		most  int
		want  string
		more  bool
	}{
		{"", 5, "[r_of_many_4 r_of_many_3 r_of_many_2 r_of_many_1 r_of_many_0]", false},
		{"r_of_", 2, "[r_of_many_4 r_of_many_3]", true},
		{"r_of_many_2", 2, "[r_of_many_2]", false},
		{"of_many", 2, "[]", false},
	} {
		got, more, err := complete(t.Context(), guard.Caller{}, tool.Blank{Prompt: "any", Name: "run_id", Value: c.value}, c.most)
		if err != nil || fmt.Sprint(got) != c.want || more != c.more {
			t.Errorf("%q: %v %v %v, want %s %v", c.value, got, more, err, c.want, c.more)
		}
	}
}
