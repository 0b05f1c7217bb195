package main

import (
	"slices"
	"testing"

	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/specs"
)

func TestToolsWhoseNamesClashAreCalledByTheirToolsetToo(t *testing.T) {
	named := func(toolset, name string) tool.Tool { return tool.Tool{Spec: specs.Tool{Toolset: toolset, Name: name}} }
	given := []tool.Tool{named("tasks", "list_tasks"), named("tasks", "status"), named("board", "list_tasks"), named("board", "get_task")}
	var got []string
	for _, one := range distinct(given) {
		got = append(got, one.Spec.Name)
	}
	if want := []string{"tasks_list_tasks", "status", "board_list_tasks", "get_task"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if given[0].Spec.Name != "list_tasks" {
		t.Error("what was given is changed")
	}
}
