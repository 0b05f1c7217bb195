package guard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/specs"
	"github.com/gantry-run/gantry/telemetry"
)

// Each call below breaks the guards from its own on, so whichever answers shows the
// order.
func TestTheFirstGuardOfTheListAnswers(t *testing.T) {
	busy := func(r *rig) { r.inFlight.Store(1000) }
	spent := func(r *rig) { r.buckets.take("token:t", r.clock()) }
	draining := func(r *rig) { r.Drain() }
	keyUsed := func(r *rig) { r.keys["t\x00act\x00k"] = true }
	locked := func(r *rig) { r.locks.LockCall(t.Context(), "r_12345678", 0) }
	good := func() *Call { c := on(act(), `,"idempotency_key":"k"`); c.Caller.Token = "t"; return c }
	noScope := func() *Call { c := good(); c.Caller.Scopes = []Scope{ScopeRead}; return c }
	badArgs := func() *Call { c := noScope(); c.Arguments = json.RawMessage(`{}`); return c }
	cases := []struct {
		reason string
		code   fault.Code
		call   func() *Call
		broken []func(*rig)
	}{
		{"drain", fault.ShuttingDown, badArgs, []func(*rig){draining, spent, busy, keyUsed, locked}},
		{"limit", fault.RateLimited, badArgs, []func(*rig){spent, busy, keyUsed, locked}},
		{"limit", fault.ServerBusy, badArgs, []func(*rig){busy, keyUsed, locked}},
		{"schema", fault.SchemaValidationFailed, badArgs, []func(*rig){keyUsed, locked}},
		{"access", fault.AuthInsufficientScope, noScope, []func(*rig){keyUsed, locked}},
		{"idempotency", fault.IdempotencyInProgress, good, []func(*rig){keyUsed, locked}},
		{"lock", fault.RunLocked, good, []func(*rig){locked}},
	}
	for _, c := range cases {
		t.Run(string(c.code), func(t *testing.T) {
			r := newRig(t, func(o *Options) { o.PerMinute, o.MaxInFlight = 1, 10 })
			for _, broke := range c.broken {
				broke(r)
			}
			r.refused(c.call(), c.code)
			if got, want := r.counts(), (counts{1, 1, 1, 1, 1}); got != want {
				t.Errorf("the refusal left %+v, want %+v", got, want)
			}
			page, _ := r.tel.Records(t.Context(), telemetry.Query{})
			if !strings.Contains(string(page.Records[0].Context), `"rejected":"`+c.reason+`"`) {
				t.Errorf("the record does not name the guard %s: %s", c.reason, page.Records[0].Context)
			}
		})
	}
}

func TestEveryWayOutIsRecordedOnce(t *testing.T) {
	ctx := t.Context()
	gone, cancel := context.WithCancel(ctx)
	cancel()
	slow := act()
	slow.TimeoutS = 0 // over before it begins
	cases := map[string]struct {
		call   *Call
		ctx    context.Context
		do     func(context.Context) (json.RawMessage, string, error)
		code   fault.Code
		status telemetry.Status
	}{
		"success":      {on(act(), ""), ctx, answer, "", telemetry.StatusSuccess},
		"fault":        {on(act(), ""), ctx, failing(fault.New(fault.IllegalState, "no")), fault.IllegalState, telemetry.StatusFailure},
		"error":        {on(act(), ""), ctx, failing(errors.New("disk")), fault.Internal, telemetry.StatusFailure},
		"panic":        {on(act(), ""), ctx, func(context.Context) (json.RawMessage, string, error) { panic("boom") }, fault.Internal, telemetry.StatusFailure},
		"timeout":      {on(slow, ""), ctx, waiting, fault.ToolTimeout, telemetry.StatusTimeout},
		"cancelled":    {on(act(), ""), gone, waiting, fault.Cancelled, telemetry.StatusCancelled},
		"unknown tool": {&Call{Start: telemetry.CallStart{Tool: "nope"}}, ctx, answer, fault.UnknownTool, telemetry.StatusFailure},
		"bad schema":   {on(&specs.Tool{Name: "broken", Input: json.RawMessage(`{"type":7}`)}, ""), ctx, answer, fault.Internal, telemetry.StatusFailure},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			_, _, err := r.Do(c.ctx, c.call, c.do)
			if got := code(err); got != c.code {
				t.Errorf("got %q, want %q", got, c.code)
			}
			got := r.counts()
			got.Rejections = 0
			if want := (counts{1, 1, 1, 1, 0}); got != want {
				t.Errorf("left %+v, want %+v", got, want)
			}
			page, _ := r.tel.Records(t.Context(), telemetry.Query{})
			if page.Records[0].Status != c.status {
				t.Errorf("status %s, want %s", page.Records[0].Status, c.status)
			}
			if n := r.inFlight.Load(); n != 0 || len(r.locks.held) != 0 || len(r.keys) != 0 {
				t.Errorf("the call left behind: %d in flight, locks %v, keys %v", n, r.locks.held, r.keys)
			}
		})
	}
}

func code(err error) fault.Code {
	if err == nil {
		return ""
	}
	return fault.From(err).Code
}

func failing(err error) func(context.Context) (json.RawMessage, string, error) {
	return func(context.Context) (json.RawMessage, string, error) { return nil, "", err }
}

func waiting(ctx context.Context) (json.RawMessage, string, error) {
	<-ctx.Done()
	return nil, "", ctx.Err()
}

func TestATimeoutIsRetryableAndTheWorkGoesOn(t *testing.T) {
	r := newRig(t, nil)
	slow := act()
	slow.TimeoutS = 0
	release, finished := make(chan struct{}), make(chan struct{})
	f := r.do(on(slow, ""), func(ctx context.Context) (json.RawMessage, string, error) {
		go func() { // the work is somebody else's: an engine's
			<-release
			close(finished)
		}()
		return waiting(ctx)
	})
	if f.Code != fault.ToolTimeout || !f.Retryable || !strings.Contains(f.Message, "act") {
		t.Errorf("got %+v", f)
	}
	close(release)
	<-finished
}

// A tool's own fault says more than that it came too late.
func TestAFaultOutlivesTheTimeout(t *testing.T) {
	r := newRig(t, nil)
	late := act()
	late.TimeoutS = 0
	f := r.do(on(late, ""), func(ctx context.Context) (json.RawMessage, string, error) {
		<-ctx.Done()
		return nil, "", fault.New(fault.PublishFailed, "the remote refused")
	})
	if f.Code != fault.PublishFailed {
		t.Errorf("got %v", f)
	}
}

func TestAPanicIsOpaqueOutsideAndWholeInTheLog(t *testing.T) {
	r := newRig(t, nil)
	f := r.do(on(act(), ""), func(context.Context) (json.RawMessage, string, error) { panic("index 7 of /srv/private") })
	raw, _ := json.Marshal(f)
	if f.Code != fault.Internal || f.Message != "internal error" || strings.Contains(string(raw), "private") || strings.Contains(string(raw), "goroutine") {
		t.Errorf("the client sees %s", raw)
	}
	if log := r.log.String(); !strings.Contains(log, "index 7") || !strings.Contains(log, "guard_test.go") {
		t.Errorf("the log lacks the panic or its stack: %s", log)
	}
	page, _ := r.tel.Records(t.Context(), telemetry.Query{})
	if all := fmt.Sprintf("%+v", page.Records); strings.Contains(all, "index 7") || strings.Contains(all, "goroutine") {
		t.Errorf("the record holds the panic: %s", all)
	}
	r.passes(on(act(), "")) // and the next call is answered
}

func TestDrainRefusesWhatComesAndLetsWhatRunsFinish(t *testing.T) {
	r := newRig(t, nil)
	f := r.do(on(act(), ""), func(context.Context) (json.RawMessage, string, error) {
		r.Drain()
		if refused := r.refused(on(look(), ""), fault.ShuttingDown); !refused.Retryable {
			t.Error("the refusal is not retryable")
		}
		return answer(t.Context())
	})
	if f != nil {
		t.Errorf("the running call ended with %v", f)
	}
}

func TestSecretsAreMaskedOnEveryWayOut(t *testing.T) {
	r := newRig(t, nil)
	out, text, err := r.Do(t.Context(), on(act(), `,"note":"`+secret+`"`), func(context.Context) (json.RawMessage, string, error) {
		return json.RawMessage(`{"content":"it is ` + secret + `"}`), "it is " + secret, nil
	})
	if err != nil || strings.Contains(string(out)+text, secret) || !strings.Contains(string(out), "[REDACTED:") || !strings.Contains(text, "[REDACTED:") {
		t.Errorf("result %s, text %q, %v", out, text, err)
	}
	f := r.do(on(act(), ""), failing(fault.New(fault.IllegalState, "no %s", secret).WithHint("use %s", secret).
		WithDetails(map[string]any{"value": secret}).Because(errors.New(secret))))
	raw, _ := json.Marshal(f)
	if strings.Contains(string(raw), secret) || strings.Count(string(raw), "[REDACTED:") != 3 {
		t.Errorf("fault %s", raw)
	}
	page, _ := r.tel.Records(t.Context(), telemetry.Query{})
	spans := ""
	for _, s := range r.spans.Ended() {
		spans += fmt.Sprint(s.Attributes(), s.Events(), s.Status())
	}
	if all := fmt.Sprintf("%s%s", r.log, spans); strings.Contains(all, secret) {
		t.Errorf("log or span: %s", all)
	}
	for _, record := range page.Records {
		if raw, _ := json.Marshal(record); strings.Contains(string(raw), secret) {
			t.Errorf("record: %s", raw)
		}
	}
}

func TestReadingIsBoundedLikeACall(t *testing.T) {
	r := newRig(t, func(o *Options) { o.PerMinute = 2 })
	fine := func() error { return nil }
	if err := r.Read(Caller{}, fine); err != nil {
		t.Error(err)
	}
	if err := r.Read(Caller{Token: "t", Scopes: []Scope{ScopeRun}}, fine); !fault.Is(err, fault.AuthInsufficientScope) {
		t.Errorf("without the scope: %v", err)
	}
	if err := r.Read(Caller{}, func() error { panic("of the house") }); !fault.Is(err, fault.Internal) || strings.Contains(err.Error(), "house") {
		t.Errorf("a panic gives %v", err)
	}
	if err := r.Read(Caller{}, fine); !fault.Is(err, fault.RateLimited) {
		t.Errorf("too often: %v", err)
	}
	if n := r.inFlight.Load(); n != 0 {
		t.Errorf("%d are left in flight", n)
	}
	r.Drain()
	if err := r.Read(Caller{Token: "u"}, fine); !fault.Is(err, fault.ShuttingDown) {
		t.Errorf("while draining: %v", err)
	}
	if got := r.Mask("a " + secret); strings.Contains(got, secret) {
		t.Error(got)
	}
}

func TestAFaultWithoutAHintGetsTheRegistrys(t *testing.T) {
	r := newRig(t, nil)
	info, _ := specs.Error(fault.RunNotFound)
	if f := r.do(on(act(), ""), failing(fault.New(fault.RunNotFound, "there is no run"))); f.Hint != info.Hint || f.Hint == "" {
		t.Errorf("hint %q, want %q", f.Hint, info.Hint)
	}
	if f := r.do(on(act(), ""), failing(fault.New(fault.RunNotFound, "there is no run").WithHint("look here"))); f.Hint != "look here" {
		t.Errorf("hint %q", f.Hint)
	}
}

func TestStyleOfErrors(t *testing.T) {
	for _, c := range []struct {
		tool      *specs.Tool
		code      fault.Code
		rpc       int
		toolError bool
	}{
		{act(), fault.SchemaValidationFailed, -32602, false},
		{act(), fault.RunNotFound, -32603, false},
		{act(), fault.Internal, -32603, false},
		{&specs.Tool{Toolset: "tasks"}, fault.SchemaValidationFailed, -32602, false},
		{&specs.Tool{Toolset: "tasks"}, fault.NotAllowlisted, -32010, false},
		{&specs.Tool{Toolset: "tasks"}, fault.NeedsReapproval, -32010, false},
		{&specs.Tool{Toolset: "tasks"}, fault.RunnerUnavailable, -32011, false},
		{&specs.Tool{Toolset: "tasks"}, fault.TaskNotFound, -32012, false},
		{&specs.Tool{Toolset: "tasks"}, fault.TaskAmbiguous, -32012, false},
		{&specs.Tool{Toolset: "tasks"}, fault.JobNotFound, -32012, false},
		{&specs.Tool{Toolset: "tasks"}, fault.TooManyJobs, -32603, false},
		{act(), fault.TaskNotFound, -32603, false},
		{card(), fault.SchemaValidationFailed, 0, true},
		{card(), fault.Internal, 0, true},
		{&specs.Tool{Toolset: Protocol}, fault.RunNotFound, -32602, false},
		{&specs.Tool{Toolset: Protocol}, fault.InvalidInput, -32602, false},
		{&specs.Tool{Toolset: Protocol}, fault.RateLimited, -32603, false},
		{nil, fault.UnknownTool, -32601, false},
		{nil, fault.ShuttingDown, -32603, false},
	} {
		rpc, toolError := Style(c.tool, fault.New(c.code, "x"))
		if rpc != c.rpc || toolError != c.toolError {
			t.Errorf("%v %s: %d %v, want %d %v", c.tool, c.code, rpc, toolError, c.rpc, c.toolError)
		}
	}
}

func TestTheOrderIsTheDocumentedOne(t *testing.T) {
	var got []string
	for _, p := range chain() {
		got = append(got, p.reason)
	}
	if want := []string{"drain", "limit", "secret", "schema", "access", "idempotency", "lock", "timeout"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
