package guard

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/specs"
	"github.com/gantry-run/gantry/validate"
)

func perMinute(n int) func(*Options) { return func(o *Options) { o.PerMinute = n } }

func TestOf101CallsAtOnceOneIsRefused(t *testing.T) {
	r := newRig(t, perMinute(100))
	var passed, refused atomic.Int64
	var all sync.WaitGroup
	for range 101 {
		all.Go(func() {
			if f := r.do(on(look(), ""), answer); f == nil {
				passed.Add(1)
			} else if f.Code == fault.RateLimited {
				refused.Add(1)
			}
		})
	}
	all.Wait()
	if passed.Load() != 100 || refused.Load() != 1 {
		t.Errorf("%d passed and %d were refused", passed.Load(), refused.Load())
	}
}

func TestAfterTheBurstOneCallEach600Milliseconds(t *testing.T) {
	r := newRig(t, perMinute(100))
	for range 100 {
		r.passes(on(look(), ""))
	}
	for range 5 {
		f := r.refused(on(look(), ""), fault.RateLimited)
		if got := string(f.Details.(json.RawMessage)); got != `{"retry_after_ms":600}` || !f.Retryable {
			t.Fatalf("details %s, retryable %v", got, f.Retryable)
		}
		r.pass(599 * time.Millisecond)
		r.refused(on(look(), ""), fault.RateLimited)
		r.pass(time.Millisecond)
		r.passes(on(look(), ""))
	}
}

// Whoever waits as long as told is let through, also where the interval is no whole
// number of milliseconds.
func TestRetryAfterIsEnough(t *testing.T) {
	for _, n := range []int{7, 13, 100, 900, 7001} {
		r := newRig(t, perMinute(n))
		for range n {
			r.buckets.take("local", r.clock())
		}
		r.pass(1234 * time.Microsecond)
		var details map[string]int64
		f := r.refused(on(look(), ""), fault.RateLimited)
		if err := json.Unmarshal(f.Details.(json.RawMessage), &details); err != nil {
			t.Fatal(err)
		}
		r.pass(time.Duration(details["retry_after_ms"]) * time.Millisecond)
		r.passes(on(look(), ""))
	}
}

// A refused call costs nothing, however many are refused at once.
func TestRefusalsTakeNoTokens(t *testing.T) {
	r := newRig(t, perMinute(60))
	for range 60 {
		r.passes(on(look(), ""))
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 20_000 {
				r.buckets.take("local", r.clock())
			}
		})
	}
	all.Wait()
	r.pass(time.Second)
	r.passes(on(look(), ""))
}

func TestCallsThatAreRefusedFurtherOnAreCharged(t *testing.T) {
	r := newRig(t, perMinute(3))
	r.refused(&Call{Tool: look(), Arguments: json.RawMessage(`{}`)}, fault.SchemaValidationFailed)
	r.refused(&Call{}, fault.UnknownTool)
	r.do(on(look(), ""), failing(fault.New(fault.RunNotFound, "none")))
	r.refused(on(look(), ""), fault.RateLimited)
}

func TestClientsAreCountedByTokenThenSession(t *testing.T) {
	r := newRig(t, perMinute(1))
	callers := []Caller{{}, {Session: "s"}, {Session: "s2"}, {Token: "s"}, {Token: "local"}}
	for _, who := range callers {
		c := on(look(), "")
		c.Caller = who
		c.Start.Client = "what it says of itself"
		r.passes(c)
	}
	for _, who := range append(callers, Caller{Token: "s", Session: "another"}) {
		c := on(look(), "")
		c.Caller, c.Start.Client = who, "another name"
		r.refused(c, fault.RateLimited)
	}
}

func TestIdleBucketsAreEvicted(t *testing.T) {
	r := newRig(t, perMinute(2))
	for i := range 1000 {
		r.buckets.take(fmt.Sprint(i), r.clock())
	}
	r.pass(2 * time.Minute)
	r.buckets.take("busy", r.clock())
	r.pass(time.Minute)
	r.buckets.take("new", r.clock())
	if n := len(r.buckets.byKey); n != 2 {
		t.Errorf("%d buckets are kept, want busy and new", n)
	}
}

func TestNoLimitIsNoLimit(t *testing.T) {
	r := newRig(t, nil)
	for range 500 {
		r.passes(on(look(), ""))
	}
}

func TestTooManyCallsUnderWayAreServerBusy(t *testing.T) {
	r := newRig(t, func(o *Options) { o.MaxInFlight = 2 })
	f := r.do(on(look(), ""), func(context.Context) (json.RawMessage, string, error) {
		return nil, "", nilable(r.do(on(look(), ""), func(context.Context) (json.RawMessage, string, error) {
			if busy := r.refused(on(look(), ""), fault.ServerBusy); !busy.Retryable {
				t.Error("not retryable")
			}
			return answer(t.Context())
		}))
	})
	if f != nil {
		t.Error(f)
	}
	r.passes(on(look(), ""))
}

func nilable(f *fault.Fault) error {
	if f == nil {
		return nil
	}
	return f
}

func TestHostileArgumentsAreRefusedWithTheirPlace(t *testing.T) {
	deep := strings.Repeat(`[`, 100) + strings.Repeat(`]`, 100)
	for raw, path := range map[string]string{
		`null`: "", `[]`: "", `"x"`: "", `42`: "", `true`: "", `{}`: "",
		`{"run_id":null}`: "/run_id", `{"run_id":["r_12345678"]}`: "/run_id", `{"run_id":{"$ref":"r_12345678"}}`: "/run_id",
		`{"run_id":"../../../x"}`: "/run_id", `{"run_id":"r_12345678","extra":1}`: "", `{"run_id":"r_12345678\u0000"}`: "/run_id",
		`{"run_id":"r_12345678","run_id":"r_87654321"}`: "", `{"run_id":"r_12345678","r\u0075n_id":"r_87654321"}`: "",
		`{"run_id":"r_12345678","deep":` + deep + `}`: "", `{"run_id":"r_12345678",}`: "", `{"run_id":"r_12345678"} {}`: "", ``: "",
		`{"run_id":"r_12345678","note":"` + strings.Repeat("x", 101) + `"}`: "/note", "{\"run_id\":\"r_1234567\xff\"}": "",
		`{"RUN_ID":"r_12345678"}`: "",
	} {
		r := newRig(t, nil)
		c := on(act(), "")
		c.Arguments = json.RawMessage(raw)
		f := r.refused(c, fault.SchemaValidationFailed)
		details, _ := f.Details.(json.RawMessage)
		var problems []validate.Problem
		if err := json.Unmarshal(details, &problems); err != nil || len(problems) == 0 || len(problems) > validate.MaxProblems {
			t.Errorf("%.60s: details %s", raw, details)
			continue
		}
		if problems[0].Path != path || problems[0].Message == "" || !strings.Contains(f.Message, "act") {
			t.Errorf("%.60s: %+v, %s", raw, problems[0], f.Message)
		}
		if len(f.Message) > 1000 || c.Run != "" {
			t.Errorf("%.60s: a message of %d bytes, run %q", raw, len(f.Message), c.Run)
		}
	}
}

func TestAbsentArgumentsAreAnEmptyObject(t *testing.T) {
	r := newRig(t, nil)
	list := look()
	list.Input = json.RawMessage(`{"type":"object","additionalProperties":false,"properties":{"limit":{"type":"integer"}}}`)
	r.passes(&Call{Tool: list})
}

func TestScopes(t *testing.T) {
	for _, c := range []struct {
		tool   *specs.Tool
		scopes []Scope
		passes bool
	}{
		{look(), nil, true}, {act(), nil, true}, {stop(), nil, true},
		{look(), []Scope{}, false}, {act(), []Scope{}, false},
		{look(), []Scope{ScopeRead}, true}, {act(), []Scope{ScopeRead}, false}, {stop(), []Scope{ScopeRead}, false},
		{look(), []Scope{ScopeRun}, false}, {act(), []Scope{ScopeRun}, true}, {stop(), []Scope{ScopeRead, ScopeRun}, true},
		{act(), []Scope{ScopeAdmin}, false},
	} {
		r := newRig(t, nil)
		call := on(c.tool, "")
		call.Caller = Caller{Token: "t", Scopes: c.scopes}
		if c.passes {
			r.passes(call)
		} else {
			r.refused(call, fault.AuthInsufficientScope)
		}
	}
}

// once returns what the guard makes of a call's key.
func once(t *testing.T, tool *specs.Tool, args string) runs.Once {
	t.Helper()
	r := newRig(t, nil)
	c := on(tool, "")
	c.Arguments = json.RawMessage(args)
	r.passes(c)
	if c.Once == nil {
		return runs.Once{}
	}
	if strings.Contains(string(c.Arguments), "_key") || strings.Contains(string(c.Arguments), "request_id") {
		t.Errorf("the tool sees the key: %s", c.Arguments)
	}
	return *c.Once
}

func TestTheHashIsThatOfTheEffectiveRequest(t *testing.T) {
	want := once(t, act(), `{"run_id":"r_12345678","note":"n","idempotency_key":"k"}`)
	if want.Key != "k" || len(want.Hash) != 64 {
		t.Fatalf("%+v", want)
	}
	for name, c := range map[string]struct {
		tool *specs.Tool
		args string
		same bool
	}{
		"other order":     {act(), `{"idempotency_key":"k","note":"n","run_id":"r_12345678"}`, true},
		"other spacing":   {act(), `{ "run_id" : "r_12345678", "note":"n","idempotency_key":"k"}`, true},
		"other spelling":  {act(), `{"run_id":"r_12345678","note":"\u006e","idempotency_key":"k"}`, true},
		"other name":      {act(), `{"run_id":"r_12345678","note":"n","request_id":"k"}`, true},
		"both names":      {act(), `{"run_id":"r_12345678","note":"n","request_id":"k","idempotency_key":"k"}`, true},
		"alias":           {actToo(), `{"run_id":"r_12345678","note":"n","idempotency_key":"k"}`, true},
		"other tool":      {stop(), `{"run_id":"r_12345678","note":"n","idempotency_key":"k"}`, false},
		"other target":    {act(), `{"run_id":"r_87654321","note":"n","idempotency_key":"k"}`, false},
		"other argument":  {act(), `{"run_id":"r_12345678","note":"m","idempotency_key":"k"}`, false},
		"argument absent": {act(), `{"run_id":"r_12345678","idempotency_key":"k"}`, false},
	} {
		if got := once(t, c.tool, c.args); got.Key != "k" || (got.Hash == want.Hash) != c.same {
			t.Errorf("%s: %+v, the same: %v", name, got, !c.same)
		}
	}
	if got := once(t, act(), `{"run_id":"r_12345678"}`); got != (runs.Once{}) {
		t.Errorf("without a key: %+v", got)
	}
	big := once(t, act(), `{"run_id":"r_12345678","deep":12345678901234567890,"idempotency_key":"k"}`)
	if big == once(t, act(), `{"run_id":"r_12345678","deep":12345678901234567891,"idempotency_key":"k"}`) {
		t.Error("numbers beyond a float are confused")
	}
}

func TestKeysThatAreNoneAreRefused(t *testing.T) {
	for _, members := range []string{
		`,"idempotency_key":"a b"`, `,"idempotency_key":"` + strings.Repeat("k", 129) + `"`, `,"request_id":"é"`,
		`,"idempotency_key":"a","request_id":"b"`,
	} {
		newRig(t, nil).refused(on(act(), members), fault.InvalidInput)
	}
}

func TestTheSameKeyAtTheSameTimeIsInProgress(t *testing.T) {
	r := newRig(t, nil)
	keyed := func(tool *specs.Tool, token string) *Call {
		c := on(tool, `,"idempotency_key":"k"`)
		c.Arguments = json.RawMessage(strings.Replace(string(c.Arguments), "r_12345678", "r_"+token+tool.Name+"_0000", 1))
		c.Caller.Token = token
		return c
	}
	f := r.do(keyed(act(), ""), func(context.Context) (json.RawMessage, string, error) {
		for _, tool := range []*specs.Tool{act(), actToo()} {
			if busy := r.refused(keyed(tool, ""), fault.IdempotencyInProgress); !busy.Retryable {
				t.Error("not retryable")
			}
		}
		r.passes(keyed(stop(), ""))
		r.passes(keyed(act(), "other"))
		return answer(t.Context())
	})
	if f != nil {
		t.Fatal(f)
	}
	r.passes(keyed(act(), "")) // the key is free again
}

func TestTheLockIsOfTheRunThatAMutatingToolNames(t *testing.T) {
	r := newRig(t, nil)
	f := r.do(on(act(), ""), func(context.Context) (json.RawMessage, string, error) {
		if locked := r.refused(on(act(), ""), fault.RunLocked); !locked.Retryable {
			t.Error("not retryable")
		}
		r.passes(on(look(), "")) // readers never wait
		r.passes(on(stop(), "")) // nor does what ends a run
		other := on(act(), "")
		other.Arguments = json.RawMessage(`{"run_id":"r_another1"}`)
		r.passes(other)
		return answer(t.Context())
	})
	if f != nil {
		t.Fatal(f)
	}
	if r.locks.took != 2 {
		t.Errorf("%d locks were taken, want 2", r.locks.took)
	}
}

// The real lock: of a real store, with a real wait.
func TestCallsOnOneRunAreSerialisedAndWaitOnlyAWhile(t *testing.T) {
	store, err := runs.OpenStore(t.TempDir(), runs.StoreOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	id, _, err := store.Create(t.Context(), runs.StartRequest{Kind: runs.Launch, Input: json.RawMessage(`{}`), Workflow: runs.Workflow{
		Name: "w", Version: "1", Kind: runs.Launch, Nodes: []runs.Node{{Name: "a", Worker: "a", TimeoutS: 1}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, func(o *Options) { o.Locks, o.LockWait = store, 10*time.Second })
	call := func() *Call { return &Call{Tool: act(), Arguments: json.RawMessage(fmt.Sprintf(`{"run_id":%q}`, id))} }
	var inside, most atomic.Int64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if f := r.do(call(), func(context.Context) (json.RawMessage, string, error) {
				most.Store(max(most.Load(), inside.Add(1)))
				defer inside.Add(-1)
				return answer(t.Context())
			}); f != nil {
				t.Error(f)
			}
		})
	}
	all.Wait()
	if most.Load() != 1 {
		t.Errorf("%d calls worked on one run at once", most.Load())
	}
	impatient := newRig(t, func(o *Options) { o.Locks, o.LockWait = store, time.Millisecond })
	impatient.do(call(), func(context.Context) (json.RawMessage, string, error) {
		impatient.refused(call(), fault.RunLocked)
		return answer(t.Context())
	})
	unknown := on(act(), "")
	r.refused(unknown, fault.RunNotFound)
}
