package telemetry

import (
	"context"
	"strings"
	"time"

	"github.com/gantry-run/gantry/runs"
)

// itemEnd is what a work item's last event says.
type itemEnd struct {
	outcome string
	failure runs.Failure
}

// nodeMetrics is the metrics_json of a work item.
type nodeMetrics struct {
	Attempts int `json:"attempts"`
}

func (f *runFold) item(e runs.Event) {
	switch e.Type {
	case runs.WorkItemStarted:
		p := payload[runs.ItemStarted](e)
		f.putItem(p.WorkItemID, f.itemAt(p.WorkItemID, p.Worker, p.Attempt, e.TS), e.TS, StatusRunning, itemEnd{})
	case runs.WorkItemFinished:
		p := payload[runs.ItemFinished](e)
		f.counts.Items++
		f.itemAt(p.WorkItemID, p.Worker, p.Attempt, before(e.TS, p.DurationMS))
		f.closeItem(e, p.WorkItemID, StatusSuccess, itemEnd{outcome: p.Outcome})
		f.emitTokens(e, p.Data)
	case runs.WorkItemFailed:
		p := payload[runs.ItemFailed](e)
		it := f.itemAt(p.WorkItemID, p.Worker, p.Attempt, before(e.TS, p.DurationMS))
		it.failures = append(it.failures, failedAttempt{e.TS, p.Attempt, p.Code})
		if !p.Final {
			f.counts.Retries++
			return
		}
		status := StatusFailure
		if strings.HasSuffix(p.Code, "TIMEOUT") {
			status = StatusTimeout
		}
		f.closeItem(e, p.WorkItemID, status, itemEnd{failure: p.Failure})
	}
}

// itemAt returns the work item's fold; one whose start the journal lost (progress
// is not synced) starts at the given time.
func (f *runFold) itemAt(id, worker string, attempt int, start time.Time) *itemFold {
	it := f.items[id]
	if it == nil {
		it = &itemFold{start: start}
		f.items[id] = it
	}
	it.worker, it.attempts = worker, max(it.attempts, attempt)
	return it
}

func before(t time.Time, ms int64) time.Time { return t.Add(-time.Duration(ms) * time.Millisecond) }

func (f *runFold) closeItem(e runs.Event, id string, status Status, end itemEnd) {
	it := f.items[id]
	delete(f.items, id)
	f.putItem(id, it, e.TS, status, end)
	f.emitItem(e, id, it, status, end)
}

func (f *runFold) putItem(id string, it *itemFold, end time.Time, status Status, last itemEnd) {
	r := f.part(JobNode, id, it.start, end, status)
	r.OutputSummary = last.outcome
	if last.failure.Code != "" {
		r.ErrorSummary = last.failure.Code + ": " + last.failure.Message
	}
	f.put(r, runContext{ErrorCode: last.failure.Code, Node: nodeOf(id), SpanID: f.run.SpanID(id), TraceID: f.run.TraceID(),
		Worker: it.worker, WorkItem: id}, nodeMetrics{it.attempts})
}

// nodeOf returns the node's name in "<run>/<node>.<visit>.<item>".
func nodeOf(workItem string) string {
	_, rest, _ := strings.Cut(workItem, "/")
	node, _, _ := strings.Cut(rest, ".")
	return node
}

// gateMetrics is the metrics_json of a gate run.
type gateMetrics struct {
	Issues int `json:"issues"`
}

func (f *runFold) gate(e runs.Event, p runs.GateRun) {
	f.counts.Gates++
	status, result := StatusFailure, "failed"
	switch {
	case p.Skipped != "":
		status, result = StatusPartial, "skipped"
	case p.OK:
		status, result = StatusSuccess, "ok"
	}
	r := f.part(JobGate, e.EventID, before(e.TS, p.DurationMS), e.TS, status)
	r.OutputSummary = result
	if p.Skipped != "" {
		r.OutputSummary += ": " + p.Skipped
	}
	f.put(r, runContext{Gate: p.Gate, SpanID: e.SpanID, TraceID: e.TraceID}, gateMetrics{p.Issues})
	f.emitGate(e, p.Gate, result)
}

func (f *runFold) commit(e runs.Event, p runs.Published) {
	r := f.part(JobCommit, e.EventID, e.TS, e.TS, StatusSuccess)
	r.OutputSummary = strings.TrimSpace(p.Branch + " " + p.CommitSHA + " " + p.URL)
	f.put(r, runContext{SpanID: e.SpanID, TraceID: e.TraceID}, nil)
	if e.Type == runs.CommitCreated && p.CommitSHA != "" {
		f.commits = append(f.commits, Commit{Hash: p.CommitSHA, Source: commitSource, Author: agentName, Time: e.TS})
	}
}

func (f *runFold) stateChanged(e runs.Event, p runs.StateChange) {
	if p.NewState.Stable() {
		f.emitFlush(e)
	}
}

// emitFlush takes the run's rest as the moment to deliver what was left undelivered.
func (f *runFold) emitFlush(e runs.Event) {
	f.pending = append(f.pending, emission{e.Seq, e.TS, withRecords, func(context.Context) { f.t.forward.Flush() }})
}
