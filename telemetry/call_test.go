package telemetry

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/gantry-run/gantry/internal/fault"
)

func TestEveryCallLeavesOneOfEach(t *testing.T) {
	for _, c := range []struct {
		name      string
		end       CallEnd
		reject    string
		event     string
		errorType string
		level     string
	}{
		{"success", CallEnd{Outcome: Success, Summary: "120 lines"}, "", "", "", "INFO"},
		{"tool error", CallEnd{Outcome: Failure, ToolError: true, Code: fault.ArtifactNotFound}, "", EventToolFailed, "tool_error", "WARN"},
		{"rpc error", CallEnd{Outcome: Failure, RPCCode: -32603, Code: fault.RunLocked, Detail: "its cause"}, "lock", EventToolFailed, "-32603", "WARN"},
		{"client's fault", CallEnd{Outcome: Failure, RPCCode: -32602, Code: fault.InvalidInput}, "schema", EventToolFailed, "", "WARN"},
		{"unreadable", CallEnd{Outcome: Failure, RPCCode: -32700, Code: fault.InvalidInput}, "arguments", EventToolFailed, "", "WARN"},
		{"timeout", CallEnd{Outcome: Timeout, RPCCode: -32603, Code: fault.ToolTimeout}, "", EventToolTimeout, "-32603", "WARN"},
		{"cancelled", CallEnd{Outcome: Cancelled}, "", "", "cancelled", "WARN"},
		{"panic", CallEnd{Outcome: Failure, RPCCode: -32603, Code: fault.Internal, Detail: "boom\ngoroutine 1"}, "panic", EventToolFailed, "-32603", "ERROR"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, nil)
			_, call := r.StartCall(t.Context(), CallStart{Toolset: "worktree", Tool: "read_file", RequestID: "7", Client: "cli", Transport: "pipe"})
			call.SetRun("r_12345678")
			if c.reject != "" {
				call.Rejected(c.reject)
			} else {
				call.GuardDone(time.Millisecond)
			}
			call.End(c.end)
			call.End(c.end)
			call.Rejected("limit")
			call.SetRun("r_87654321")

			spans := r.spans.Ended()
			if len(spans) != 1 {
				t.Fatalf("%d spans", len(spans))
			}
			s := spans[0]
			if s.Name() != "tools/call read_file" || s.SpanKind() != trace.SpanKindServer || s.Parent().IsValid() {
				t.Errorf("span %q %v parent %v", s.Name(), s.SpanKind(), s.Parent())
			}
			if got := attrs(s)["error.type"]; got != c.errorType || (s.Status().Code == codes.Error) != (got != "") {
				t.Errorf("error.type %q, status %v", got, s.Status())
			}
			events := s.Events()
			if (c.event == "") != (len(events) == 0) || c.event != "" && events[0].Name != c.event {
				t.Errorf("span events %v", events)
			}
			for _, name := range []string{"mcp.server.operation.duration", "gantry.guard.duration", "gantry.tool.calls"} {
				if n := total(r.points(name)); n != 1 {
					t.Errorf("%s has %d samples", name, n)
				}
			}
			want := map[string]int64{}
			if c.reject != "" {
				want["gantry.reason="+c.reject] = 1
			}
			if got := r.points("gantry.guard.rejections"); !maps.Equal(got, want) {
				t.Errorf("rejections %v", got)
			}
			records := r.page(Query{RunID: "r_12345678"}).Records
			if len(records) != 1 || records[0].EventID != call.ID() || records[0].JobType != JobCall || string(records[0].Status) != string(c.end.Outcome) {
				t.Fatalf("records %+v", records)
			}
			var ctx callContext
			if err := json.Unmarshal(records[0].Context, &ctx); err != nil {
				t.Fatal(err)
			}
			if ctx.TraceID != s.SpanContext().TraceID().String() || ctx.SpanID != s.SpanContext().SpanID().String() || ctx.RequestID != "7" || ctx.Client != "cli" {
				t.Errorf("context %s", records[0].Context)
			}
			if c.event != "" && (len(ctx.Events) != 1 || ctx.Events[0].Name != c.event || ctx.Events[0].Tool != "read_file" || ctx.Events[0].ErrorCode != string(c.end.Code)) {
				t.Errorf("record events %+v", ctx.Events)
			}
			lines := r.logLines()
			if len(lines) != 1 || !strings.Contains(lines[0], `"level":"`+c.level+`"`) || !strings.Contains(lines[0], `"trace_id":"`+call.TraceID()) {
				t.Errorf("log %q", lines)
			}
			if strings.Contains(string(records[0].Context), "goroutine") || strings.Contains(fmt.Sprint(s), "goroutine") {
				t.Error("the stack left the log")
			}
		})
	}
}

func TestACallWithoutRunIsItsOwn(t *testing.T) {
	r := newRig(t, nil)
	_, call := r.StartCall(t.Context(), CallStart{Toolset: "worktree", Tool: "read_file"})
	call.SetRun("../../etc")
	call.End(CallEnd{Outcome: Success})
	if got := r.page(Query{}).Records; len(got) != 1 || got[0].RunID != call.ID() {
		t.Errorf("%+v", got)
	}
}

func TestParentComesFromTheCaller(t *testing.T) {
	const traceID, spanID = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	r := newRig(t, nil)
	httpCtx, httpSpan := r.tracer.Start(t.Context(), "POST")
	for _, c := range []struct {
		traceparent string
		child       bool
	}{
		{"00-" + traceID + "-" + spanID + "-01", true},
		{"", false}, {"garbage", false}, {"00-" + strings.Repeat("0", 32) + "-" + spanID + "-01", false},
		{"ff-" + traceID + "-" + spanID + "-01", false}, {"00-" + strings.ToUpper(traceID) + "-" + spanID + "-01", false},
		{strings.Repeat("0", 1<<16), false},
	} {
		_, call := r.StartCall(httpCtx, CallStart{Toolset: "worktree", Tool: "read_file", Traceparent: c.traceparent, Tracestate: strings.Repeat("a=b,", 1000)})
		call.End(CallEnd{Outcome: Success})
		ended := r.spans.Ended()
		s := ended[len(ended)-1]
		if c.child != (s.Parent().SpanID().String() == spanID && call.TraceID() == traceID) || !c.child && s.Parent().IsValid() {
			t.Errorf("%q: parent %v", c.traceparent, s.Parent())
		}
		if len(s.Links()) != 1 || s.Links()[0].SpanContext.SpanID() != httpSpan.SpanContext().SpanID() {
			t.Errorf("%q: links %v", c.traceparent, s.Links())
		}
		if want := "00-" + call.TraceID() + "-" + call.SpanID() + "-01"; call.TraceParent() != want {
			t.Errorf("TraceParent %q, want %q", call.TraceParent(), want)
		}
	}
}

func TestTheRequestThatBroughtACallIsALink(t *testing.T) {
	r := newRig(t, nil)
	const traceID, spanID = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	for _, link := range []string{"00-" + traceID + "-" + spanID + "-01", "garbage"} {
		_, call := r.StartCall(t.Context(), CallStart{Toolset: "worktree", Tool: "read_file", Link: link})
		call.End(CallEnd{Outcome: Success})
	}
	spans := r.spans.Ended()
	if l := spans[0].Links(); len(l) != 1 || l[0].SpanContext.SpanID().String() != spanID || spans[0].SpanContext().TraceID().String() == traceID {
		t.Errorf("links %v", l)
	}
	if l := spans[1].Links(); len(l) != 0 {
		t.Errorf("links of garbage %v", l)
	}
}

func TestAClientCannotForceSampling(t *testing.T) {
	r := newRig(t, func(o *Options) { o.SampleRatio = 1e-9 })
	for i := range 100 {
		_, call := r.StartCall(t.Context(), CallStart{Toolset: "worktree", Tool: "read_file",
			Traceparent: fmt.Sprintf("00-%032x-b7ad6b7169203331-01", i+1)})
		call.End(CallEnd{Outcome: Success})
	}
	if n := len(r.spans.Ended()); n != 0 {
		t.Errorf("%d spans were exported", n)
	}
	if p := r.page(Query{}); p.Summary.Total != 100 || total(r.points("gantry.tool.calls")) != 100 {
		t.Errorf("records %d", p.Summary.Total)
	}
}

func TestNoSecretLeaves(t *testing.T) {
	secrets := []string{"known-secret-value", ghToken, awsID, openAI, webToken, "hunter2222"}
	dirty := strings.Join(secrets[:5], " ") + " password=hunter2222 \x1b[31m \u009b0m \u202e /srv/site/a.md https://bob:hunter2222@h/"
	r := newRig(t, func(o *Options) { o.SpanArguments = true })
	_, call := r.StartCall(t.Context(), CallStart{Method: dirty, Toolset: dirty, Tool: dirty, RequestID: dirty, ProtocolVersion: dirty,
		SessionID: dirty, Transport: dirty, Client: dirty, Tracestate: dirty, Arguments: mustJSON(map[string]any{dirty: dirty, "password": "x1"})})
	call.Rejected(dirty)
	call.End(CallEnd{Outcome: Failure, Code: fault.Code(dirty), Summary: dirty, Detail: dirty})
	all := r.everything()
	for _, s := range append(secrets, "\x1b", `\u001b`, "\u009b", "\u202e", "/srv/site", "x1\"") {
		if strings.Contains(all, s) {
			t.Errorf("%q left in:\n%s", s, all)
		}
	}
	if !strings.Contains(all, "[REDACTED:secret]") || !strings.Contains(all, "[REDACTED:github_token]") {
		t.Error("nothing was masked")
	}
}

func TestHostileNamesMakeNoLabels(t *testing.T) {
	r := newRig(t, nil)
	for i := range 10_000 {
		name := fmt.Sprintf("tool-%d", i)
		_, call := r.StartCall(t.Context(), CallStart{Method: "m" + name, Toolset: name, Tool: name, RequestID: name, Client: name, SessionID: name})
		call.SetRun("run_" + name + "_xx")
		call.Rejected(name)
		call.End(CallEnd{Outcome: Outcome(name), Code: fault.Code("no code " + name), Summary: name})
	}
	for name := range r.metrics() {
		points := r.points(name)
		if len(points) != 1 {
			t.Errorf("%s has %d label sets, such as %v", name, len(points), slices.Collect(maps.Keys(points))[:2])
		}
		for labels := range points {
			if strings.Contains(labels, "tool-") {
				t.Errorf("%s: %s", name, labels)
			}
		}
	}
	if s := r.spans.Ended()[0]; s.Name() != "_OTHER _OTHER" {
		t.Errorf("span name %q", s.Name())
	}
}

func TestLongTextsAreCut(t *testing.T) {
	r := newRig(t, nil)
	long := strings.Repeat("é", 1<<20)
	_, call := r.StartCall(t.Context(), CallStart{Toolset: "worktree", Tool: long, Client: long, Arguments: mustJSON(long)})
	call.End(CallEnd{Outcome: Failure, Summary: long})
	if got := r.everything(); len(got) > 20_000 {
		t.Errorf("%d bytes left", len(got))
	}
	var ctx callContext
	if err := json.Unmarshal(r.page(Query{}).Records[0].Context, &ctx); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(ctx.Arguments), `"truncated":true`) || !strings.HasSuffix(ctx.Tool, "é…") {
		t.Errorf("%s", ctx.Arguments)
	}
}

func BenchmarkCall(b *testing.B) {
	r := newRig(b, nil)
	args := json.RawMessage(`{"path":"docs/index.md","offset":0,"limit":200}`)
	for b.Loop() {
		_, call := r.StartCall(b.Context(), CallStart{Toolset: "worktree", Tool: "read_file", RequestID: "1", Transport: "pipe", Arguments: args})
		call.GuardDone(0)
		call.End(CallEnd{Outcome: Success, Summary: "200 lines"})
	}
}

// BenchmarkCallBare is a call without exporters, store and log.
func BenchmarkCallBare(b *testing.B) {
	tel, err := Open(b.Context(), Options{Tools: map[string][]string{"worktree": {"read_file"}}})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		_, call := tel.StartCall(b.Context(), CallStart{Toolset: "worktree", Tool: "read_file", RequestID: "1", Transport: "pipe"})
		call.GuardDone(0)
		call.End(CallEnd{Outcome: Success})
	}
}
