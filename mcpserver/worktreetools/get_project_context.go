package worktreetools

import (
	"context"
	"fmt"

	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/specs"
	"github.com/gantry-run/gantry/worktree"
)

type getProjectContextIn struct {
	Files []string `json:"files"`
}

type getProjectContextOut struct {
	Context   string    `json:"context"`
	Sections  []section `json:"sections"`
	Truncated bool      `json:"truncated"`
}

type section struct {
	Name       string `json:"name"`
	Priority   int    `json:"priority"`
	Items      int    `json:"items"`
	Omitted    int    `json:"omitted"`
	Characters int    `json:"characters"`
}

// Text stands for the context, which is in the structured result.
func (o getProjectContextOut) Text() string {
	text := fmt.Sprintf("project context of %d characters", len(o.Context))
	for i, s := range o.Sections {
		text += map[bool]string{true: ": ", false: ", "}[i == 0] + s.Name
	}
	return text
}

func (d Deps) getProjectContext(s specs.Tool) tool.Tool {
	return tool.New(s, func(ctx context.Context, c *guard.Call, in getProjectContextIn) (getProjectContextOut, error) {
		found, err := d.Tree.Context(ctx, worktree.Ask{Owner: c.Owner(), Files: in.Files})
		if err != nil {
			return getProjectContextOut{}, err
		}
		out := getProjectContextOut{Context: found.Text, Sections: []section{}, Truncated: found.Truncated}
		for _, s := range found.Sections {
			out.Sections = append(out.Sections, section{s.Name, s.Priority, s.Items, s.Omitted, s.Chars})
		}
		return out, nil
	})
}
