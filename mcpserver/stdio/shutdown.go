package stdio

import (
	"errors"
	"io"
	"os"
	"syscall"
	"time"
)

// inputEnded notes that no more lines come; err is the reader's, io.EOF for an
// ordinary end.
func (c *conn) inputEnded(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !goneAway(err) {
		c.logger.Error("reading the input failed", "error", err)
		c.err = err
	}
	c.eof = true
	c.stopWithin(c.eofGrace)
}

// beginDrain refuses the calls that wait, and from now on all new ones.
func (c *conn) beginDrain() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.draining {
		return
	}
	c.draining = true
	for _, waiting := range c.calls.unsettled() {
		if !waiting.sdk.IsValid() {
			c.shut(waiting)
		}
	}
	c.stopWithin(c.drainGrace)
}

// stopWithin sets the time by which the session ends, if no earlier one is set;
// it ends before when no call is open. The lock is held.
func (c *conn) stopWithin(grace time.Duration) {
	if c.ended {
		return
	}
	for _, open := range c.calls.unsettled() {
		if open.method == methodListen && open.sdk.IsValid() {
			c.give(cancellation(open)) // it would run for ever; its answer ends the subscription
		}
	}
	if at := time.Now().Add(grace); c.timer == nil || at.Before(c.deadline) {
		if c.timer != nil {
			c.timer.Stop()
		}
		c.deadline = at
		c.timer = time.AfterFunc(grace, c.expire)
	}
	c.endIfIdle()
}

// expire is the end of the grace.
func (c *conn) expire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.end()
}

// endIfIdle ends a session that is to stop and has no open call. The lock is held.
func (c *conn) endIfIdle() {
	if (c.eof || c.draining) && len(c.calls.open) == 0 {
		c.end()
	}
}

// end answers every open call, lets Read return io.EOF, and leaves the writer
// flushGrace for what is queued. The lock is held.
func (c *conn) end() {
	if c.ended {
		return
	}
	for _, open := range c.calls.unsettled() {
		c.logger.Warn("call cut off by the shutdown", "method", open.method, "request_id", string(open.id.text))
		c.shut(open)
	}
	c.ended, c.inbox = true, nil
	if c.timer != nil {
		c.timer.Stop()
	}
	if !c.begun {
		c.finish(nil)
		return
	}
	c.timer = time.AfterFunc(c.flushGrace, c.giveUp)
	c.toRead.raise()
	c.toWrite.raise()
	c.toInput.raise()
}

// shut answers an open call with Refuse. The lock is held.
func (c *conn) shut(open *call) {
	c.calls.settle(open)
	c.refuseWith(open.id.text, c.refuse(open.method))
}

// giveUp is the end of the time to write the last lines.
func (c *conn) giveUp() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.finish(ErrUnread)
}

// broken ends the session because the output cannot be written.
func (c *conn) broken(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if goneAway(err) {
		c.logger.Info("the client closed the output")
		err = nil
	} else {
		c.logger.Error("writing the output failed", "error", err)
	}
	c.end()
	c.finish(err)
}

// finish closes done with the first error. The lock is held.
func (c *conn) finish(err error) {
	if c.finished {
		return
	}
	c.finished, c.outbox = true, outbox{}
	if c.err == nil {
		c.err = err
	}
	if c.timer != nil {
		c.timer.Stop()
	}
	close(c.done)
}

// result returns why the session ended; done is closed.
func (c *conn) result() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// goneAway reports whether err says that the client closed its end.
func goneAway(err error) bool {
	for _, gone := range []error{io.EOF, io.ErrClosedPipe, os.ErrClosed, syscall.EPIPE} {
		if errors.Is(err, gone) {
			return true
		}
	}
	return false
}
