package stdio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxInbox is how many messages wait for the SDK before reading stops.
const maxInbox = 64

// conn is the session: the books of calls and lines under one lock, which is
// never held while something is read or written, and the goroutines that read
// (input.go) and write (output.go).
type conn struct {
	settings

	mu     sync.Mutex
	calls  calls
	inbox  []jsonrpc.Message // for Read
	outbox outbox

	begun    bool // the goroutines run
	eof      bool // the input is over
	draining bool
	ended    bool // nothing more is taken in; what is queued is still written
	finished bool // done is closed
	err      error

	deadline time.Time   // when end comes at the latest, once eof or draining
	timer    *time.Timer // for deadline, then for the flush

	toRead, toWrite, toInput signal
	done                     chan struct{}
}

// signal wakes one goroutine that waits for a change of the books.
type signal chan struct{}

func (s signal) raise() {
	select {
	case s <- struct{}{}:
	default:
	}
}

func newConn(s settings) *conn {
	if s.refuse == nil {
		s.refuse = shuttingDown
	}
	if s.logger == nil {
		s.logger = slog.New(slog.DiscardHandler)
	}
	return &conn{
		settings: s, calls: newCalls(s.maxInFlight),
		toRead: make(signal, 1), toWrite: make(signal, 1), toInput: make(signal, 1), done: make(chan struct{}),
	}
}

// start starts the goroutines.
func (c *conn) start() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.begun {
		return errors.New("stdio: a transport connects once")
	}
	c.begun = true
	go c.readLines()
	go c.writeLines()
	return nil
}

// SessionID implements [mcp.Connection]; standard input and output have one session, without an id.
func (c *conn) SessionID() string { return "" }

// Read implements [mcp.Connection]. It returns io.EOF once every accepted call is answered.
func (c *conn) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		if msg, err := c.take(); msg != nil || err != nil {
			return msg, err
		}
		select {
		case <-c.toRead:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// take returns the next message for the SDK, nil if there is none yet.
func (c *conn) take() (jsonrpc.Message, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return nil, io.EOF
	}
	if len(c.inbox) == 0 {
		return nil, nil
	}
	msg := c.inbox[0]
	c.inbox[0] = nil
	c.inbox = c.inbox[1:]
	c.toInput.raise()
	return msg, nil
}

// give queues a message for the SDK. The lock is held.
func (c *conn) give(msg jsonrpc.Message) {
	if r, ok := msg.(*jsonrpc.Request); ok && r.Extra == nil {
		r.Extra = &mcp.RequestExtra{Header: http.Header{TransportHeader: {TransportName}}}
	}
	c.inbox = append(c.inbox, msg)
	c.toRead.raise()
}

// startCalls starts waiting calls while there are places. The lock is held.
func (c *conn) startCalls() {
	for !c.ended {
		next := c.calls.next()
		if next == nil {
			break
		}
		if next.method == methodListen && next.substituted() {
			// Its notifications name the id that the SDK knows, which is not the client's.
			delete(c.calls.running, next.sdk)
			c.calls.taken--
			c.calls.settle(next)
			c.refuseWith(next.id.text, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest,
				Message: "invalid request: a subscription needs an id that is new and within 53 bits"})
			c.endIfIdle()
			continue
		}
		c.give(&jsonrpc.Request{ID: next.sdk, Method: next.method, Params: next.params, Extra: &mcp.RequestExtra{
			Header: http.Header{RequestIDHeader: {string(next.id.text)}, TransportHeader: {TransportName}},
		}})
	}
	c.toInput.raise()
}

// Write implements [mcp.Connection]. It queues the message and never waits for
// the client: answers always have room, anything else is rejected when too much
// of it is queued. Answers that nobody waits for are dropped.
func (c *conn) Write(_ context.Context, msg jsonrpc.Message) error {
	if res, ok := msg.(*jsonrpc.Response); ok {
		c.answer(res)
		return nil
	}
	line, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return rejected(err.Error())
	}
	it := &item{line: append(line, '\n'), class: aNotice}
	if req, ok := msg.(*jsonrpc.Request); ok && req.Method == methodProgress {
		it.token = string(member(req.Params, "progressToken"))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended || !c.outbox.push(it) {
		return rejected("the message was not sent: the client does not read, or the session is over")
	}
	c.toWrite.raise()
	return nil
}

// answer queues the answer of a call, if its client still waits for it.
func (c *conn) answer(res *jsonrpc.Response) {
	c.mu.Lock()
	call := c.calls.running[res.ID]
	c.mu.Unlock()
	if call == nil {
		c.logger.Error("answer to no call dropped", "id", fmt.Sprint(res.ID.Raw()))
		return
	}
	var failed *jsonrpc.Error
	if res.Error != nil {
		known := false
		if failed, known = wireError(call.method, res.Error); !known {
			c.logger.Error("internal error", "method", call.method, "request_id", string(call.id.text), "error", res.Error)
		}
	}
	line := encodeAnswer(call.id.text, res.Result, failed)

	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.calls.running, res.ID)
	if call.settled {
		c.release()
		return
	}
	c.calls.settle(call)
	c.outbox.push(&item{line: line, class: aResult})
	c.toWrite.raise()
	c.endIfIdle()
}

// release frees a place for the next call. The lock is held.
func (c *conn) release() {
	c.calls.taken--
	c.startCalls()
}

// refuseWith queues an answer that the transport makes itself. The lock is held.
func (c *conn) refuseWith(id []byte, failed *jsonrpc.Error) {
	c.outbox.push(&item{line: encodeAnswer(id, nil, failed), class: aRefusal})
	c.toWrite.raise()
}

// Close implements [mcp.Connection]. It ends the session at once; calls that are
// still open are answered with Refuse.
func (c *conn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.end()
	return nil
}
