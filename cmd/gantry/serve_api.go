package main

import (
	"net/http"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/rest"
	"github.com/gantry-run/gantry/mcpserver/httpfront"
	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/telemetry/api"
	"github.com/gantry-run/gantry/web"
)

// apiRoutes returns the telemetry API and the API of runs. They show what callers did, so
// without tokens only that the API is there can be asked.
func (s *service) apiRoutes() []route {
	a := s.app
	all := web.All(api.Routes(api.Options{Telemetry: a.tel, Store: a.store, Sees: a.sees}), web.Options{
		Store: a.store, Sees: a.sees, Root: a.rootFilter(), Mask: a.redactor.Bytes, Output: a.outputOf,
	})
	h := rest.Handler(all, rest.Options{
		Caller: callerOf, Redact: func(b []byte) []byte { return a.redactor.JSON(b) }, End: s.ending, Log: a.log,
	})
	out := []route{{pattern: "GET /health", handler: h, open: true}}
	if s.tokens.Configured() {
		for _, path := range []string{"/api/v1/", "/api/gantry/v1/", "/telemetry/"} {
			out = append(out, route{pattern: path, handler: h})
		}
	}
	return out
}

// callerOf returns whose token came with a request.
func callerOf(r *http.Request) rest.Caller {
	who, ok := httpfront.Who(r.Header)
	if !ok {
		return rest.Caller{}
	}
	return rest.Caller{Token: who.Name, Scopes: who.Scopes}
}

// sees reports whether who has the token may see the run.
func (a *app) sees(v *runs.View, token string) bool {
	return runs.Sees(token, v.Created.Owner) && (a.cfg.AllRoots || v.Created.Root == a.launches.RootID())
}

// rootFilter names the root whose runs are listed; "" is all.
func (a *app) rootFilter() string {
	if a.cfg.AllRoots {
		return ""
	}
	return a.launches.RootID()
}

// outputOf returns output of a run's process from a byte on.
func (a *app) outputOf(id runs.ID, from int64) ([]byte, int64, error) {
	none := fault.New(fault.ArtifactNotFound, "run %s has no output, or no longer", id)
	v, err := a.store.View(id)
	if err != nil {
		return nil, 0, err
	}
	if v.Kind != runs.Target || v.Process == nil {
		return nil, 0, none
	}
	j, err := a.jobs.Job(id)
	if err != nil {
		return nil, 0, err
	}
	data, next, err := a.jobs.Raw(j, from)
	if err != nil {
		return nil, 0, none.Because(err)
	}
	return data, next, nil
}
