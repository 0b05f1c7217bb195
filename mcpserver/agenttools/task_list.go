package agenttools

import (
	"context"

	"github.com/gantry-run/gantry/agents/tasks"
	"github.com/gantry-run/gantry/agents/taskstore"
	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/specs"
)

type taskListIn struct {
	States   []taskstore.State `json:"states"`
	Archived bool              `json:"include_archived"`
	Limit    int               `json:"limit"`
	Cursor   string            `json:"cursor"`
}

type taskListOut struct {
	Tasks []taskOut `json:"tasks"`
	Count int       `json:"count"`
	Next  *string   `json:"next_cursor"`
}

// listLimit is how many tasks a caller gets that does not say.
const listLimit = 10

func (d Deps) taskList(s specs.Tool) tool.Tool {
	return tool.New(s, func(ctx context.Context, c *guard.Call, in taskListIn) (taskListOut, error) {
		if in.Limit == 0 {
			in.Limit = listLimit
		}
		page, err := d.Tasks.List(ctx, tasks.Filter{Owner: c.Owner(), States: in.States, Archived: in.Archived, Limit: in.Limit, Cursor: in.Cursor})
		out := taskListOut{Tasks: []taskOut{}, Count: len(page.Tasks)}
		for _, t := range page.Tasks {
			out.Tasks = append(out.Tasks, outOf(t, shownInList))
		}
		if page.Next != "" {
			out.Next = &page.Next
		}
		return out, err
	})
}
