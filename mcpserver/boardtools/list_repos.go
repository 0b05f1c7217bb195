package boardtools

import (
	"context"

	"github.com/gantry-run/gantry/board"
	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/specs"
)

type listReposIn struct {
	ProjectID string `json:"project_id"`
	Limit     int    `json:"limit"`
	Cursor    string `json:"cursor"`
}

type listReposOut struct {
	ProjectID  string  `json:"project_id"`
	Repos      []repo  `json:"repos"`
	Count      int     `json:"count"`
	NextCursor *string `json:"next_cursor"`
}

type repo struct {
	ID            string  `json:"repo_id"`
	Name          string  `json:"name"`
	DefaultBranch *string `json:"default_branch"`
}

func (d Deps) listRepos(s specs.Tool) tool.Tool {
	return tool.New(s, func(ctx context.Context, _ *guard.Call, in listReposIn) (listReposOut, error) {
		all, err := d.Board.Repos(ctx, in.ProjectID)
		if err != nil {
			return listReposOut{}, err
		}
		page, next, err := paged(converted(all, repoOut), func(r repo) string { return r.ID }, in.Limit, in.Cursor, listBytes)
		return listReposOut{in.ProjectID, page, len(page), next}, err
	})
}

func repoOut(r board.Repo) repo { return repo{r.ID, r.Name, orNull(r.DefaultBranch)} }
