package tasktools

import (
	"context"

	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/specs"
	"github.com/gantry-run/gantry/targets/jobs"
)

type taskOutputIn struct {
	PID            int    `json:"pid"`
	Lines          int    `json:"lines"`
	ShowTruncation bool   `json:"show_truncation"`
	From           *int64 `json:"from"`
}

type taskOutputOut struct {
	PID        int      `json:"pid"`
	Lines      []string `json:"lines"`
	TotalLines int64    `json:"total_lines"`
	TotalBytes int64    `json:"total_bytes"`
	Truncated  bool     `json:"truncated"`
	BufferFull bool     `json:"buffer_full"`
	NextFrom   int64    `json:"next_from"`
}

func (d Deps) taskOutput(s specs.Tool) tool.Tool {
	return tool.New(s, func(ctx context.Context, c *guard.Call, in taskOutputIn) (taskOutputOut, error) {
		o, err := d.Jobs.Output(ctx, c.Owner(), in.PID, jobs.OutputRequest{Lines: in.Lines, From: in.From, Mark: in.ShowTruncation})
		return outputOut(in.PID, o), err
	})
}

func outputOut(pid int, o jobs.Output) taskOutputOut {
	return taskOutputOut{pid, o.Lines, o.TotalLines, o.TotalBytes, o.Truncated, o.Full, o.Next}
}
