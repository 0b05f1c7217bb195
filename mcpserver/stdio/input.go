package stdio

import (
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// readLines reads and handles lines to the end of the input or of the session.
func (c *conn) readLines() {
	in := newLines(c.in, c.maxLine)
	for c.awaitRoom() {
		line, err := in.next()
		switch {
		case errors.Is(err, errTooLong):
			c.invalid(&refusal{null, jsonrpc.CodeInvalidRequest, fmt.Sprintf("invalid request: a line is longer than %d bytes", c.maxLine)})
		case err != nil:
			c.inputEnded(err)
			return
		case len(line) > 0:
			c.handle(line)
		}
	}
}

// awaitRoom blocks until another line may be read, and reports false when the
// session is over.
func (c *conn) awaitRoom() bool {
	for {
		c.mu.Lock()
		ended := c.ended
		room := len(c.inbox) < maxInbox && c.outbox.count[aRefusal] < maxRefusals && !c.calls.full(c.maxLine)
		c.mu.Unlock()
		if ended || room {
			return !ended
		}
		<-c.toInput
	}
}

// handle does what one line asks for.
func (c *conn) handle(line []byte) {
	m, refused := decode(line, c.depth)
	if refused != nil {
		c.invalid(refused)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return
	}
	switch m.kind {
	case aCall:
		c.accept(m)
	case aNotification:
		if m.method == methodCancelled {
			c.cancel(m)
		} else {
			c.give(&jsonrpc.Request{Method: m.method, Params: m.params})
		}
	case anAnswer:
		if m.id.sdk.IsValid() {
			c.give(answerTo(m))
		}
	case nothing:
		c.logger.Debug("malformed answer of the client dropped")
	}
}

// answerTo is the client's answer as the SDK knows it.
func answerTo(m message) *jsonrpc.Response {
	res := &jsonrpc.Response{ID: m.id.sdk, Result: m.result}
	if m.failed != nil { // no typed nil in an error
		res.Error = m.failed
	}
	return res
}

// invalid answers a line that is no message.
func (c *conn) invalid(r *refusal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return
	}
	c.logger.Debug("line refused", "code", r.code, "reason", r.text)
	c.refuseWith(r.id, &jsonrpc.Error{Code: r.code, Message: r.text})
}

// accept opens a call. The lock is held.
func (c *conn) accept(m message) {
	if c.draining {
		c.refuseWith(m.id.text, c.refuse(m.method))
		return
	}
	if c.calls.accept(m) == nil {
		c.refuseWith(null, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest,
			Message: fmt.Sprintf("invalid request: id %s belongs to a call that is not answered yet; the second call was not executed", clip(string(m.id.text), maxEcho))})
		return
	}
	c.startCalls()
}

// cancel takes an open call out of the books and tells the SDK, if it knows the
// call. What names no open call is late or malformed and is ignored, and so is
// the cancellation of initialize, which the protocol forbids. The lock is held.
func (c *conn) cancel(m message) {
	id, ok := cancelledID(m.params)
	if !ok {
		c.logger.Debug("malformed cancellation ignored")
		return
	}
	open := c.calls.open[id.key]
	if open == nil || open.method == methodInitialize {
		return
	}
	c.calls.settle(open)
	if open.sdk.IsValid() {
		c.give(cancellation(open))
	}
	c.endIfIdle()
}
