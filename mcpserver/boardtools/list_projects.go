package boardtools

import (
	"context"
	"time"

	"github.com/gantry-run/gantry/board"
	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/specs"
)

type listProjectsIn struct {
	Limit  int    `json:"limit"`
	Cursor string `json:"cursor"`
}

type listProjectsOut struct {
	Projects   []project `json:"projects"`
	Count      int       `json:"count"`
	NextCursor *string   `json:"next_cursor"`
}

type project struct {
	ID        string       `json:"project_id"`
	Name      string       `json:"name"`
	Source    board.Source `json:"source"`
	CreatedAt time.Time    `json:"created_at"`
	UpdatedAt time.Time    `json:"updated_at"`
}

func (d Deps) listProjects(s specs.Tool) tool.Tool {
	return tool.New(s, func(ctx context.Context, _ *guard.Call, in listProjectsIn) (listProjectsOut, error) {
		all, err := d.Board.Projects(ctx)
		if err != nil {
			return listProjectsOut{}, err
		}
		page, next, err := paged(converted(all, projectOut), func(p project) string { return p.ID }, in.Limit, in.Cursor, listBytes)
		return listProjectsOut{page, len(page), next}, err
	})
}

func projectOut(p board.Project) project {
	return project{p.ID, p.Name, p.Source, p.CreatedAt.UTC(), p.UpdatedAt.UTC()}
}
