package agenttools

import (
	"cmp"
	"context"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/specs"
)

type codexReplyIn struct {
	Thread       string `json:"threadId"`
	Conversation string `json:"conversationId"`
	Prompt       string `json:"prompt"`
}

func (d Deps) codexReply(s specs.Tool) tool.Tool {
	return tool.New(s, func(ctx context.Context, c *guard.Call, in codexReplyIn) (codexOut, error) {
		id := cmp.Or(in.Thread, in.Conversation)
		switch {
		case id == "":
			return codexOut{}, fault.New(fault.MissingRequired, "neither threadId nor conversationId is given").WithHint("supply threadId")
		case in.Thread != "" && in.Conversation != "" && in.Thread != in.Conversation:
			return codexOut{}, fault.New(fault.AmbiguousTarget, "threadId and conversationId differ").WithHint("supply threadId alone")
		}
		t, err := d.Tasks.Send(ctx, c.Ask(), id, in.Prompt)
		if err != nil {
			return codexOut{}, err
		}
		return d.ended(ctx, c, t)
	})
}
