package stdio

// Caps of what is queued for the client besides the answers, which MaxInFlight bounds.
const (
	maxRefusals = 64  // then reading stops
	maxNotices  = 256 // then notifications and the server's own calls are rejected
)

// class says which bound holds for a line.
type class int

const (
	aResult  class = iota // the answer of a call that has a place
	aRefusal              // an answer by the transport
	aNotice               // a notification or a call of the server
)

// item is one line to write, with its newline.
type item struct {
	line  []byte
	class class
	token string // of a progress notification; else empty
}

// outbox is the queue of lines to write. It only keeps the books, under the lock
// of its conn.
type outbox struct {
	queue   []*item
	byToken map[string]*item // queued progress notifications
	count   [aNotice + 1]int // queued lines of each class
}

// push queues a line, or puts it in the place of a queued progress notification
// with the same token. It reports false if there is no room for it.
func (o *outbox) push(it *item) bool {
	if old := o.byToken[it.token]; it.token != "" && old != nil {
		old.line = it.line
		return true
	}
	if it.class == aNotice && o.count[aNotice] >= maxNotices {
		return false
	}
	if it.token != "" {
		if o.byToken == nil {
			o.byToken = map[string]*item{}
		}
		o.byToken[it.token] = it
	}
	o.queue = append(o.queue, it)
	o.count[it.class]++
	return true
}

// pop takes the oldest line, or returns nil.
func (o *outbox) pop() *item {
	if len(o.queue) == 0 {
		return nil
	}
	it := o.queue[0]
	o.queue[0] = nil
	o.queue = o.queue[1:]
	o.count[it.class]--
	if it.token != "" {
		delete(o.byToken, it.token)
	}
	return it
}
