package launchtools

import (
	"context"

	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/specs"
)

type validateTaskcardIn struct {
	Taskcard string `json:"taskcard"`
}

type validateTaskcardOut struct {
	OK     bool         `json:"ok"`
	ID     string       `json:"taskcard_id"`
	Valid  bool         `json:"valid"`
	Errors []checkError `json:"errors"`
}

type checkError struct {
	Check   string `json:"check"`
	Message string `json:"message"`
	Line    int    `json:"line"`
}

func (d Deps) validateTaskcard(s specs.Tool) tool.Tool {
	return tool.New(s, func(_ context.Context, _ *guard.Call, in validateTaskcardIn) (validateTaskcardOut, error) {
		r, err := d.Launches.CheckTaskcard(in.Taskcard)
		out := validateTaskcardOut{OK: true, ID: r.ID, Valid: r.Valid, Errors: []checkError{}}
		for _, e := range r.Errors {
			out.Errors = append(out.Errors, checkError(e))
		}
		return out, err
	})
}
