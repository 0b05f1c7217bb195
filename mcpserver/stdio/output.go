package stdio

import "io"

// writeLines writes what is queued until the session has ended and all is
// written, or the output fails.
func (c *conn) writeLines() {
	for {
		it := c.nextLine()
		if it == nil {
			return
		}
		n, err := c.out.Write(it.line)
		if err == nil && n < len(it.line) {
			err = io.ErrShortWrite
		}
		if err != nil {
			c.broken(err)
			return
		}
		c.written(it)
	}
}

// nextLine waits for a line and takes it. It returns nil when there will be none.
func (c *conn) nextLine() *item {
	for {
		c.mu.Lock()
		it := c.outbox.pop()
		if it == nil && c.ended {
			c.finish(nil)
		}
		finished := c.finished
		c.mu.Unlock()
		if it != nil || finished {
			return it
		}
		<-c.toWrite
	}
}

// written makes room after a line: for the next call or for reading on.
func (c *conn) written(it *item) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if it.class == aResult {
		c.release()
	}
	c.toInput.raise()
}
