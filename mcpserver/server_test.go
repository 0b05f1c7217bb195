package mcpserver_test

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/mcpserver"
	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/stdio"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/specs"
)

// The eras of the protocol that clients speak.
func eras() []string { return []string{"2025-06-18", "2025-11-25", "2026-07-28"} }

func TestAResultIsStructuredAndTheSameAsText(t *testing.T) {
	for _, era := range eras() {
		r := newRig(t, nil).connect(era)
		res, err := r.call("look_at", map[string]any{"n": 1})
		if err != nil || res.IsError {
			t.Fatalf("%s: %+v, %v", era, res, err)
		}
		if got := textOf(t, res); got != `{"ok":true}` || structured(t, res) != got {
			t.Errorf("%s: text %s, structured %s", era, got, structured(t, res))
		}
		if got := r.client.InitializeResult().ServerInfo; got.Name != "test" || got.Version != "1.2.3" {
			t.Errorf("%s: serverInfo %+v", era, got)
		}
		if got := r.client.InitializeResult().Instructions; got != "be kind" {
			t.Errorf("%s: instructions %q", era, got)
		}
	}
}

func textOf(t *testing.T, res *mcp.CallToolResult) string {
	t.Helper()
	if len(res.Content) != 1 {
		t.Fatalf("%d blocks", len(res.Content))
	}
	return res.Content[0].(*mcp.TextContent).Text
}

func structured(t *testing.T, res *mcp.CallToolResult) string {
	t.Helper()
	raw, err := json.Marshal(res.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestAShortTextStandsForTheBulkAndBothAreMasked(t *testing.T) {
	r := newRig(t, nil).connect("")
	r.handle = func(context.Context, *guard.Call) (tool.Result, error) {
		return tool.Result{JSON: json.RawMessage(`{"ok":true,"content":"` + secret + `"}`), Text: "in short " + secret}, nil
	}
	res, err := r.call("look_at", nil)
	if err != nil {
		t.Fatal(err)
	}
	got := textOf(t, res) + structured(t, res)
	if !strings.HasPrefix(got, "in short [REDACTED") || strings.Contains(got, secret) {
		t.Error(got)
	}
}

// In this style clients show the message, and programs read the data.
func TestJSONRPCErrors(t *testing.T) {
	for _, era := range eras() {
		r := newRig(t, nil).connect(era)
		_, err := r.call("look_at", map[string]any{"n": 9, "extra": true})
		e, data := r.rpc(err)
		if e.Code != -32602 || data["error_code"] != "SCHEMA_VALIDATION_FAILED" || data["retryable"] != false || data["hint"] == "" {
			t.Errorf("%s: %d %v", era, e.Code, data)
		}
		if !strings.Contains(e.Message, "/n") || !strings.Contains(e.Message, `"extra"`) || len(data["details"].([]any)) != 2 {
			t.Errorf("%s: the problems are not told: %s %v", era, e.Message, data["details"])
		}
		r.handle = func(context.Context, *guard.Call) (tool.Result, error) {
			return tool.Result{}, fault.Retry(fault.RunLocked, "somebody works on it").WithDetails(map[string]int{"a": 1})
		}
		_, err = r.call("look_at", nil)
		e, data = r.rpc(err)
		want := map[string]any{"error_code": "RUN_LOCKED", "retryable": true, "hint": data["hint"], "details": map[string]any{"a": 1.0}, "tool_name": "look_at"}
		if e.Code != -32603 || e.Message != "somebody works on it" || cmp.Diff(want, data) != "" {
			t.Errorf("%s: %d %s %s", era, e.Code, e.Message, cmp.Diff(want, data))
		}
	}
}

// In this style the envelope is in the text and nowhere else: clients hold structured
// content against the output schema also here, and would throw the error away.
func TestToolResultErrors(t *testing.T) {
	for _, era := range eras() {
		r := newRig(t, nil).connect(era)
		for name, c := range map[string]struct {
			args any
			code fault.Code
		}{"refused": {map[string]any{"n": "x"}, "invalid_argument"}, "failed": {nil, "illegal_state"}} {
			r.handle = func(context.Context, *guard.Call) (tool.Result, error) {
				return tool.Result{}, fault.New(fault.IllegalState, "not now").WithHint("later")
			}
			res, err := r.call("card", c.args)
			if err != nil {
				t.Fatalf("%s %s: %v", era, name, err)
			}
			var envelope map[string]any
			if err := json.Unmarshal([]byte(textOf(t, res)), &envelope); err != nil {
				t.Fatal(err)
			}
			if !res.IsError || res.StructuredContent != nil || envelope["code"] != string(c.code) || envelope["message"] == "" ||
				envelope["hint"] == "" || envelope["retryable"] != false {
				t.Errorf("%s %s: %+v %v", era, name, res, envelope)
			}
		}
	}
}

func TestAnUnknownToolIsMethodNotFoundAndRecorded(t *testing.T) {
	for _, era := range eras() {
		r := newRig(t, nil).overStdio(era)
		_, err := r.call("rm_rf", map[string]any{"x": 1})
		e, data := r.rpc(err)
		if e.Code != -32601 || data["error_code"] != "UNKNOWN_TOOL" || !strings.Contains(e.Message, "rm_rf") {
			t.Errorf("%s: %d %s %v", era, e.Code, e.Message, data)
		}
		if n := len(r.spans.Ended()); n != 1 || r.spans.Ended()[0].Name() != "tools/call _OTHER" {
			t.Errorf("%s: %d spans", era, n)
		}
	}
}

func TestADottedNameIsAcceptedAndNotListed(t *testing.T) {
	r := newRig(t, nil).connect("")
	if _, err := r.call("look.at", nil); err != nil {
		t.Error(err)
	}
	if name := r.spans.Ended()[0].Name(); name != "tools/call look_at" {
		t.Errorf("it is recorded as %s", name)
	}
	for _, tool := range r.list() {
		if strings.Contains(tool.Name, ".") {
			t.Errorf("%s is listed", tool.Name)
		}
	}
}

func (r *rig) list() []*mcp.Tool {
	r.t.Helper()
	res, err := r.client.ListTools(r.t.Context(), nil)
	if err != nil {
		r.t.Fatal(err)
	}
	return res.Tools
}

func TestReadOnlyDropsEveryOtherTool(t *testing.T) {
	r := newRig(t, func(o *mcpserver.Options) { o.ReadOnly = true }).overStdio("2025-11-25")
	if list := r.list(); len(list) != 1 || list[0].Name != "look_at" {
		t.Errorf("%d tools are listed", len(list))
	}
	r.handle = func(_ context.Context, c *guard.Call) (tool.Result, error) {
		if c.Tool.Name != "look_at" {
			t.Errorf("%s was called", c.Tool.Name)
		}
		return tool.Result{JSON: json.RawMessage(`{"ok":true}`)}, nil
	}
	for _, name := range []string{"act_on", "act.on", "end_it", "card"} {
		_, err := r.call(name, nil)
		if e, _ := r.rpc(err); e.Code != -32601 {
			t.Errorf("%s: %d", name, e.Code)
		}
	}
	if _, err := r.call("look_at", nil); err != nil {
		t.Error(err)
	}
}

func TestAnnotationsSayTheEffect(t *testing.T) {
	r := newRig(t, nil).connect("")
	for _, tool := range r.list() {
		a := tool.Annotations
		want := map[string][2]bool{"look_at": {true, false}, "act_on": {false, false}, "end_it": {false, true}, "card": {false, false}}[tool.Name]
		if got := [2]bool{a.ReadOnlyHint, *a.DestructiveHint}; got != want || a.IdempotentHint != a.ReadOnlyHint {
			t.Errorf("%s: %v, want %v", tool.Name, got, want)
		}
		if tool.Description != "Use when: a\nRequired: b\nOptional: c\nNext: d\nAvoid: e" {
			t.Errorf("description %q", tool.Description)
		}
	}
}

// What a client is told of the launch toolset are the bytes of the specifications.
func TestTheListIsTheSpecifications(t *testing.T) {
	all, err := specs.Tools("launch")
	if err != nil {
		t.Fatal(err)
	}
	var tools []tool.Tool
	for _, s := range all {
		tools = append(tools, tool.Tool{Spec: s})
	}
	r := newRig(t, func(o *mcpserver.Options) { o.Tools = tools })
	// Between the pipes are the bytes; the SDK's client would decode the schemas.
	in, feed := io.Pipe()
	var out lockedBuffer
	tr := &stdio.Transport{In: in, Out: &out}
	served, err := r.server.Connect(t.Context(), tr, nil)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(feed, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`+"\n"+
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"+`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`+"\n")
	feed.Close()
	<-tr.Done()
	_ = served.Close()
	var answer struct {
		Result struct {
			Tools []struct {
				Name, Description string
				InputSchema       json.RawMessage `json:"inputSchema"`
				OutputSchema      json.RawMessage `json:"outputSchema"`
			}
			NextCursor string `json:"nextCursor"`
		}
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &answer); err != nil {
		t.Fatal(err)
	}
	list, size := answer.Result.Tools, 0
	if len(list) != len(all) || answer.Result.NextCursor != "" {
		t.Fatalf("%d of %d tools, cursor %q", len(list), len(all), answer.Result.NextCursor)
	}
	for i, s := range all {
		size += len(list[i].Name) + len(list[i].Description) + len(list[i].InputSchema)
		if list[i].Name != s.Name || string(list[i].InputSchema) != string(s.Input) || string(list[i].OutputSchema) != string(s.Output) {
			t.Errorf("tool %d: %s instead of %s, or other schemas", i, list[i].Name, s.Name)
		}
	}
	if size >= 20_000 {
		t.Errorf("a model reads %d bytes of the default tools, the limit is 20,000", size)
	}
}

func TestProgressGoesToWhoAskedForIt(t *testing.T) {
	for _, era := range eras() {
		r := newRig(t, nil).connect(era)
		r.handle = func(_ context.Context, c *guard.Call) (tool.Result, error) {
			c.Tell("step %d", 1)
			c.Tell("step %d", 2)
			return tool.Result{JSON: json.RawMessage(`{"ok":true}`)}, nil
		}
		if _, err := r.call("look_at", nil); err != nil {
			t.Fatal(err)
		}
		p := &mcp.CallToolParams{Name: "look_at"}
		p.SetProgressToken("token-7")
		if _, err := r.client.CallTool(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		for i, want := range []string{"step 1", "step 2"} {
			if got := <-r.progress; got.Message != want || got.ProgressToken != "token-7" || got.Progress != float64(i+1) {
				t.Errorf("%s: %+v", era, got)
			}
		}
		if len(r.progress) != 0 {
			t.Errorf("%s: progress went to who did not ask", era)
		}
	}
}

func TestTheSpanBelongsToTheCallersTrace(t *testing.T) {
	for _, era := range eras() {
		r := newRig(t, nil).connect(era)
		p := &mcp.CallToolParams{Name: "look_at", Meta: mcp.Meta{"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}}
		if _, err := r.client.CallTool(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		span := r.spans.Ended()[0]
		attrs := map[string]string{}
		for _, kv := range span.Attributes() {
			attrs[string(kv.Key)] = kv.Value.String()
		}
		if span.SpanContext().TraceID().String() != "0af7651916cd43dd8448eb211c80319c" || span.Parent().SpanID().String() != "b7ad6b7169203331" {
			t.Errorf("%s: trace %s, parent %s", era, span.SpanContext().TraceID(), span.Parent().SpanID())
		}
		if attrs["mcp.protocol.version"] != era || attrs["network.transport"] != "pipe" || attrs["gantry.toolset"] != "launch" {
			t.Errorf("%s: %v", era, attrs)
		}
	}
}

func TestACancelledCallEndsAndTheNextIsAnswered(t *testing.T) {
	r := newRig(t, nil).connect("")
	started, ended := make(chan struct{}), make(chan error, 1)
	r.handle = func(ctx context.Context, _ *guard.Call) (tool.Result, error) {
		close(started)
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return tool.Result{}, ctx.Err()
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-started; cancel() }()
	if _, err := r.client.CallTool(ctx, &mcp.CallToolParams{Name: "look_at"}); err == nil {
		t.Error("the cancelled call has a result")
	}
	if err := <-ended; err == nil {
		t.Error("the handler's context did not end")
	}
	r.handle = func(context.Context, *guard.Call) (tool.Result, error) {
		return tool.Result{JSON: json.RawMessage(`{"ok":true}`)}, nil
	}
	if _, err := r.call("look_at", nil); err != nil {
		t.Error(err)
	}
}

func TestAPanicEndsOneCallOnly(t *testing.T) {
	r := newRig(t, nil).connect("")
	r.handle = func(context.Context, *guard.Call) (tool.Result, error) { panic("of the house") }
	_, err := r.call("look_at", nil)
	if e, data := r.rpc(err); e.Code != -32603 || data["error_code"] != "INTERNAL" || strings.Contains(e.Message+string(e.Data), "house") {
		t.Errorf("%d %s %s", e.Code, e.Message, e.Data)
	}
	r.handle = func(context.Context, *guard.Call) (tool.Result, error) {
		return tool.Result{JSON: json.RawMessage(`{"ok":true}`)}, nil
	}
	if _, err := r.call("look_at", nil); err != nil {
		t.Error(err)
	}
}

// The stdio transport with the SDK's client, era by era.
func TestEveryEraWorksOverStdio(t *testing.T) {
	for _, era := range eras() {
		r := newRig(t, func(o *mcpserver.Options) { o.Resources = newShelf() })
		r.overStdio(era)
		if got := r.client.InitializeResult().ProtocolVersion; got != era {
			t.Errorf("negotiated %s, want %s", got, era)
		}
		if n := len(r.list()); n != 4 {
			t.Errorf("%s: %d tools", era, n)
		}
		if _, err := r.call("look_at", map[string]any{"n": 1}); err != nil {
			t.Errorf("%s: %v", era, err)
		}
		_, err := r.call("look_at", map[string]any{"n": 4})
		if e, _ := r.rpc(err); e.Code != -32602 {
			t.Errorf("%s: %d", era, e.Code)
		}
		if res, err := r.client.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "resource://run/r_12345678/text.md"}); err != nil || len(res.Contents) != 1 {
			t.Errorf("%s: %v", era, err)
		}
	}
}

func TestARefusalAtShutdownIsRetryable(t *testing.T) {
	e := mcpserver.Refusal("tools/call")
	if e.Code != -32603 || !strings.Contains(string(e.Data), `"error_code":"SHUTTING_DOWN","retryable":true`) {
		t.Errorf("%d %s", e.Code, e.Data)
	}
}
