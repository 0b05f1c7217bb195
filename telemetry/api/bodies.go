package api

import (
	"encoding/json"

	"github.com/gantry-run/gantry/telemetry"
)

// NewRun is the body of POST /api/v1/runs. Members that it does not name are ignored.
type NewRun struct {
	EventID     string            `json:"event_id" doc:"Unique id of the record, at most 256 characters"`
	RunID       string            `json:"run_id" doc:"The run, at most 256 characters"`
	ParentRunID string            `json:"parent_run_id,omitempty" doc:"The run that it is a part of"`
	AgentName   string            `json:"agent_name"`
	JobType     telemetry.JobType `json:"job_type" doc:"Lower case words joined by underscores, such as launch"`
	StartTime   string            `json:"start_time" doc:"RFC 3339, with its zone"`
	Product     string            `json:"product,omitempty"`
	Change
	about
}

// about are the members that a record has from the beginning.
type about struct {
	ProductFamily  string `json:"product_family,omitempty"`
	Platform       string `json:"platform,omitempty"`
	Website        string `json:"website,omitempty"`
	Subdomain      string `json:"subdomain,omitempty"`
	WebsiteSection string `json:"website_section,omitempty"`
	ItemName       string `json:"item_name,omitempty"`
	Environment    string `json:"environment,omitempty"`
	GitRepo        string `json:"git_repo,omitempty"`
	GitBranch      string `json:"git_branch,omitempty"`
	GitRunTag      string `json:"git_run_tag,omitempty"`
}

// Change is the body of PATCH /api/v1/runs/{event_id}: the members that it has are set.
type Change struct {
	Status             *telemetry.Status `json:"status,omitempty" doc:"running, success, failure, partial, timeout or cancelled; POST takes failed, completed and succeeded too"`
	EndTime            *string           `json:"end_time,omitempty" doc:"RFC 3339, with its zone"`
	DurationMS         *int64            `json:"duration_ms,omitempty"`
	ItemsDiscovered    *int64            `json:"items_discovered,omitempty"`
	ItemsSucceeded     *int64            `json:"items_succeeded,omitempty"`
	ItemsFailed        *int64            `json:"items_failed,omitempty"`
	ItemsSkipped       *int64            `json:"items_skipped,omitempty"`
	OutputSummary      *string           `json:"output_summary,omitempty"`
	ErrorSummary       *string           `json:"error_summary,omitempty"`
	ErrorDetails       *string           `json:"error_details,omitempty"`
	Metrics            json.RawMessage   `json:"metrics_json,omitempty"`
	Context            json.RawMessage   `json:"context_json,omitempty"`
	GitCommitHash      *string           `json:"git_commit_hash,omitempty"`
	GitCommitSource    *string           `json:"git_commit_source,omitempty"`
	GitCommitAuthor    *string           `json:"git_commit_author,omitempty"`
	GitCommitTimestamp *string           `json:"git_commit_timestamp,omitempty"`
}

// Created is the answer to a post.
type Created struct {
	Status  string `json:"status" doc:"created, or duplicate: a record with the event_id was there"`
	EventID string `json:"event_id"`
	RunID   string `json:"run_id,omitempty"`
	Message string `json:"message,omitempty"`
}

// Updated is the answer to a change.
type Updated struct {
	EventID string   `json:"event_id"`
	Updated bool     `json:"updated"`
	Fields  []string `json:"fields_updated"`
}

// CommitOf is the body of POST …/associate-commit.
type CommitOf struct {
	Hash      string `json:"commit_hash" doc:"7 to 40 hex digits"`
	Source    string `json:"commit_source" doc:"manual, llm or ci"`
	Author    string `json:"commit_author,omitempty"`
	Timestamp string `json:"commit_timestamp,omitempty" doc:"RFC 3339, with its zone"`
}

// Associated is the answer to a commit.
type Associated struct {
	Status     string `json:"status"`
	EventID    string `json:"event_id"`
	RunID      string `json:"run_id"`
	CommitHash string `json:"commit_hash"`
}

// apply sets what the change has and returns the names of the members that were given.
func (in Change) apply(r *telemetry.Run, c *checks) (given []string) {
	has := func(name string, ok bool) bool {
		if ok {
			given = append(given, name)
		}
		return ok
	}
	if has("status", in.Status != nil) {
		if r.Status = *in.Status; !known(r.Status) {
			c.add("status", "must be running, success, failure, partial, timeout or cancelled")
		}
	}
	if has("end_time", in.EndTime != nil) {
		at := c.time("end_time", in.EndTime)
		r.EndTime = &at
	}
	for _, n := range []struct {
		name string
		from *int64
		set  func(*int64)
	}{
		{"duration_ms", in.DurationMS, func(v *int64) { r.DurationMS = *v }},
		{"items_discovered", in.ItemsDiscovered, func(v *int64) { r.ItemsDiscovered = v }},
		{"items_succeeded", in.ItemsSucceeded, func(v *int64) { r.ItemsSucceeded = v }},
		{"items_failed", in.ItemsFailed, func(v *int64) { r.ItemsFailed = v }},
		{"items_skipped", in.ItemsSkipped, func(v *int64) { r.ItemsSkipped = v }},
	} {
		if has(n.name, n.from != nil) {
			if n.set(n.from); *n.from < 0 {
				c.add(n.name, "must not be negative")
			}
		}
	}
	for _, t := range []struct {
		name string
		from *string
		to   *string
	}{
		{"output_summary", in.OutputSummary, &r.OutputSummary}, {"error_summary", in.ErrorSummary, &r.ErrorSummary},
		{"error_details", in.ErrorDetails, &r.ErrorDetails}, {"git_commit_hash", in.GitCommitHash, &r.GitCommitHash},
		{"git_commit_source", in.GitCommitSource, &r.GitCommitSource}, {"git_commit_author", in.GitCommitAuthor, &r.GitCommitAuthor},
	} {
		if has(t.name, t.from != nil) {
			*t.to = *t.from
		}
	}
	if has("metrics_json", present(in.Metrics)) {
		r.Metrics = c.object("metrics_json", in.Metrics)
	}
	if has("context_json", present(in.Context)) {
		r.Context = c.object("context_json", in.Context)
	}
	if in.GitCommitHash != nil && !hashForm.MatchString(*in.GitCommitHash) {
		c.add("git_commit_hash", "must be 7 to 40 hex digits")
	}
	if in.GitCommitSource != nil && !isSource(*in.GitCommitSource) {
		c.add("git_commit_source", "must be manual, llm or ci")
	}
	if has("git_commit_timestamp", in.GitCommitTimestamp != nil) {
		at := c.time("git_commit_timestamp", in.GitCommitTimestamp)
		r.GitCommitTimestamp = &at
	}
	return given
}

// present reports whether a member was given.
func present(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// canonical is a status in the API's own words.
func canonical(s telemetry.Status) telemetry.Status {
	switch s {
	case "failed":
		return telemetry.StatusFailure
	case "completed", "succeeded":
		return telemetry.StatusSuccess
	}
	return s
}

func known(s telemetry.Status) bool {
	switch s {
	case telemetry.StatusRunning, telemetry.StatusSuccess, telemetry.StatusFailure, telemetry.StatusPartial, telemetry.StatusTimeout, telemetry.StatusCancelled:
		return true
	}
	return false
}
