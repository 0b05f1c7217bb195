package guard

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/specs"
	"github.com/gantry-run/gantry/validate"
)

// drain refuses calls while the server is shutting down.
func (g *Guard) drain(context.Context, *Call) (context.Context, func(), error) {
	if g.draining.Load() {
		return nil, nil, fault.Retry(fault.ShuttingDown, "the server is shutting down")
	}
	return nil, nil, nil
}

// limit counts the call, also one that is refused further on.
func (g *Guard) limit(_ context.Context, c *Call) (context.Context, func(), error) {
	if g.o.PerMinute > 0 {
		if wait := g.buckets.take(c.Caller.key(), g.o.Now()); wait > 0 {
			return nil, nil, fault.Retry(fault.RateLimited, "more than %d calls a minute", g.o.PerMinute).
				WithDetails(map[string]int64{"retry_after_ms": int64((wait + time.Millisecond - 1) / time.Millisecond)})
		}
	}
	release := func() { g.inFlight.Add(-1) }
	if n := g.inFlight.Add(1); g.o.MaxInFlight > 0 && n > int64(g.o.MaxInFlight) {
		return nil, release, fault.Retry(fault.ServerBusy, "%d calls are under way already", g.o.MaxInFlight)
	}
	return nil, release, nil
}

// secret refuses callers that the server does not know.
func (g *Guard) secret(_ context.Context, c *Call) (context.Context, func(), error) {
	if c.Unknown {
		return nil, nil, fault.New(fault.Unauthorized, "the call does not carry the secret that this server wants")
	}
	return nil, nil, nil
}

// schema checks that there is such a tool and that the arguments fit it. Missing
// arguments are an empty object.
func (g *Guard) schema(_ context.Context, c *Call) (context.Context, func(), error) {
	if c.Tool == nil {
		return nil, nil, fault.New(fault.UnknownTool, "there is no tool %.80q", c.Start.Tool)
	}
	if c.Arguments == nil {
		c.Arguments = json.RawMessage("{}")
	}
	if err := validate.Strict(c.Arguments, validate.Limits{}); err != nil {
		return nil, nil, fault.New(fault.SchemaValidationFailed, "invalid arguments for %s: %s", c.Tool.Name, err).
			WithDetails([]validate.Problem{{Path: "", Keyword: "format", Message: err.Error()}})
	}
	s, err := g.schemas.Input(*c.Tool)
	if err != nil {
		return nil, nil, err
	}
	problems, err := s.Check(c.Arguments)
	if err != nil {
		return nil, nil, err
	}
	if len(problems) > 0 {
		return nil, nil, validate.Fault(c.Tool.Name, problems)
	}
	var named struct {
		RunID runs.ID `json:"run_id"`
	}
	if json.Unmarshal(c.Arguments, &named) == nil {
		c.Run = named.RunID
		c.Record.SetRun(string(named.RunID))
	}
	return nil, nil, nil
}

// access compares the tool's effect with the caller's scopes.
func (g *Guard) access(_ context.Context, c *Call) (context.Context, func(), error) {
	need := ScopeRun
	if c.Tool.Effect == specs.Read {
		need = ScopeRead
	}
	if c.Caller.Scopes != nil && !slices.Contains(c.Caller.Scopes, need) {
		return nil, nil, fault.New(fault.AuthInsufficientScope, "%s needs a token with the scope %s", c.Tool.Name, need).
			WithDetails(map[string]Scope{"scope": need})
	}
	return nil, nil, nil
}

// idempotency takes the key, which the tool never sees, and the hash of the
// effective request.
func (g *Guard) idempotency(_ context.Context, c *Call) (context.Context, func(), error) {
	if len(c.Tool.Idempotency) == 0 {
		return nil, nil, nil
	}
	key, rest, err := request(c)
	if err != nil {
		return nil, nil, err
	}
	c.Arguments = rest
	if key == "" {
		return nil, nil, nil
	}
	sum := sha256.Sum256(append([]byte(capability(c.Tool)+"\x00"), rest...))
	c.Once = &runs.Once{Key: key, Hash: hex.EncodeToString(sum[:])}
	mine := c.Caller.Token + "\x00" + capability(c.Tool) + "\x00" + key
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.keys[mine] {
		return nil, nil, fault.Retry(fault.IdempotencyInProgress, "a call with this idempotency key is under way")
	}
	g.keys[mine] = true
	return nil, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.keys, mine)
	}, nil
}

// capability is the tool's own name, or that of the tool whose other name it is.
func capability(t *specs.Tool) string {
	if t.SameAs != "" {
		return t.SameAs
	}
	return t.Name
}

// request splits the arguments into the idempotency key, "" when none is given, and
// all else in its canonical form: members are sorted, so their order and spacing do
// not count.
func request(c *Call) (key string, rest json.RawMessage, err error) {
	dec := json.NewDecoder(bytes.NewReader(c.Arguments))
	dec.UseNumber()
	var args map[string]any
	if err := dec.Decode(&args); err != nil {
		return "", nil, err
	}
	for _, name := range c.Tool.Idempotency {
		given, _ := args[name].(string)
		delete(args, name)
		if given == "" || given == key {
			continue
		}
		if key != "" {
			return "", nil, fault.New(fault.InvalidInput, "%s are names of one key and differ", strings.Join(c.Tool.Idempotency, " and "))
		}
		if err := validate.Key(given); err != nil {
			return "", nil, err
		}
		key = given
	}
	rest, err = json.Marshal(args)
	return key, rest, err
}

// lock takes the call lock of the run that a mutating tool names.
func (g *Guard) lock(ctx context.Context, c *Call) (context.Context, func(), error) {
	if c.Tool.Lock == "" || c.Run == "" {
		return nil, nil, nil
	}
	release, err := g.o.Locks.LockCall(ctx, c.Run, g.o.LockWait)
	return nil, release, err
}

// timeout bounds the call. The run that it works on goes on.
func (g *Guard) timeout(ctx context.Context, c *Call) (context.Context, func(), error) {
	late := fault.Retry(fault.ToolTimeout, "%s did not finish within %s; the run goes on", c.Tool.Name, c.Tool.Timeout())
	ctx, cancel := context.WithTimeoutCause(ctx, c.Tool.Timeout(), late)
	return ctx, cancel, nil
}
