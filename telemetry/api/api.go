// Package api is the telemetry API: records of runs, posted and read over HTTP.
//
// It answers from the record store of the state directory. There are Gantry's own records
// and those of other programs; both are listed, and a commit can be noted at both, but
// only what was posted can be changed by PATCH. Posting is idempotent on event_id: the
// first record stays, and later ones are told that they are duplicates. So a client may
// post again whatever it is not sure of.
//
// Paths, members and statuses are those of the API that launchers already speak, version
// 3.0.0. Texts are redacted before they are kept. A token sees the records of the runs
// that it sees, those that were posted, and its own calls.
package api

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/rest"
	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/telemetry"
)

// Version is that of the API.
const Version = "3.0.0"

// maxBody bounds the body of a request, in bytes.
const maxBody = 256 << 10

const tag = "telemetry"

// Options are what the API reads and writes.
type Options struct {
	Telemetry *telemetry.Telemetry
	Store     *runs.Store
	Sees      func(v *runs.View, token string) bool // whether the token's holder may see the run
}

type service struct{ o Options }

// Routes returns the API as routes.
func Routes(o Options) []rest.Route {
	s := service{o}
	id := rest.Param{Name: "event_id", In: "path", Type: "string", Doc: "Id of the record"}
	return []rest.Route{
		{
			Method: "GET", Path: "/health", ID: "getHealth", Tag: tag, Summary: "Say that the API is there", Scope: rest.ScopeNone, Handle: s.health,
			Answers: []rest.Answer{{Status: 200, Doc: "It is.", Body: Health{}}},
		},
		{
			Method: "POST", Path: "/api/v1/runs", ID: "createRun", Tag: tag, Scope: rest.ScopeRun, Handle: s.create, Body: NewRun{},
			Summary: "Post a record; one whose event_id is there already is left as it is",
			Answers: []rest.Answer{{Status: 201, Doc: "The record is kept, or was before.", Body: Created{}}}, Problems: []int{400, 413, 422},
		},
		{
			Method: "GET", Path: "/api/v1/runs", ID: "listRuns", Tag: tag, Scope: rest.ScopeRead, Handle: s.list, Params: listParams(),
			Summary: "List records, the newest first by created_at",
			Answers: []rest.Answer{{Status: 200, Doc: "One page.", Body: []telemetry.Run{}}}, Problems: []int{422},
		},
		{
			Method: "GET", Path: "/api/v1/runs/{event_id}", ID: "getRun", Tag: tag, Scope: rest.ScopeRead, Handle: s.get, Params: []rest.Param{id},
			Summary: "Get a record", Answers: []rest.Answer{{Status: 200, Doc: "The record.", Body: telemetry.Run{}}}, Problems: []int{404},
		},
		{
			Method: "PATCH", Path: "/api/v1/runs/{event_id}", ID: "updateRun", Tag: tag, Scope: rest.ScopeRun, Handle: s.update, Params: []rest.Param{id}, Body: Change{},
			Summary: "Change a posted record; one that Gantry made stays as it is, and updated is false",
			Answers: []rest.Answer{{Status: 200, Doc: "What was changed.", Body: Updated{}}}, Problems: []int{400, 404, 413, 422},
		},
		{
			Method: "POST", Path: "/api/v1/runs/{event_id}/associate-commit", ID: "associateCommit", Tag: tag, Scope: rest.ScopeRun, Handle: s.associate,
			Params: []rest.Param{id}, Body: CommitOf{}, Summary: "Note the commit that was made of a record's work",
			Answers: []rest.Answer{{Status: 200, Doc: "It is noted.", Body: Associated{}}}, Problems: []int{400, 404, 413},
		},
		{
			Method: "GET", Path: "/telemetry/{run_id}", ID: "getTelemetry", Tag: tag, Scope: rest.ScopeRead, Handle: s.telemetry,
			Params: []rest.Param{
				{Name: "run_id", In: "path", Type: "string", Doc: "Id of the run"},
				{Name: "limit", In: "query", Type: "integer", Doc: "Page size, 1 to 1000; 50 if it is not given"},
				{Name: "cursor", In: "query", Type: "string", Doc: "next_cursor of the page before"},
			},
			Summary: "Get the records of a run and its parts, the newest first",
			Answers: []rest.Answer{{Status: 200, Doc: "One page, and counts of all.", Body: Telemetry{}}}, Problems: []int{404, 422},
		},
	}
}

// Health is the answer to GET /health.
type Health struct {
	Status      string `json:"status"`
	Version     string `json:"version"`
	DBPath      string `json:"db_path" doc:"Relative to the state directory"`
	JournalMode string `json:"journal_mode"`
	Synchronous string `json:"synchronous"`
}

func (s service) health(r *rest.Request) error {
	return r.JSON(http.StatusOK, Health{Status: "ok", Version: Version, DBPath: "telemetry.db", JournalMode: "WAL", Synchronous: "NORMAL"})
}

func (s service) get(r *rest.Request) error {
	found, err := s.find(r.Context(), r.Caller, r.PathValue("event_id"))
	if err != nil {
		return err
	}
	return r.JSON(http.StatusOK, found)
}

// find returns a record that the caller may see.
func (s service) find(ctx context.Context, c rest.Caller, id string) (telemetry.Run, error) {
	found, err := s.o.Telemetry.Run(ctx, id)
	if err == nil && !s.sees(c, found) {
		return telemetry.Run{}, fault.New(fault.RecordNotFound, "there is no record %.80q", id)
	}
	return found, err
}

// sees reports whether the caller may see a record: of a run as the run is seen, other
// records if they were posted or are of the caller's own calls.
func (s service) sees(c rest.Caller, r telemetry.Run) bool {
	if c.Token == "" || slices.Contains(c.Scopes, "admin") {
		return true
	}
	if v, err := s.o.Store.View(runOf(r)); err == nil {
		return s.o.Sees(v, c.Token)
	}
	var call struct {
		Client string `json:"client"`
	}
	return r.Posted || json.Unmarshal(r.Context, &call) == nil && call.Client == c.Token
}

// runOf returns the run that a record belongs to.
func runOf(r telemetry.Run) runs.ID {
	if r.ParentRunID != "" {
		return runs.ID(r.ParentRunID)
	}
	return runs.ID(r.RunID)
}
