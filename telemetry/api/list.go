package api

import (
	"net/http"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/rest"
	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/telemetry"
)

func listParams() []rest.Param {
	return []rest.Param{
		{Name: "agent_name", In: "query", Type: "string", Doc: "Only records of this agent"},
		{Name: "job_type", In: "query", Type: "string", Doc: "Only records of this type"},
		{Name: "status", In: "query", Type: "string", Doc: "Only records of this status; failed, completed and succeeded are understood"},
		{Name: "created_before", In: "query", Type: "date-time", Doc: "Only records that came before this time"},
		{Name: "created_after", In: "query", Type: "date-time", Doc: "Only records that came after this time"},
		{Name: "start_time_from", In: "query", Type: "date-time", Doc: "Only records that began at this time or later"},
		{Name: "start_time_to", In: "query", Type: "date-time", Doc: "Only records that began at this time or before"},
		{Name: "limit", In: "query", Type: "integer", Doc: "Page size, 1 to 1000; 100 if it is not given"},
		{Name: "offset", In: "query", Type: "integer", Doc: "How many to leave out"},
	}
}

func (s service) list(r *rest.Request) error {
	q, err := queryOf(r)
	if err != nil {
		return err
	}
	found, err := s.o.Telemetry.Runs(r.Context(), q)
	if err != nil {
		return err
	}
	out := []telemetry.Run{}
	for _, run := range found {
		if s.sees(r.Caller, run) {
			out = append(out, run)
		}
	}
	return r.JSON(http.StatusOK, out)
}

func queryOf(r *rest.Request) (q telemetry.RunQuery, err error) {
	in := r.URL.Query()
	q.Agent, q.JobType = in.Get("agent_name"), telemetry.JobType(in.Get("job_type"))
	if q.Status = canonical(telemetry.Status(in.Get("status"))); q.Status != "" && !known(q.Status) {
		return q, rest.Invalid(rest.FieldError{Field: "status", Message: "must be running, success, failure, partial, timeout or cancelled"})
	}
	if q.CreatedBefore, err = r.Time("created_before"); err != nil {
		return q, err
	}
	if q.CreatedAfter, err = r.Time("created_after"); err != nil {
		return q, err
	}
	if q.StartFrom, err = r.Time("start_time_from"); err != nil {
		return q, err
	}
	if q.StartTo, err = r.Time("start_time_to"); err != nil {
		return q, err
	}
	limit, err := r.Int("limit", 100, 1, 1000)
	if err != nil {
		return q, err
	}
	offset, err := r.Int("offset", 0, 0, 1<<40)
	q.Limit, q.Offset = int(limit), int(offset)
	return q, err
}

// Telemetry is the answer to GET /telemetry/{run_id}.
type Telemetry struct {
	RunID      string             `json:"run_id"`
	Records    []telemetry.Record `json:"records"`
	Summary    telemetry.Summary  `json:"summary"`
	NextCursor string             `json:"next_cursor,omitempty"`
}

// Unknown is the answer to GET /telemetry/{run_id} for a run without records.
type Unknown struct {
	Error string `json:"error"`
	RunID string `json:"run_id"`
}

func (s service) telemetry(r *rest.Request) error {
	id := r.PathValue("run_id")
	limit, err := r.Int("limit", 50, 1, 1000)
	if err != nil {
		return err
	}
	v, err := s.o.Store.View(runs.ID(id))
	known := err == nil && s.o.Sees(v, r.Caller.Token)
	switch {
	case err == nil && !known:
		return unknown(r, id)
	case known:
		// The run's own records are made from its journal when somebody asks.
		if err := s.o.Telemetry.Project(r.Context(), v.RunID, s.o.Store.Events(v.RunID, s.o.Telemetry.Projected(v.RunID))); err != nil {
			return err
		}
	case !fault.Is(err, fault.RunNotFound):
		return err
	}
	page, err := s.o.Telemetry.Records(r.Context(), telemetry.Query{RunID: id, Limit: int(limit), Cursor: r.URL.Query().Get("cursor")})
	if err != nil {
		return err
	}
	if !known && page.Summary.Total == 0 {
		return unknown(r, id)
	}
	return r.JSON(http.StatusOK, Telemetry{RunID: id, Records: page.Records, Summary: page.Summary, NextCursor: page.NextCursor})
}

// unknown answers with the members that clients of the API look for, besides those of a
// problem.
func unknown(r *rest.Request, id string) error {
	if !runs.ID(id).Valid() {
		id = ""
	}
	return r.JSON(http.StatusNotFound, Unknown{Error: "there is no telemetry of the run", RunID: id})
}
