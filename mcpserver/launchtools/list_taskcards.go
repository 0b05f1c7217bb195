package launchtools

import (
	"context"

	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/specs"
)

type listTaskcardsIn struct {
	Limit  int    `json:"limit"`
	Cursor string `json:"cursor"`
}

type listTaskcardsOut struct {
	OK         bool        `json:"ok"`
	Taskcards  []card      `json:"taskcards"`
	Errors     []cardError `json:"errors"`
	NextCursor *string     `json:"next_cursor"`
}

type card struct {
	ID     string `json:"taskcard_id"`
	Title  string `json:"title"`
	Status string `json:"status"`
	Path   string `json:"path"`
}

type cardError struct {
	Path    string `json:"path"`
	Message string `json:"message"`
}

func (d Deps) listTaskcards(s specs.Tool) tool.Tool {
	return tool.New(s, func(_ context.Context, _ *guard.Call, in listTaskcardsIn) (listTaskcardsOut, error) {
		page, err := d.Launches.Taskcards(limit(in.Limit), in.Cursor)
		out := listTaskcardsOut{OK: true, Taskcards: []card{}, Errors: []cardError{}, NextCursor: cursor(page.Next)}
		for _, c := range page.Cards {
			out.Taskcards = append(out.Taskcards, card(c))
		}
		for _, e := range page.Errors[:min(len(page.Errors), 200)] {
			out.Errors = append(out.Errors, cardError(e))
		}
		return out, err
	})
}
