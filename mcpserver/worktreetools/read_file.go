package worktreetools

import (
	"context"
	"encoding/base64"
	"fmt"

	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/specs"
	"github.com/gantry-run/gantry/worktree"
)

type readFileIn struct {
	Path   string `json:"path"`
	Offset int64  `json:"offset"`
	Limit  int64  `json:"limit"`
}

type readFileOut struct {
	Path       string `json:"path"`
	Content    string `json:"content"`
	Encoding   string `json:"encoding"`
	SizeBytes  int64  `json:"size_bytes"`
	TotalLines int64  `json:"total_lines"`
	Truncated  bool   `json:"truncated"`
	NextOffset *int64 `json:"next_offset"`
	given      int
}

// Text stands for the content, which is in the structured result.
func (o readFileOut) Text() string {
	text := fmt.Sprintf("%s: %d of %d bytes, %d lines in all, %s", o.Path, o.given, o.SizeBytes, o.TotalLines, o.Encoding)
	if o.NextOffset != nil {
		text += fmt.Sprintf("; read on at offset %d", *o.NextOffset)
	}
	return text
}

func (d Deps) readFile(s specs.Tool) tool.Tool {
	return tool.New(s, func(_ context.Context, _ *guard.Call, in readFileIn) (readFileOut, error) {
		c, err := d.Tree.ReadFile(in.Path, worktree.Slice{Offset: in.Offset, Limit: in.Limit})
		if err != nil {
			return readFileOut{}, err
		}
		out := readFileOut{
			Path: c.Path, Content: string(c.Data), Encoding: "utf-8", SizeBytes: c.Size, TotalLines: c.Lines, Truncated: c.Truncated, given: len(c.Data),
		}
		if !c.Text {
			out.Content, out.Encoding = base64.StdEncoding.EncodeToString(c.Data), "base64"
		}
		if c.Next > 0 {
			out.NextOffset = &c.Next
		}
		return out, nil
	})
}
