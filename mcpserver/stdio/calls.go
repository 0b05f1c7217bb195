package stdio

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

const (
	methodInitialize = "initialize"
	methodListen     = "subscriptions/listen" // runs until it is cancelled
	methodCancelled  = "notifications/cancelled"
	methodProgress   = "notifications/progress"
)

// call is one accepted call.
type call struct {
	message
	serial  int        // the order of acceptance
	sdk     jsonrpc.ID // what the SDK knows it by, once it runs
	settled bool       // answered or cancelled: nothing more is sent for it
}

// calls is the table of calls. It only keeps the books, under the lock of its conn.
type calls struct {
	limit int // how many run at once, and how many wait

	open    map[string]*call     // by the client's id: neither answered nor cancelled
	running map[jsonrpc.ID]*call // by the SDK's id: its handler has not returned
	waiting []*call              // open ones that have no place yet, in order
	bytes   int                  // of the params of those
	taken   int                  // places

	accepted, substitutes int
}

func newCalls(limit int) calls {
	return calls{limit: limit, open: map[string]*call{}, running: map[jsonrpc.ID]*call{}}
}

// accept opens a call, or returns nil if its id is in use. The call waits for start.
func (t *calls) accept(m message) *call {
	if t.open[m.id.key] != nil {
		return nil
	}
	t.accepted++
	c := &call{message: m, serial: t.accepted}
	t.open[m.id.key] = c
	t.waiting = append(t.waiting, c)
	t.bytes += len(m.params)
	return c
}

// next gives the first waiting call a place and an id for the SDK, or returns nil.
func (t *calls) next() *call {
	if len(t.waiting) == 0 || t.taken >= t.limit {
		return nil
	}
	c := t.waiting[0]
	t.unwait(c)
	t.taken++
	c.sdk = c.id.sdk
	for !c.sdk.IsValid() || t.running[c.sdk] != nil {
		t.substitutes++
		c.sdk, _ = jsonrpc.MakeID(fmt.Sprintf("gantry-%d", t.substitutes))
	}
	t.running[c.sdk] = c
	return c
}

// substituted reports whether the SDK knows the call by another id than the client.
func (c *call) substituted() bool { return c.sdk != c.id.sdk }

// unwait removes a call from those that wait.
func (t *calls) unwait(c *call) {
	if i := slices.Index(t.waiting, c); i >= 0 {
		t.waiting = slices.Delete(t.waiting, i, i+1)
		t.bytes -= len(c.params)
	}
}

// settle closes a call: nothing will be sent for it after what its caller sends.
func (t *calls) settle(c *call) {
	c.settled = true
	delete(t.open, c.id.key)
	t.unwait(c)
}

// unsettled returns the open calls in the order of their acceptance.
func (t *calls) unsettled() []*call {
	var all []*call
	for _, c := range t.open {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b *call) int { return a.serial - b.serial })
	return all
}

// full reports whether no more calls may wait: there are as many as may run, or
// their params take maxBytes.
func (t *calls) full(maxBytes int) bool { return len(t.waiting) >= t.limit || t.bytes >= maxBytes }

// cancelledID returns the id that a notifications/cancelled names.
func cancelledID(params json.RawMessage) (requestID, bool) {
	return parseID(member(params, "requestId"))
}

// cancellation is the notification that cancels a call in the SDK.
func cancellation(c *call) *jsonrpc.Request {
	id, _ := json.Marshal(c.sdk.Raw())
	return &jsonrpc.Request{Method: methodCancelled, Params: json.RawMessage(`{"requestId":` + string(id) + `}`)}
}
