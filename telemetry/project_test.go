package telemetry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/runs"
)

// A story is a journal under construction: one event a second.
type story struct {
	t      testing.TB
	run    runs.ID
	events []runs.Event
}

var storyStart = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

func (s *story) add(kind runs.EventType, item string, payload any) {
	s.t.Helper()
	e, err := runs.NewEvent(s.run, runs.Draft{Type: kind, Payload: payload, Span: item}, storyStart.Add(time.Duration(len(s.events))*time.Second))
	if err != nil {
		s.t.Fatal(err)
	}
	e.Seq = int64(len(s.events) + 1)
	s.events = append(s.events, e)
}

func (s *story) after(seq int64) iter.Seq2[runs.Event, error] {
	return func(yield func(runs.Event, error) bool) {
		for _, e := range s.events[seq:] {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func (s *story) item(node string) string { return string(s.run) + "/" + node + ".1.main" }

// launchStory is a launch that retries a node, fails a gate, is sent two commands
// and fails while another node is at work.
func launchStory(t testing.TB, callIDs ...string) *story {
	s := &story{t: t, run: "r_20261120T100000Z_abcdefghijkl"}
	id := func(i int) string {
		if i < len(callIDs) {
			return callIDs[i]
		}
		return ""
	}
	secret := "known-secret-value in /srv/site/a.md"
	s.add(runs.RunCreated, "", runs.Created{Kind: runs.Launch, Workflow: runs.Workflow{Name: "launch"}, CallID: id(0), Tool: "launch_run",
		Labels: map[string]string{"product_slug": "widgets"}, Input: json.RawMessage(`{"token":"known-secret-value"}`)})
	s.add(runs.WorkItemStarted, s.item("clone"), runs.ItemStarted{WorkItemID: s.item("clone"), Worker: "W1", Attempt: 1})
	s.add(runs.WorkItemFailed, s.item("clone"), runs.ItemFailed{WorkItemID: s.item("clone"), Worker: "W1", Attempt: 1, DurationMS: 900,
		Failure: runs.Failure{Code: string(fault.CloneFailed), Message: secret, Retryable: true}})
	s.add(runs.WorkItemStarted, s.item("clone"), runs.ItemStarted{WorkItemID: s.item("clone"), Worker: "W1", Attempt: 2})
	s.add(runs.WorkItemFinished, s.item("clone"), runs.ItemFinished{WorkItemID: s.item("clone"), Worker: "W1", Attempt: 2, Outcome: "ok", DurationMS: 800})
	s.add(runs.ArtifactWritten, s.item("clone"), runs.Artifact{Name: "repo_inventory"})
	s.add(runs.WorkItemFinished, s.item("plan"), runs.ItemFinished{WorkItemID: s.item("plan"), Worker: "W4", Attempt: 1, DurationMS: 250}) // its start was lost
	s.add(runs.GateRunFinished, s.item("validate"), runs.GateRun{Gate: "G1", OK: true, DurationMS: 100})
	s.add(runs.GateRunFinished, s.item("validate"), runs.GateRun{Gate: "G2-" + secret, Issues: 2, DurationMS: 100})
	s.add(runs.CommandReceived, "", runs.Command{ID: "c1", Type: "fix", CallID: id(1), Tool: "launch_fix_next"})
	s.add(runs.CommandFinished, "", runs.Receipt{CommandID: "c1", Status: runs.Refused, Failure: &runs.Failure{Code: string(fault.IllegalState)}})
	s.add(runs.CommandReceived, "", runs.Command{ID: "c2", Type: "cancel", CallID: id(2), Tool: "launch_cancel"})
	s.add(runs.CommitCreated, "", runs.Published{Branch: "gantry/x", CommitSHA: "6700066aa1b2c3d4e5f60718293a4b5c6d7e8f90"})
	s.add(runs.WorkItemStarted, s.item("pr"), runs.ItemStarted{WorkItemID: s.item("pr"), Worker: "W9", Attempt: 1})
	s.add("SOMETHING_NEWER", "", map[string]int{"x": 1})
	s.add(runs.RunFailed, "", runs.Failure{Code: string(fault.PublishFailed), Message: secret, Node: "pr"})
	return s
}

// sessionStory is a conversation of one turn, whose process ends.
func sessionStory(t testing.TB) *story {
	s := &story{t: t, run: "r_20261120T100000Z_turnturnturn"}
	s.add(runs.RunCreated, "", runs.Created{Kind: runs.Session})
	s.add(runs.WorkItemStarted, s.item("turn"), runs.ItemStarted{WorkItemID: s.item("turn"), Worker: "turn", Attempt: 1})
	s.add(runs.ProcessEnded, s.item("turn"), runs.Process{Key: "k", State: "exited", OutputBytes: 1234})
	s.add(runs.WorkItemFinished, s.item("turn"), runs.ItemFinished{WorkItemID: s.item("turn"), Worker: "turn", Attempt: 1,
		Data: json.RawMessage(`{"executor":"CODEX","summary":{"usage":{"input_tokens":100,"cached_input_tokens":60,"output_tokens":7}}}`)})
	return s
}

func TestTokensAndOutputAreCountedFromTheJournal(t *testing.T) {
	r := newRig(t, nil)
	s := sessionStory(t)
	r.project(s, 0, 4)
	r.project(s, 0, 4)
	want := map[string]int64{"gantry.executor=CODEX gen_ai.token.type=input": 100, "gantry.executor=CODEX gen_ai.token.type=output": 7}
	if got := r.points("gantry.agent.tokens"); !maps.Equal(got, want) {
		t.Errorf("%v", got)
	}
	if got := r.points("gantry.process.output.bytes"); !maps.Equal(got, map[string]int64{"gantry.run.kind=session": 1234}) {
		t.Errorf("%v", got)
	}
}

func (r *rig) project(s *story, from, to int64) {
	r.t.Helper()
	part := *s
	part.events = s.events[:to]
	if err := r.Project(r.t.Context(), s.run, part.after(from)); err != nil {
		r.t.Fatal(err)
	}
}

func byEventID(p Page) map[string]Record {
	got := map[string]Record{}
	for _, r := range p.Records {
		got[r.EventID] = r
	}
	return got
}

func TestAJournalBecomesRecords(t *testing.T) {
	r := newRig(t, nil)
	s := launchStory(t)
	r.project(s, 0, 16)
	p := r.page(Query{RunID: string(s.run)})
	want := map[string]int{"launch": 1, "orchestrator_node": 3, "gate": 2, "commit_service": 1}
	if !maps.Equal(p.Summary.ByJobType, want) {
		t.Fatalf("%v", p.Summary)
	}
	got := byEventID(p)
	run := got[string(s.run)]
	if run.Status != StatusFailure || run.DurationMS != 15_000 || run.Product != "widgets" || !strings.HasPrefix(run.ErrorSummary, "PR_MANAGER_PUBLISH_FAILED: [REDACTED:secret] in a.md") ||
		string(run.Metrics) != `{"artifacts":1,"gates":2,"issues_opened":0,"items_finished":2,"retries":1}` {
		t.Errorf("run %+v %s", run, run.Metrics)
	}
	for key, check := range map[string]Record{
		"clone.1.main": {Status: StatusSuccess, DurationMS: 3000, StartTime: storyStart.Add(time.Second)},
		"plan.1.main":  {Status: StatusSuccess, DurationMS: 250, StartTime: storyStart.Add(5750 * time.Millisecond)},
		"pr.1.main":    {Status: StatusCancelled, DurationMS: 2000, StartTime: storyStart.Add(13 * time.Second)},
	} {
		n := got[string(s.run)+"-orchestrator_node-"+key]
		if n.Status != check.Status || n.DurationMS != check.DurationMS || !n.StartTime.Equal(check.StartTime) || n.ParentRunID != string(s.run) {
			t.Errorf("%s: %+v", key, n)
		}
		var c runContext
		if err := json.Unmarshal(n.Context, &c); err != nil || c.TraceID != s.run.TraceID() || c.SpanID != s.run.SpanID(string(s.run)+"/"+key) || c.Worker == "" {
			t.Errorf("%s: %s %v", key, n.Context, err)
		}
	}
	if all := r.everything(); strings.Contains(all, "known-secret-value") || strings.Contains(all, "/srv/site") {
		t.Error(all)
	}
}

func TestARunUnderWayIsRunning(t *testing.T) {
	r := newRig(t, nil)
	s := launchStory(t)
	r.project(s, 0, 4)
	p := r.page(Query{RunID: string(s.run)})
	if p.Summary.ByStatus["running"] != 2 || p.Summary.Total != 2 || len(r.spans.Ended()) != 0 {
		t.Errorf("%+v", p.Summary)
	}
	r.project(s, r.Projected(s.run), 16)
	if r.Projected(s.run) != 0 || r.page(Query{RunID: string(s.run)}).Summary.ByStatus["running"] != 0 {
		t.Error("something still runs")
	}
}

// A journal gives the same spans wherever and however often it is read: read whole, or
// in two halves by processes of which the first died.
func TestAReplayMakesTheSameSpans(t *testing.T) {
	s := launchStory(t)
	whole, first := newRig(t, nil), newRig(t, nil)
	second := newRig(t, func(o *Options) { o.DBPath = first.opts.DBPath })
	whole.project(s, 0, 16)
	first.project(s, 0, 8)
	second.project(s, 0, 16)
	describe := func(rigs ...*rig) (out []string) {
		for _, r := range rigs {
			for _, span := range r.spans.Ended() {
				out = append(out, fmt.Sprint(span.Name(), span.SpanContext().TraceID(), span.SpanContext().SpanID(), span.Parent().SpanID(),
					span.StartTime(), span.EndTime(), span.Attributes(), span.Events(), span.Status()))
			}
		}
		slices.Sort(out)
		return out
	}
	if a, b := describe(whole), describe(first, second); !slices.Equal(a, b) || len(a) != 4 {
		t.Errorf("%q\n%q", a, b)
	}
}

func TestSpansOfARunHaveItsTimesAndIds(t *testing.T) {
	r := newRig(t, nil)
	_, call := r.StartCall(t.Context(), CallStart{Toolset: "launch", Tool: "launch_run"})
	s := launchStory(t, call.ID())
	r.project(s, 0, 16)
	spans := map[string]sdktrace.ReadOnlySpan{}
	for _, span := range r.spans.Ended() {
		if span.SpanContext().TraceID().String() != s.run.TraceID() {
			t.Errorf("%s has trace %v", span.Name(), span.SpanContext().TraceID())
		}
		spans[span.Name()] = span
	}
	if names := slices.Sorted(maps.Keys(spans)); !slices.Equal(names, []string{"RUN launch", "clone", "plan", "pr"}) || len(r.spans.Ended()) != 4 {
		t.Fatalf("spans %v", names)
	}
	run, clone := spans["RUN launch"], spans["clone"]
	if run.SpanContext().SpanID().String() != s.run.SpanID("") || run.Parent().IsValid() || !run.StartTime().Equal(storyStart) ||
		!run.EndTime().Equal(storyStart.Add(15*time.Second)) || run.Status().Code != codes.Error {
		t.Errorf("run span %+v", run)
	}
	if len(run.Links()) != 1 || run.Links()[0].SpanContext.SpanID().String() != call.SpanID() {
		t.Errorf("links %v", run.Links())
	}
	if clone.SpanContext().SpanID().String() != s.run.SpanID(s.item("clone")) || clone.Parent().SpanID() != run.SpanContext().SpanID() || len(clone.Events()) != 1 {
		t.Errorf("node span %+v", clone)
	}
	a := attrs(run)
	if a["cicd.pipeline.name"] != "launch" || a["cicd.pipeline.run.id"] != string(s.run) || a["cicd.pipeline.result"] != "failure" || a["error.type"] != "PR_MANAGER_PUBLISH_FAILED" {
		t.Errorf("%v", a)
	}
	call.End(CallEnd{Outcome: Success})
}

func TestMetricsOfARun(t *testing.T) {
	r := newRig(t, nil)
	s := launchStory(t)
	r.project(s, 0, 16)
	for name, want := range map[string]map[string]int64{
		"gantry.gate.results":        {"gantry.gate=G1 gantry.result=ok": 1, "gantry.gate=_OTHER gantry.result=failed": 1},
		"cicd.pipeline.run.errors":   {"cicd.pipeline.name=launch error.type=PR_MANAGER_PUBLISH_FAILED": 1},
		"cicd.pipeline.run.duration": {"cicd.pipeline.name=launch cicd.pipeline.result=failure cicd.pipeline.run.state=executing error.type=PR_MANAGER_PUBLISH_FAILED": 1},
	} {
		if got := r.points(name); !maps.Equal(got, want) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// However a journal is read, in pieces, twice, by two processes, it gives the same.
func TestProjectingTwiceAddsNothing(t *testing.T) {
	s := launchStory(t, "call-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331")
	whole := newRig(t, nil)
	whole.project(s, 0, 16)
	want, err := json.Marshal(whole.page(Query{RunID: string(s.run)}))
	if err != nil {
		t.Fatal(err)
	}
	for cut := int64(1); cut <= 16; cut++ {
		first := newRig(t, nil)
		first.project(s, 0, cut)
		first.project(s, first.Projected(s.run), 16)
		first.project(s, 0, 16)
		second := newRig(t, func(o *Options) { o.DBPath = first.opts.DBPath })
		second.project(s, 0, 16)
		got, err := json.Marshal(second.page(Query{RunID: string(s.run)}))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(want) {
			t.Errorf("cut at %d\n got %s\nwant %s", cut, got, want)
		}
		if len(first.spans.Ended()) != 4 || len(second.spans.Ended()) != 0 || total(first.points("gantry.gate.results")) != 2 || len(second.points("gantry.gate.results")) != 0 {
			t.Errorf("cut at %d: %d and %d spans", cut, len(first.spans.Ended()), len(second.spans.Ended()))
		}
	}
}

// A process dies half-way; the next one reads the journal from its beginning.
func TestAnotherProcessGoesOn(t *testing.T) {
	s := launchStory(t)
	first := newRig(t, nil)
	first.project(s, 0, 8)
	second := newRig(t, func(o *Options) { o.DBPath = first.opts.DBPath })
	second.project(s, 0, 16)
	if a, b := total(first.points("gantry.gate.results")), total(second.points("gantry.gate.results")); a != 1 || b != 1 {
		t.Errorf("gate results %d and %d", a, b)
	}
	if a, b := len(first.spans.Ended()), len(second.spans.Ended()); a != 2 || b != 2 {
		t.Errorf("spans %d and %d", a, b)
	}
}

func TestLostCallRecordsAreRebuilt(t *testing.T) {
	ids := []string{"call-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331", "call-1af7651916cd43dd8448eb211c80319c-b7ad6b7169203331", "call-2af7651916cd43dd8448eb211c80319c-b7ad6b7169203331"}
	r := newRig(t, nil)
	r.project(launchStory(t, ids...), 0, 16)
	got := byEventID(r.page(Query{RunID: "r_20261120T100000Z_abcdefghijkl"}))
	for i, want := range []Record{{Status: StatusSuccess}, {Status: StatusFailure, ErrorSummary: "ILLEGAL_STATE"}, {Status: StatusPartial}} {
		rec := got[ids[i]]
		if rec.JobType != JobCall || rec.Status != want.Status || rec.ErrorSummary != want.ErrorSummary || !strings.Contains(string(rec.Context), `"rebuilt":true`) {
			t.Errorf("%d: %+v %s", i, rec, rec.Context)
		}
	}
}

func TestACallsOwnRecordBeatsTheRebuiltOne(t *testing.T) {
	for _, callFirst := range []bool{true, false} {
		r := newRig(t, nil)
		_, call := r.StartCall(t.Context(), CallStart{Toolset: "launch", Tool: "launch_run", Client: "cli"})
		s := launchStory(t, call.ID())
		call.SetRun(string(s.run))
		end := func() {
			call.End(CallEnd{Outcome: Success, Summary: "started"})
			if err := r.queue.flush(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if callFirst {
			end()
		}
		r.project(s, 0, 16)
		if !callFirst {
			end()
		}
		rec := byEventID(r.page(Query{RunID: string(s.run)}))[call.ID()]
		if rec.OutputSummary != "started" || strings.Contains(string(rec.Context), "rebuilt") {
			t.Errorf("call first %v: %+v %s", callFirst, rec, rec.Context)
		}
	}
}

func TestAGapOrAForeignEventIsRefused(t *testing.T) {
	r := newRig(t, nil)
	s := launchStory(t)
	if err := r.Project(t.Context(), s.run, s.after(1)); !fault.Is(err, fault.EventChainBroken) {
		t.Error(err)
	}
	if err := r.Project(t.Context(), "r_somebody_else", s.after(0)); !fault.Is(err, fault.EventChainBroken) {
		t.Error(err)
	}
	failing := errors.New("disk")
	err := r.Project(t.Context(), s.run, func(yield func(runs.Event, error) bool) {
		_ = yield(s.events[0], nil) && yield(runs.Event{}, failing)
	})
	if !errors.Is(err, failing) || r.Projected(s.run) != 1 {
		t.Errorf("%v, projected %d", err, r.Projected(s.run))
	}
}

// What the store refused is written by the next projection.
func TestAProjectionThatFailedIsTriedAgain(t *testing.T) {
	r := newRig(t, nil)
	s := launchStory(t)
	r.project(s, 0, 4)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Project(ctx, s.run, s.after(4)); err == nil {
		t.Fatal("no error")
	}
	r.project(s, r.Projected(s.run), 16)
	if p := r.page(Query{RunID: string(s.run)}); p.Summary.Total != 7 || p.Summary.ByStatus["running"] != 0 || len(r.spans.Ended()) != 4 {
		t.Errorf("%+v, %d spans", p.Summary, len(r.spans.Ended()))
	}
}

func TestProjectWithoutAStore(t *testing.T) {
	r := newRig(t, func(o *Options) { o.DBPath = "" })
	s := launchStory(t)
	r.project(s, 0, 16)
	r.project(s, 0, 16)
	if len(r.spans.Ended()) != 4 || total(r.points("gantry.gate.results")) != 2 {
		t.Errorf("%d spans", len(r.spans.Ended()))
	}
}

func TestNothingIsWrittenBesideTheStore(t *testing.T) {
	r := newRig(t, nil)
	r.project(launchStory(t), 0, 16)
	entries, err := os.ReadDir(filepath.Dir(r.opts.DBPath))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "telemetry.db") {
			t.Error(e.Name())
		}
	}
}
