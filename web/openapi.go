package web

import (
	"net/http"
	"strconv"
	"sync"

	"github.com/gantry-run/gantry/internal/rest"
)

// Version is that of the API.
const Version = "1.0.0"

// All returns the routes of both APIs, this one and that of records, and one that
// describes them all.
func All(records []rest.Route, o Options) []rest.Route {
	all := append(records, Routes(o)...)
	describe := rest.Route{
		Method: "GET", Path: "/api/gantry/v1/openapi.json", ID: "getDescription", Tag: "description", Scope: rest.ScopeRead,
		Summary: "Describe this API", Answers: []rest.Answer{{Status: 200, Doc: "This document.", Type: "application/json"}},
	}
	document := sync.OnceValues(func() ([]byte, error) { return Document(append(all, describe)) })
	describe.Handle = func(r *rest.Request) error {
		raw, err := document()
		if err != nil {
			return err
		}
		r.W.Header().Set("Content-Type", "application/json")
		r.W.Header().Set("Content-Length", strconv.Itoa(len(raw)))
		r.W.WriteHeader(http.StatusOK)
		_, _ = r.W.Write(raw) // nobody is left to be told that the client is gone
		return nil
	}
	return append(all, describe)
}

// Document describes the routes as OpenAPI 3.1.
func Document(all []rest.Route) ([]byte, error) {
	return rest.Document(rest.Info{
		Title: "Gantry", Version: Version,
		Description: "Runs, their events, files and output, and the telemetry API. Failures are problem documents (RFC 9457).",
	}, all)
}
