package agenttools

import (
	"context"
	"time"

	"github.com/gantry-run/gantry/agents/tasks"
	"github.com/gantry-run/gantry/agents/taskstore"
	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/specs"
)

type taskLogIn struct {
	ID     string `json:"task_id"`
	Lines  int    `json:"lines"`
	After  *int64 `json:"after"`
	Follow bool   `json:"follow"`
	WaitMS *int   `json:"wait_ms"`
}

type taskLogOut struct {
	ID    string          `json:"task_id"`
	State taskstore.State `json:"state"`
	Lines []string        `json:"lines"`
	First int64           `json:"first_line"`
	Next  int64           `json:"next_after"`
	Total int64           `json:"total_lines"`
}

const (
	defaultLines = 200
	defaultWait  = 10 * time.Second
)

func (d Deps) taskLog(s specs.Tool) tool.Tool {
	return tool.New(s, func(ctx context.Context, c *guard.Call, in taskLogIn) (taskLogOut, error) {
		r := tasks.LogRequest{ID: in.ID, Lines: in.Lines, After: in.After}
		if r.Lines == 0 {
			r.Lines = defaultLines
		}
		switch {
		case in.Follow && in.WaitMS != nil:
			r.Wait = time.Duration(*in.WaitMS) * time.Millisecond
		case in.Follow && c.Progress != nil:
			r.Stream, r.Tell = true, c.Progress
		case in.Follow:
			r.Wait = defaultWait
		}
		l, err := d.Tasks.Log(ctx, c.Owner(), r)
		if l.Lines == nil {
			l.Lines = []string{}
		}
		return taskLogOut{in.ID, l.State, l.Lines, l.First, l.Next(), l.Total}, err
	})
}
