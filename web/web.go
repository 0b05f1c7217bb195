// Package web is HTTP for people and dashboards: runs, their events as they come, their
// files and their output. It reads and changes nothing.
//
// What a token may not see does not exist for it. A file is streamed, with ranges, under
// its SHA-256 as entity tag; events can be followed as server-sent events, which a client
// resumes with Last-Event-ID. All that leaves is redacted.
package web

import (
	"time"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/rest"
	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/validate"
)

const tag = "runs"

// Options are what is read.
type Options struct {
	Store *runs.Store
	Sees  func(v *runs.View, token string) bool // whether the token's holder may see the run
	Root  string                                // only runs of this root are listed; "" lists all
	Mask  func([]byte) []byte                   // masks secrets in text; default: nothing is hidden

	// Output returns output of a run's process from a byte on, and where to read on: the
	// same number when there is no more now. A run without output is ARTIFACT_NOT_FOUND.
	Output func(id runs.ID, from int64) (data []byte, next int64, err error)

	Beat time.Duration // between comments to who follows events; default 15 s
}

type service struct {
	o     Options
	clean *cleanFiles
}

// Routes returns the API as routes.
func Routes(o Options) []rest.Route {
	if o.Mask == nil {
		o.Mask = func(b []byte) []byte { return b }
	}
	if o.Beat <= 0 {
		o.Beat = 15 * time.Second
	}
	s := service{o, newCleanFiles()}
	run := rest.Param{Name: "run_id", In: "path", Type: "string", Doc: "Id of the run"}
	name := rest.Param{Name: "name", In: "path", Type: "string", Doc: "Name of the artifact; also snapshot.json, run_config.yaml and events.ndjson"}
	const base = "/api/gantry/v1/runs"
	return []rest.Route{
		{
			Method: "GET", Path: base, ID: "listGantryRuns", Tag: tag, Scope: rest.ScopeRead, Handle: s.list, Params: listParams(),
			Summary: "List runs, the newest first", Answers: []rest.Answer{{Status: 200, Doc: "One page.", Body: RunList{}}}, Problems: []int{422},
		},
		{
			Method: "GET", Path: base + "/{run_id}", ID: "getGantryRun", Tag: tag, Scope: rest.ScopeRead, Handle: s.show, Params: []rest.Param{run},
			Summary: "Say how a run stands", Answers: []rest.Answer{{Status: 200, Doc: "The run.", Body: RunDetail{}}}, Problems: []int{404, 409},
		},
		{
			Method: "GET", Path: base + "/{run_id}/events", ID: "getRunEvents", Tag: tag, Scope: rest.ScopeRead, Handle: s.events, Params: append([]rest.Param{run}, eventParams()...),
			Summary: "Read the journal of a run, or follow it as server-sent events",
			Answers: []rest.Answer{
				{Status: 200, Doc: "One page of events, in order.", Body: EventPage{}},
				{Status: 200, Doc: "With Accept: text/event-stream, the events as they come, each under its sequence number, until the run is over.", Type: "text/event-stream"},
				{Status: 204, Doc: "To who follows: the run is over, and all was told."},
			},
			Problems: []int{404, 409, 422},
		},
		{
			Method: "GET", Path: base + "/{run_id}/artifacts", ID: "listRunArtifacts", Tag: tag, Scope: rest.ScopeRead, Handle: s.listArtifacts, Params: []rest.Param{run},
			Summary: "List the files that a run has written", Answers: []rest.Answer{{Status: 200, Doc: "All of them, by name.", Body: ArtifactList{}}}, Problems: []int{404, 409},
		},
		{
			Method: "GET", Path: base + "/{run_id}/artifacts/{name}", ID: "getRunArtifact", Tag: tag, Scope: rest.ScopeRead, Handle: s.artifact,
			Params: []rest.Param{run, name,
				{Name: "Range", In: "header", Type: "string", Doc: "Only these bytes"},
				{Name: "If-None-Match", In: "header", Type: "string", Doc: "Only if its SHA-256 is another one"}},
			Summary: "Read a file of a run",
			Answers: []rest.Answer{
				{Status: 200, Doc: "The file; its entity tag is the SHA-256 of what is given.", Type: "application/octet-stream"},
				{Status: 206, Doc: "The range of it.", Type: "application/octet-stream"}, {Status: 304, Doc: "It has not changed."},
			},
			Problems: []int{404, 409, 416},
		},
		{
			Method: "GET", Path: base + "/{run_id}/logs", ID: "getRunLogs", Tag: tag, Scope: rest.ScopeRead, Handle: s.logs,
			Params:  []rest.Param{run, {Name: "from", In: "query", Type: "integer", Doc: "First byte; 0 if it is not given. Older output may be gone."}},
			Summary: "Read the output of a run's process",
			Answers: []rest.Answer{{Status: 200, Doc: "A piece of it; the header Gantry-Next-Offset says where to read on.", Type: "text/plain"}}, Problems: []int{404, 422},
		},
	}
}

// view returns the run that the request names, if the caller may see it.
func (s service) view(r *rest.Request) (*runs.View, error) {
	id := r.PathValue("run_id")
	if err := validate.RunID(id); err != nil {
		return nil, fault.New(fault.RunNotFound, "there is no such run")
	}
	v, err := s.o.Store.View(runs.ID(id))
	if err != nil {
		return nil, err
	}
	if !s.o.Sees(v, r.Caller.Token) {
		return nil, fault.New(fault.RunNotFound, "there is no run %q", id)
	}
	return v, nil
}
