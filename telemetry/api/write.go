package api

import (
	"errors"
	"net/http"

	"github.com/gantry-run/gantry/internal/rest"
	"github.com/gantry-run/gantry/telemetry"
)

func (s service) create(r *rest.Request) error {
	var in NewRun
	if err := r.Read(maxBody, &in); err != nil {
		return err
	}
	record, err := s.newRecord(in)
	if err != nil {
		return err
	}
	created, err := s.o.Telemetry.Post(r.Context(), record)
	if err != nil {
		return err
	}
	if !created {
		return r.JSON(http.StatusCreated, Created{Status: "duplicate", EventID: in.EventID, Message: "a record with this event_id is there already"})
	}
	return r.JSON(http.StatusCreated, Created{Status: "created", EventID: in.EventID, RunID: in.RunID})
}

// newRecord checks a record that is posted.
func (s service) newRecord(in NewRun) (telemetry.Run, error) {
	var c checks
	c.id("event_id", in.EventID, s.o.Telemetry)
	c.id("run_id", in.RunID, s.o.Telemetry)
	if in.ParentRunID != "" {
		c.id("parent_run_id", in.ParentRunID, s.o.Telemetry)
	}
	if in.AgentName == "" {
		c.add("agent_name", "is missing")
	}
	c.short("parent_run_id", in.ParentRunID)
	c.short("agent_name", in.AgentName)
	c.short("product", in.Product)
	if !jobTypeForm.MatchString(string(in.JobType)) {
		c.add("job_type", "must be lower case words joined by underscores")
	}
	out := telemetry.Run{Posted: true, Record: telemetry.Record{
		EventID: in.EventID, RunID: in.RunID, ParentRunID: in.ParentRunID, AgentName: in.AgentName, JobType: in.JobType,
		StartTime: c.time("start_time", &in.StartTime), Status: telemetry.StatusRunning, Product: in.Product,
	}}
	out.ProductFamily, out.Platform, out.Website, out.Subdomain, out.WebsiteSection = in.ProductFamily, in.Platform, in.Website, in.Subdomain, in.WebsiteSection
	out.ItemName, out.Environment, out.GitRepo, out.GitBranch, out.GitRunTag = in.ItemName, in.Environment, in.GitRepo, in.GitBranch, in.GitRunTag
	if in.Status != nil {
		*in.Status = canonical(*in.Status)
	}
	// Where a commit comes from is told when it is noted, not when a record is posted.
	in.GitCommitSource, in.GitCommitAuthor, in.GitCommitTimestamp = nil, nil, nil
	in.apply(&out, &c)
	return out, c.problem()
}

func (s service) update(r *rest.Request) error {
	var in Change
	if err := r.Read(maxBody, &in); err != nil {
		return err
	}
	id := r.PathValue("event_id")
	if _, err := s.find(r.Context(), r.Caller, id); err != nil {
		return err
	}
	fields := []string{}
	_, err := s.o.Telemetry.Amend(r.Context(), id, func(run *telemetry.Run) error {
		changed := *run
		var c checks
		given := in.apply(&changed, &c)
		if err := c.problem(); err != nil || !run.Posted || len(given) == 0 {
			return err
		}
		*run, fields = changed, given
		return nil
	})
	if err != nil {
		return err
	}
	return r.JSON(http.StatusOK, Updated{EventID: id, Updated: len(fields) > 0, Fields: fields})
}

func (s service) associate(r *rest.Request) error {
	var in CommitOf
	if err := r.Read(maxBody, &in); err != nil {
		return err
	}
	commit, err := in.commit()
	if err != nil {
		return err
	}
	id := r.PathValue("event_id")
	if _, err := s.find(r.Context(), r.Caller, id); err != nil {
		return err
	}
	run, err := s.o.Telemetry.Amend(r.Context(), id, func(run *telemetry.Run) error {
		run.SetCommit(commit)
		return nil
	})
	if err != nil {
		return err
	}
	return r.JSON(http.StatusOK, Associated{Status: "success", EventID: id, RunID: run.RunID, CommitHash: run.GitCommitHash})
}

// commit checks the body. What is wrong is a problem of status 400.
func (in CommitOf) commit() (telemetry.Commit, error) {
	var c checks
	c.commit("commit_hash", in.Hash, "commit_source", in.Source)
	out := telemetry.Commit{Hash: in.Hash, Source: in.Source, Author: in.Author}
	if in.Timestamp != "" {
		out.Time = c.time("commit_timestamp", &in.Timestamp)
	}
	err := c.problem()
	var p rest.Problem
	if errors.As(err, &p) {
		p.Status = http.StatusBadRequest
		err = p
	}
	return out, err
}
