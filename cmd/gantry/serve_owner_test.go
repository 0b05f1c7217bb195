package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/gantry-run/gantry/runs"
)

func (v visit) startRun() string {
	v.t.Helper()
	return field(v.t, v.must("launch_start_run", args{"run_config": args{"github_repo_url": "product", "site_repo_url": "site"}}), "run_id")
}

// lists returns the ids of the runs that a caller sees.
func (v visit) lists() (ids []string) {
	v.t.Helper()
	var list struct {
		Runs []struct {
			ID string `json:"run_id"`
		}
	}
	if err := json.Unmarshal(v.must("launch_list_runs", args{}), &list); err != nil {
		v.t.Fatal(err)
	}
	for _, r := range list.Runs {
		ids = append(ids, r.ID)
	}
	return ids
}

// H081: a run that was started over HTTP is of the token that started it. For every other
// it is as if there were none. What was started locally is seen by tokens with scope run.
func TestRunsAreOfTheTokenThatStartedThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	local := w.serve(stateful)
	mine := local.start(nil)
	w.rest(mine)
	h := w.serveHTTP("--toolsets", "launch")
	ann, bob, eve := h.as(tokenOfAnn, "/mcp"), h.as(tokenOfBob, "/mcp"), h.as(tokenOfEve, "/mcp")
	anns := ann.startRun()
	w.rest(anns)

	for who, c := range map[string]struct {
		visit
		sees []string
	}{"ann": {ann, []string{anns, mine}}, "bob": {bob, []string{mine}}, "eve, who may only read": {eve, nil}} {
		if got := c.lists(); strings.Join(got, " ") != strings.Join(c.sees, " ") {
			t.Errorf("%s sees %v, want %v", who, got, c.sees)
		}
		for _, id := range []string{mine, anns} {
			if strings.Contains(strings.Join(c.sees, " "), id) {
				c.must("launch_get_status", args{"run_id": id})
				continue
			}
			unknown := c.call("launch_get_status", args{"run_id": "r_20200101T000000Z_abcdefghijkl"})
			a := c.call("launch_get_status", args{"run_id": id})
			if a.Error == nil || a.Error.Data.Code != "RUN_NOT_FOUND" || strings.ReplaceAll(a.Error.String(), id, "ID") != strings.ReplaceAll(unknown.Error.String(), "r_20200101T000000Z_abcdefghijkl", "ID") {
				t.Errorf("%s: %v; an unknown run is %v", who, a.Error, unknown.Error)
			}
			c.refused("launch_get_artifact", args{"run_id": id, "artifact_name": "snapshot.json"}, "RUN_NOT_FOUND")
			c.refused("get_telemetry", args{"run_id": id}, "RUN_NOT_FOUND")
			if r, _ := c.request("resources/read", map[string]any{"uri": "resource://run/" + id + "/snapshot.json"}); r.Error == nil || strings.Contains(string(r.Result), id) {
				t.Errorf("%s reads an artifact of %s: %s", who, id, r.Result)
			}
		}
	}
	for _, tool := range []string{"launch_cancel", "launch_resume", "launch_validate", "launch_open_pr"} {
		bob.refused(tool, args{"run_id": anns}, "RUN_NOT_FOUND")
	}
	local.refused("launch_get_status", args{"run_id": anns}, "RUN_NOT_FOUND")
	if a, status := eve.request("tools/call", map[string]any{"name": "launch_start_run", "arguments": args{"run_config": args{"github_repo_url": "product"}}}); status != http.StatusForbidden || a.Error.Data.Code != "AUTH_INSUFFICIENT_SCOPE" {
		t.Errorf("%d %v", status, a.Error)
	}
	if v, err := w.store.View(runs.ID(anns)); err != nil || v.Created.Owner != "ann" {
		t.Errorf("it is of %q, %v", v.Created.Owner, err)
	}
}

// The same key of two tokens is two requests.
func TestIdempotencyKeysAreOfTheirToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	h := w.serveHTTP("--toolsets", "launch")
	start := args{"run_config": args{"github_repo_url": "product", "site_repo_url": "site"}, "idempotency_key": "k"}
	run := func(token string) string {
		return field(t, h.as(token, "/mcp").must("launch_start_run", start), "run_id")
	}
	first, again, other := run(tokenOfAnn), run(tokenOfAnn), run(tokenOfBob)
	if first != again || first == other {
		t.Errorf("%s, again %s, of another %s", first, again, other)
	}
	w.rest(first)
	w.rest(other)
}

// Calls are counted by token, whatever the session.
func TestTokensAreLimitedApart(t *testing.T) {
	t.Parallel()
	h := newWorld(t).serveHTTP("--toolsets", "launch", "--rate-limit", "3")
	ann, bob := h.as(tokenOfAnn, "/mcp"), h.as(tokenOfBob, "/mcp/x/launch/readonly")
	for range 3 {
		ann.must("launch_list_runs", args{})
	}
	ann.refused("launch_list_runs", args{}, "RATE_LIMITED")
	h.as(tokenOfAnn, "/mcp/x/launch").refused("launch_list_runs", args{}, "RATE_LIMITED")
	bob.must("launch_list_runs", args{})
}
