// Package guard answers one question: may this call happen?
//
// Every tools/call passes here, whatever the transport. The answer is an ordered
// list of guards, each of which refuses with a fault or lets the call pass:
//
//	recover and record   a panic becomes INTERNAL; span, metrics and record are written for every exit
//	drain                while shutting down, new calls are refused
//	limit                calls a minute for each client, calls in flight for all
//	secret               the caller has shown the secret, if the server wants one
//	schema               the arguments fit the tool's schema
//	access               the caller's scopes allow the tool's effect
//	idempotency          the key is well formed; the request's hash; not in progress here
//	lock                 the call lock of the run that a mutating tool names
//	timeout              the tool's own
//
// A guard keeps nothing of a call beyond its end. Idempotency is only prepared
// here: the domain writes the key with what it protects. Cancel and stop tools name
// no lock, so they always get through.
package guard

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/specs"
	"github.com/gantry-run/gantry/telemetry"
	"github.com/gantry-run/gantry/validate"
)

// Scope is a permission of a token.
type Scope string

// The scopes. A local caller has all of them.
const (
	ScopeRead  Scope = "read"
	ScopeRun   Scope = "run"
	ScopeAdmin Scope = "admin"
)

// Caller is who calls. It is established by the transport, never by what the
// client says of itself.
type Caller struct {
	Token   string  // the bearer token's name; "" for a local caller
	Session string  // of an older client; "" on stdio
	Scopes  []Scope // nil: all of them
}

// key is what calls are counted by.
func (c Caller) key() string {
	switch {
	case c.Token != "":
		return "token:" + c.Token
	case c.Session != "":
		return "session:" + c.Session
	}
	return "local"
}

// Call is one tools/call on its way through the guards.
type Call struct {
	Tool      *specs.Tool // nil: there is no such tool
	Caller    Caller
	Unknown   bool            // the caller has not shown the secret that the server wants
	Arguments json.RawMessage // nil: none were sent; the tool sees them without idempotency keys
	Start     telemetry.CallStart

	// Set by the guards, for the tool.

	Record *telemetry.Call // of this call
	Once   *runs.Once      // idempotency key and request hash, if a key was given
	Run    runs.ID         // the run that the call names, if any

	// Progress tells the client how far the call is; nil when nobody listens.
	Progress func(message string)
}

// Owner is whom the runs that the caller starts belong to, and so whose runs they see:
// their own and, unless their token lacks the scope run, those of the local user.
func (c Caller) Owner() string {
	if c.Token != "" && !slices.Contains(c.Scopes, ScopeRun) {
		return runs.Stranger(c.Token)
	}
	return c.Token
}

// Owner is [Caller.Owner] of who calls.
func (c *Call) Owner() string { return c.Caller.Owner() }

// Ask is what a verb of the domain wants to know of the call.
func (c *Call) Ask() runs.Ask {
	a := runs.Ask{Owner: c.Owner(), Once: c.Once, Tool: c.Tool.Name}
	if c.Record != nil {
		a.CallID = c.Record.ID()
	}
	return a
}

// Tell reports progress if somebody listens.
func (c *Call) Tell(format string, args ...any) {
	if c.Progress != nil {
		c.Progress(fmt.Sprintf(format, args...))
	}
}

// Options configure a Guard.
type Options struct {
	Telemetry   *telemetry.Telemetry
	Redactor    *telemetry.Redactor
	Locks       Locker
	PerMinute   int           // calls a minute for each client; 0: no limit
	MaxInFlight int           // calls under way in all; 0: no limit
	LockWait    time.Duration // default 2 s
	Now         func() time.Time
}

// Locker gives the call lock of a run: [runs.Store.LockCall].
type Locker interface {
	LockCall(ctx context.Context, id runs.ID, wait time.Duration) (release func(), err error)
}

// Guard is the list of guards with their state. It is used by all transports of a
// process together.
type Guard struct {
	o        Options
	schemas  validate.Lazy
	buckets  buckets
	inFlight atomic.Int64
	draining atomic.Bool

	mu   sync.Mutex
	keys map[string]bool // idempotency keys under way
}

// New returns a guard.
func New(o Options) *Guard {
	if o.LockWait == 0 {
		o.LockWait = 2 * time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	g := &Guard{o: o, keys: map[string]bool{}}
	g.buckets.limit, g.buckets.burst = rate.Every(time.Minute/time.Duration(max(1, o.PerMinute))), o.PerMinute
	return g
}

// Telemetry returns where the guard records calls.
func (g *Guard) Telemetry() *telemetry.Telemetry { return g.o.Telemetry }

// Drain refuses the calls that come from now on.
func (g *Guard) Drain() { g.draining.Store(true) }

// pass is a guard: it refuses the call, or lets it pass with a context for what
// comes behind it and something to undo at the call's end. Both may be nil.
type pass struct {
	reason string // of a refusal, for the metrics
	ask    func(g *Guard, ctx context.Context, c *Call) (context.Context, func(), error)
}

// chain is the order of the guards behind the outermost, which records.
func chain() []pass {
	return []pass{
		{"drain", (*Guard).drain},
		{"limit", (*Guard).limit},
		{"secret", (*Guard).secret},
		{"schema", (*Guard).schema},
		{"access", (*Guard).access},
		{"idempotency", (*Guard).idempotency},
		{"lock", (*Guard).lock},
		{"timeout", (*Guard).timeout},
	}
}

// Do lets do happen if every guard allows it, and records the call, refused or
// not: exactly one span, one sample and one record. It returns do's result and the
// text that stands for it with secrets masked, or a fault that is fit for the client.
// A panic of do is INTERNAL.
func (g *Guard) Do(ctx context.Context, c *Call, do func(context.Context) (json.RawMessage, string, error)) (out json.RawMessage, text string, err error) {
	c.Start.Start = g.o.Now()
	c.Start.Arguments = c.Arguments
	ctx, c.Record = g.o.Telemetry.StartCall(ctx, c.Start)
	var undo []func()
	defer func() {
		stack := ""
		if p := recover(); p != nil {
			stack = fmt.Sprintf("panic: %v\n%s", p, debug.Stack())
			err = fault.New(fault.Internal, "internal error")
		}
		for i := len(undo) - 1; i >= 0; i-- {
			undo[i]()
		}
		out, text, err = g.end(c, out, text, err, stack)
	}()
	for _, p := range chain() {
		next, release, refused := p.ask(g, ctx, c)
		if next != nil {
			ctx = next
		}
		if release != nil {
			undo = append(undo, release)
		}
		if refused != nil {
			c.Record.Rejected(p.reason)
			return nil, "", refused
		}
	}
	c.Record.GuardDone(g.o.Now().Sub(c.Start.Start))
	out, text, err = do(ctx)
	if err != nil && context.Cause(ctx) != nil {
		err = interrupted(ctx, err)
	}
	return out, text, err
}

// Read lets do read something that is no tool's, such as a resource. Drain, limit and
// scope hold for it as for a call of a tool that reads, and a panic of do is INTERNAL;
// it is not recorded. An error is a fault that is fit for the client.
func (g *Guard) Read(who Caller, do func() error) (err error) {
	c := &Call{Tool: &specs.Tool{Name: "reading", Effect: specs.Read}, Caller: who}
	defer func() {
		if p := recover(); p != nil {
			err = fault.New(fault.Internal, "internal error").Because(fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
		}
		if err != nil {
			err = g.Present(err)
		}
	}()
	for _, ask := range []func(context.Context, *Call) (context.Context, func(), error){g.drain, g.limit, g.access} {
		_, release, refused := ask(context.Background(), c)
		if release != nil {
			defer release()
		}
		if refused != nil {
			return refused
		}
	}
	return do()
}

// interrupted prefers why the call was interrupted to what that led to, unless the
// tool had a fault of its own to tell.
func interrupted(ctx context.Context, err error) error {
	f := fault.From(err)
	if f.Code != fault.Internal && f.Code != fault.Cancelled && f.Code != fault.ToolTimeout {
		return err
	}
	return fault.From(context.Cause(ctx)).Because(err)
}

// end closes the record and makes the answer fit to leave.
func (g *Guard) end(c *Call, out json.RawMessage, text string, err error, stack string) (json.RawMessage, string, error) {
	e := telemetry.CallEnd{Outcome: telemetry.Success, Summary: text, ResultBytes: len(out), Detail: stack}
	if err == nil {
		c.Record.End(e)
		return g.o.Redactor.JSON(out), g.o.Redactor.String(text), nil
	}
	f := g.Present(err)
	e.Outcome, e.Code, e.Summary = telemetry.Failure, f.Code, f.Message
	switch f.Code {
	case fault.ToolTimeout:
		e.Outcome = telemetry.Timeout
	case fault.Cancelled:
		e.Outcome = telemetry.Cancelled
	}
	if cause := f.Unwrap(); cause != nil && e.Detail == "" {
		e.Detail = cause.Error()
	}
	e.RPCCode, e.ToolError = Style(c.Tool, f)
	c.Record.End(e)
	return nil, "", f
}

// Mask returns text with its secrets masked, for what leaves without being a call.
func (g *Guard) Mask(text string) string { return g.o.Redactor.String(text) }

// Present returns err as a fault that is fit for a client: with the registry's hint
// where it has none of its own, and with secrets masked.
func (g *Guard) Present(err error) *fault.Fault {
	f := fault.From(err)
	hint := f.Hint
	if info, ok := specs.Error(f.Code); ok && hint == "" {
		hint = info.Hint
	}
	clean := &fault.Fault{Code: f.Code, Message: g.o.Redactor.String(f.Message), Retryable: f.Retryable, Hint: g.o.Redactor.String(hint)}
	if f.Details != nil {
		if raw, err := json.Marshal(f.Details); err == nil {
			clean.Details = g.o.Redactor.JSON(raw)
		}
	}
	return clean.Because(f.Unwrap())
}

// The JSON-RPC codes of the error styles.
const (
	rpcNoTool   = -32601
	rpcInvalid  = -32602
	rpcInternal = -32603
)

// Protocol is the toolset of what is no tool and yet passes here, the methods of handles.
const Protocol = "protocol"

// Style says how a fault of a tool is sent: as a JSON-RPC error with a code, or as
// a tool result. Launch, tasks and [Protocol] use the former, the other toolsets the
// latter; an unknown tool is -32601 everywhere, and what a token may not do is an error
// everywhere. The numbers of the tasks toolset are in the registry of codes.
func Style(t *specs.Tool, f *fault.Fault) (rpcCode int, toolError bool) {
	switch {
	case t != nil && t.Toolset == Protocol && (f.Code == fault.RunNotFound || f.Code == fault.InvalidInput):
		return rpcInvalid, false
	case f.Code == fault.UnknownTool:
		return rpcNoTool, false
	case f.Code == fault.AuthInsufficientScope: // it is the transport that has a word for this
		return rpcInternal, false
	case t != nil && t.Toolset != "launch" && t.Toolset != "tasks" && t.Toolset != Protocol:
		return 0, true
	case f.Code == fault.SchemaValidationFailed:
		return rpcInvalid, false
	}
	if info, ok := specs.Error(f.Code); ok && info.RPCCode != 0 && t != nil && t.Toolset == "tasks" {
		return info.RPCCode, false
	}
	return rpcInternal, false
}
