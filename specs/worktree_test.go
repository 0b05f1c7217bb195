package specs

import (
	"slices"
	"testing"
)

func TestWorktreeToolsAreThoseOfTheSeedInItsOrder(t *testing.T) {
	tools, err := Tools("worktree")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, tool := range tools {
		got = append(got, tool.Name)
	}
	if want := []string{"read_file", "list_directory", "get_project_context", "run_just_task"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// What a model sees of the toolsets that are served by default: names, descriptions and
// input schemas.
func TestTheDefaultToolsetsAreSmallForAModel(t *testing.T) {
	size := 0
	for _, set := range []string{"launch", "worktree"} {
		tools, err := Tools(set)
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range tools {
			size += len(tool.Name) + len(tool.Description.String()) + len(tool.Input)
		}
	}
	t.Logf("%d bytes", size)
	if size >= 20_000 {
		t.Errorf("a model sees %d bytes of the default toolsets, 20 KB are the limit", size)
	}
}
