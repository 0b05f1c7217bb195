package mcpserver

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gantry-run/gantry/internal/fault"
)

// lastWord is how long a call that was told to stop has to answer for itself.
const lastWord = time.Second

// methodListen is the call that lasts until somebody ends it.
const methodListen = "subscriptions/listen"

// httpCalls is the calls under way on one path. The SDK hands a handler the headers of its
// request and none of its context; the number in [callHeader] leads from one to the other.
type httpCalls struct {
	mu   sync.Mutex
	last uint64
	open map[string]*httpCall
}

// httpCall is one of them.
type httpCall struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	answer *answer
	lasts  bool          // it is not waited for
	done   chan struct{} // closed when its request is over
}

// add registers a call. It returns the request to serve, and what to do at its end.
func (c *httpCalls) add(r *http.Request, a *answer) (*http.Request, func()) {
	ctx, cancel := context.WithCancelCause(r.Context())
	call := &httpCall{ctx: ctx, cancel: cancel, answer: a, lasts: a.message.Method == methodListen, done: make(chan struct{})}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	number := strconv.FormatUint(c.last, 10)
	if c.open == nil {
		c.open = map[string]*httpCall{}
	}
	c.open[number] = call
	r.Header.Set(callHeader, number)
	served, left := context.WithCancel(r.Context()) // what the SDK waits for the end of
	a.leave = left
	return r.WithContext(served), func() {
		left()
		cancel(context.Canceled)
		close(call.done)
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.open, number)
	}
}

// link is middleware that lets the end of a request be the end of what it asked for.
func (c *httpCalls) link(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		call := c.of(req)
		if call == nil {
			return next(ctx, method, req)
		}
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		defer context.AfterFunc(call.ctx, func() { cancel(context.Cause(call.ctx)) })()
		return next(ctx, method, req)
	}
}

// of returns the call that a request belongs to, or nil.
func (c *httpCalls) of(req mcp.Request) *httpCall {
	extra := req.GetExtra()
	if extra == nil || extra.Header == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.open[extra.Header.Get(callHeader)]
}

// settle waits for the calls under way until ctx ends, and then stops them.
func (c *httpCalls) settle(ctx context.Context) {
	c.mu.Lock()
	var wanted []*httpCall
	for _, call := range c.open {
		if !call.lasts {
			wanted = append(wanted, call)
		}
	}
	c.mu.Unlock()
	for _, call := range wanted {
		select {
		case <-call.done:
			continue
		case <-ctx.Done():
		}
		call.cancel(fault.Retry(fault.ShuttingDown, "the server is shutting down"))
	}
	last := time.NewTimer(lastWord)
	defer last.Stop()
	for _, call := range wanted {
		select {
		case <-call.done:
		case <-last.C:
			last.Reset(0) // for the others too
			call.answer.abandon()
		}
	}
}
