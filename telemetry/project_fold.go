package telemetry

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gantry-run/gantry/runs"
)

// A runFold is what telemetry knows of one run: its records so far, and the
// spans and samples that its events gave and that wait to be emitted.
type runFold struct {
	t       *Telemetry
	run     runs.ID
	seq     int64
	created runs.Created
	ended   bool

	records map[string]*Record // by event id
	dirty   map[string]bool    // event ids of records to write
	items   map[string]*itemFold
	calls   map[string]string // command id → call id
	commits []Commit          // not yet noted at the records
	counts  runMetrics
	pending []emission
}

// itemFold is a work item under way.
type itemFold struct {
	start    time.Time
	worker   string
	attempts int
	failures []failedAttempt
}

type failedAttempt struct {
	at      time.Time
	attempt int
	code    string
}

// runMetrics is the metrics_json of a run.
type runMetrics struct {
	Artifacts int `json:"artifacts"`
	Gates     int `json:"gates"`
	Issues    int `json:"issues_opened"`
	Items     int `json:"items_finished"`
	Retries   int `json:"retries"`
}

// runContext is the context_json of a run and of its parts.
type runContext struct {
	CallID    string `json:"call_id,omitempty"`
	ErrorCode string `json:"error_code,omitempty"`
	Gate      string `json:"gate,omitempty"`
	Kind      string `json:"kind,omitempty"`
	Node      string `json:"node,omitempty"`
	SpanID    string `json:"span_id"`
	Tool      string `json:"tool,omitempty"`
	TraceID   string `json:"trace_id"`
	Worker    string `json:"worker,omitempty"`
	Workflow  string `json:"workflow,omitempty"`
	WorkItem  string `json:"work_item_id,omitempty"`
}

func newRunFold(t *Telemetry, run runs.ID) *runFold {
	return &runFold{t: t, run: run, records: map[string]*Record{}, dirty: map[string]bool{},
		items: map[string]*itemFold{}, calls: map[string]string{}}
}

func (f *runFold) apply(e runs.Event) {
	switch e.Type {
	case runs.RunCreated:
		f.create(e)
	case runs.WorkItemStarted, runs.WorkItemFinished, runs.WorkItemFailed:
		f.item(e)
	case runs.GateRunFinished:
		f.gate(e, payload[runs.GateRun](e))
	case runs.LLMCallFinished:
		f.modelAnswered(e, payload[runs.ModelAnswer](e))
	case runs.LLMCallFailed:
		f.modelFailed(e, payload[runs.ModelFailure](e))
	case runs.ArtifactWritten:
		f.counts.Artifacts++
	case runs.IssueOpened:
		f.counts.Issues++
	case runs.CommandReceived, runs.CommandFinished:
		f.command(e)
	case runs.CommitCreated, runs.PROpened:
		f.commit(e, payload[runs.Published](e))
	case runs.RunStateChanged:
		f.stateChanged(e, payload[runs.StateChange](e))
	case runs.ProcessEnded:
		f.emitOutput(e, payload[runs.Process](e))
	case runs.RunCompleted:
		f.end(e, StatusSuccess, runs.Failure{})
	case runs.RunFailed:
		f.end(e, StatusFailure, payload[runs.Failure](e))
	case runs.RunCancelled:
		f.end(e, StatusCancelled, runs.Failure{})
	}
}

// put files a record of the run, its texts cleaned, to be written.
func (f *runFold) put(r Record, ctx any, metrics any) *Record {
	r.AgentName = agentName
	r.Product = f.t.clean(f.created.Labels["product_slug"], maxName)
	r.ErrorSummary = f.t.clean(r.ErrorSummary, maxSummary)
	r.OutputSummary = f.t.clean(r.OutputSummary, maxSummary)
	r.Context = f.t.redact.CleanJSON(mustJSON(ctx))
	if metrics != nil {
		r.Metrics = mustJSON(metrics)
	}
	f.records[r.EventID] = &r
	f.dirty[r.EventID] = true
	return &r
}

// part returns the record of a part of the run.
func (f *runFold) part(job JobType, key string, start, end time.Time, status Status) Record {
	key = strings.TrimPrefix(key, string(f.run)+"/")
	id := string(f.run) + "-" + string(job) + "-" + key
	r := Record{EventID: id, RunID: id, ParentRunID: string(f.run), JobType: job, StartTime: start, Status: status}
	if status != StatusRunning {
		r.EndTime, r.DurationMS = &end, end.Sub(start).Milliseconds()
	}
	return r
}

func (f *runFold) create(e runs.Event) {
	f.created = payload[runs.Created](e)
	f.created.Input, f.created.Workflow.Nodes = nil, nil // not needed again
	f.putRun(e.TS, time.Time{}, StatusRunning, runs.Failure{})
	if f.created.CallID != "" {
		f.rebuild(f.created.CallID, f.created.Tool, e.TS, StatusSuccess, "")
	}
}

func (f *runFold) putRun(start, end time.Time, status Status, failure runs.Failure) *Record {
	job := JobWorker
	if f.created.Kind == runs.Launch {
		job = JobLaunch
	}
	r := Record{EventID: string(f.run), RunID: string(f.run), JobType: job, StartTime: start, Status: status}
	if status != StatusRunning {
		r.EndTime, r.DurationMS = &end, end.Sub(start).Milliseconds()
	}
	if failure.Code != "" {
		r.ErrorSummary = failure.Code + ": " + failure.Message
	}
	return f.put(r, runContext{CallID: f.created.CallID, ErrorCode: failure.Code, Kind: string(f.created.Kind), Node: failure.Node,
		SpanID: f.run.SpanID(""), Tool: f.created.Tool, TraceID: f.run.TraceID(), Workflow: f.created.Workflow.Name}, f.counts)
}

// end closes the run, and the work items and commands that it leaves unfinished.
func (f *runFold) end(e runs.Event, status Status, failure runs.Failure) {
	for _, id := range slices.Sorted(maps.Keys(f.items)) {
		f.closeItem(e, id, StatusCancelled, itemEnd{})
	}
	for _, id := range slices.Sorted(maps.Keys(f.calls)) {
		f.settleCall(f.calls[id], StatusPartial, "") // nobody will answer it
	}
	start := e.TS
	if r := f.records[string(f.run)]; r != nil {
		start = r.StartTime
	}
	f.putRun(start, e.TS, status, failure)
	f.ended = true
	f.emitRun(e, start, status, failure)
	f.emitFlush(e)
}

// command rebuilds the record of the call that sent a command, once it is settled.
func (f *runFold) command(e runs.Event) {
	if e.Type == runs.CommandReceived {
		c := payload[runs.Command](e)
		if c.CallID != "" {
			f.calls[c.ID] = c.CallID
			f.rebuild(c.CallID, c.Tool, e.TS, StatusRunning, "")
		}
		return
	}
	receipt := payload[runs.Receipt](e)
	call := f.calls[receipt.CommandID]
	delete(f.calls, receipt.CommandID)
	status, code := StatusSuccess, ""
	if receipt.Status == runs.Refused {
		status = StatusFailure
		if receipt.Failure != nil {
			code = receipt.Failure.Code
		}
	}
	f.settleCall(call, status, code)
}

// settleCall closes the rebuilt record of a call, if there is one.
func (f *runFold) settleCall(call string, status Status, code string) {
	old := f.records[call]
	if old == nil {
		return
	}
	var known callContext
	_ = json.Unmarshal(old.Context, &known) // written by rebuild
	f.rebuild(call, known.Tool, old.StartTime, status, code)
}

// rebuild makes the record of a call from what the journal says of it. A record
// that the call itself wrote is left alone by the store.
func (f *runFold) rebuild(call, tool string, at time.Time, status Status, code string) {
	ctx := callContext{Method: "tools/call", Tool: f.t.clean(tool, maxName), Rebuilt: true, ErrorCode: code}
	if parts := strings.Split(call, "-"); len(parts) == 3 {
		ctx.TraceID, ctx.SpanID = parts[1], parts[2]
	}
	r := Record{EventID: call, RunID: string(f.run), JobType: JobCall, StartTime: at, Status: status, rebuilt: true, ErrorSummary: code}
	if status != StatusRunning {
		r.EndTime = &at
	}
	if status == StatusFailure {
		ctx.Events = []callEvent{{code, EventToolFailed, ctx.Tool, at}}
	}
	f.put(r, ctx, nil)
}

// changed returns the records of the run and its parts to write; rebuilt those of calls.
func (f *runFold) changed() []Record { return f.toWrite(false) }
func (f *runFold) rebuilt() []Record { return f.toWrite(true) }

func (f *runFold) toWrite(rebuilt bool) []Record {
	var out []Record
	for _, id := range slices.Sorted(maps.Keys(f.dirty)) {
		if r := f.records[id]; r.rebuilt == rebuilt {
			out = append(out, *r)
		}
	}
	return out
}

// settle forgets the records that are written and will not change.
func (f *runFold) settle() {
	clear(f.dirty)
	f.commits = nil
	maps.DeleteFunc(f.records, func(_ string, r *Record) bool { return r.Status != StatusRunning })
}
